import type { Drawing } from "../run/run-data.js";

/** A line of the file with its number. Null stands for omitted lines. */
interface FileLine {
  readonly number: number | null;
  readonly text: string;
}

type Drawn = {
  readonly nodes: readonly Pick<Drawing["nodes"][number], "name" | "step" | "lines">[];
  readonly edges: readonly Pick<Drawing["edges"][number], "from" | "to" | "kind" | "lines">[];
};

/** The lines of a file that define a step: its own, and those of transitions from and to it. */
export function linesOfStep(text: string, { nodes, edges }: Drawn, step: string): FileLine[] {
  const node = nodes.find((each) => each.step === step);
  if (node?.lines == null) return [];
  const wanted = new Set<number>();
  const want = (lines: { readonly first: number; readonly last: number } | null): void => {
    for (let line = lines?.first ?? 1; line <= (lines?.last ?? 0); line += 1) wanted.add(line);
  };
  want(node.lines);
  for (const { from, to, kind, lines } of edges)
    if (kind.startsWith("transition") && (from === node.name || to === node.name)) want(lines);
  const all = text.split(/\r?\n/);
  const shown: FileLine[] = [];
  for (const number of [...wanted].sort((a, b) => a - b)) {
    const last = shown.at(-1)?.number;
    if (last != null && number > last + 1) shown.push({ number: null, text: "…" });
    shown.push({ number, text: all[number - 1] ?? "" });
  }
  return shown;
}

const BEGIN = /^<<<BEGIN ([0-9a-f]{16})>>>$/;

/** The lines of a prompt that are data: those between two fences with the same number, and the fences themselves. */
export function fencedLines(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  let fence: string | null = null;
  for (const [place, line] of text.split("\n").entries()) {
    fence ??= BEGIN.exec(line)?.[1] ?? null;
    if (fence === null) continue;
    found.add(place);
    if (line === `<<<END ${fence}>>>`) fence = null;
  }
  return found;
}
