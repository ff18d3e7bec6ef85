import { type RefObject, useEffect, useState } from "react";
import type { Survey, SurveyEdge } from "./check.js";
import { edgeAtLine } from "./graph-model.js";
import type { TextView } from "./text-view.js";

/** Which edge is chosen: in the picture, or by the lines that the cursor is in. */
export function useChosen(graph: Survey | null, view: RefObject<TextView | null>) {
  const [id, setId] = useState<string | null>(null);
  /** The number of a transition that has just been added: the picture does not have it yet. */
  const [awaited, setAwaited] = useState<number | null>(null);
  const edges = graph?.edges ?? [];
  const edge: SurveyEdge | null = edges.find((each) => each.id === id) ?? null;
  useEffect(() => {
    const added = awaited === null ? undefined : edges.find(({ transition }) => transition === awaited);
    if (added === undefined) return;
    setAwaited(null);
    setId(added.id);
    if (added.lines !== null) view.current?.bringIntoView(added.lines.first);
  }, [edges, awaited, view]);
  return {
    edge,
    choose: (next: string) => {
      setId(next);
      const lines = edges.find((each) => each.id === next)?.lines;
      if (lines != null) view.current?.bringIntoView(lines.first);
    },
    chooseLine: (line: number) => {
      const found = graph === null ? null : edgeAtLine(graph, line);
      if (found !== null) setId(found.id);
    },
    awaitNext: () => setAwaited(Math.max(0, ...edges.map(({ transition }) => transition ?? 0)) + 1),
    drop: () => setId(null),
  };
}
