import { type RefObject, useEffect, useState } from "react";
import { api, dataOf, Problem } from "../api/client.js";
import type { Survey, SurveyEdge } from "./check.js";
import { edgeAtLine } from "./graph-model.js";
import type { EdgeKeys } from "./Inspector.js";
import type { TextView } from "./text-view.js";

type Edit = {
  readonly action: "add" | "change" | "remove";
  readonly kind?: "depends_on";
  readonly transition?: number;
} & EdgeKeys;

/** Edits edges by changing the text. The server computes the change, which can be undone like typing. */
export function useEdges(name: string, view: RefObject<TextView | null>) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const edit = async (wanted: Edit): Promise<boolean> => {
    const made = view.current;
    if (made === null) return false;
    const source = made.text;
    try {
      const body = { ...wanted, source, file_name: `${name}.yaml` };
      const { edit: change } = await dataOf(api.POST("/api/v1/workflows/edit", { body }));
      // Typing meanwhile has moved the positions, so the edit is computed again.
      if (made.text !== source) return edit(wanted);
      made.change(change.from, change.to, change.text);
      setProblem(null);
      return true;
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem({ status: 0, title: String(error) }));
      return false;
    }
  };
  return {
    problem,
    add: (keys: EdgeKeys) => edit({ action: "add", ...keys }),
    change: ({ transition }: SurveyEdge, keys: EdgeKeys) =>
      edit({ action: "change", transition: transition!, ...keys }),
    remove: ({ transition }: SurveyEdge) => edit({ action: "remove", transition: transition! }),
    depend: (from: string, to: string) => edit({ action: "add", kind: "depends_on", from, to }),
    release: (from: string, to: string) => edit({ action: "remove", kind: "depends_on", from, to }),
  };
}

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
