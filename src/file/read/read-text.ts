import { deepFreeze } from "./freeze.js";
import { type Finding, Findings, type Problem } from "./problem.js";
import { readSource } from "./source-document.js";
import type { SourceNode } from "./source-tree.js";

export type TextRead<T> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * YAML, JSON or JSON5 text into what `read` makes of its tree, or every problem in it at once, sorted by place. `read` answers
 * null, or leaves errors among the findings, where it cannot.
 */
export function readText<T>(
  source: string,
  file: string,
  read: (root: SourceNode, findings: Findings) => T | null,
): TextRead<T> {
  const findings = new Findings();
  const { root, text } = readSource(source, file, findings);
  const toProblems = (found: readonly Finding[]) =>
    found.map((finding) => text.toProblem(finding, file)).sort(byPlace);
  const value = root === null ? null : read(root, findings);
  if (value === null || findings.errors.length > 0)
    return deepFreeze({ ok: false, problems: toProblems(findings.errors) });
  return deepFreeze({ ok: true, value, warnings: toProblems(findings.warnings) });
}

function byPlace(first: Problem, second: Problem): number {
  return first.line - second.line || first.column - second.column;
}
