import { type RefObject, useEffect, useState } from "react";
import type { Survey, SurveyEdge } from "./check.js";
import { edgeAtLine } from "./graph-model.js";
import type { TextView } from "./text-view.js";

/** The selected edge: chosen in the graph, or by the lines that contain the cursor. */
export function useChosen(graph: Survey | null, view: RefObject<TextView | null>) {
  const [id, setId] = useState<string | null>(null);
  /** The number of a transition that was just added and is not in the graph yet. */
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
