import { deepFreeze } from "./freeze.js";
import { readJson5 } from "./json5-tree.js";
import { ROOT } from "./path.js";
import { type Finding, Findings, type Problem } from "./problem.js";
import { SourceText } from "./source-text.js";
import type { SourceNode } from "./source-tree.js";
import { readYaml, type SourceDocument } from "./yaml-tree.js";

export const MAX_FILE_CHARS = 32 * 1024 * 1024;
const BYTE_ORDER_MARK = "\uFEFF";

/** A workflow file into a tree with places; the ending of its name says how it is written. */
export function readSource(given: string, file: string, findings: Findings): SourceDocument {
  const source = given.startsWith(BYTE_ORDER_MARK) ? given.slice(1) : given;
  const refuse = (message: string, hint: string): SourceDocument => {
    findings.error({ code: "INVALID_VALUE", message, hint, at: 0, path: ROOT });
    return { text: new SourceText("", [0]), root: null };
  };
  if (source.length > MAX_FILE_CHARS)
    return refuse(
      `the file has ${source.length} characters, more than the ${MAX_FILE_CHARS} allowed`,
      "Split the workflow into smaller ones.",
    );
  if (file.endsWith(".kdl"))
    return refuse(
      "Daruma does not read KDL",
      "Write the same keys as YAML, JSON or JSON5: each node becomes a key, repeated nodes such as `job` become a list.",
    );
  if (file.endsWith(".json") && hasComments(source))
    return refuse("JSON has no comments", "Remove the comments, or name the file `.json5`: JSON5 has them.");
  return file.endsWith(".json5") ? readJson5(source, findings) : readYaml(source, findings);
}

/** Finds a comment where a value or key may begin. A JSON text never continues on the next line. */
const COMMENT = /^\s*(?:\/\/|\/\*)|[,{[]\s*(?:\/\/|\/\*)/m;

/** What reads as JSON has none, whatever its texts look like. */
function hasComments(source: string): boolean {
  if (!COMMENT.test(source)) return false;
  try {
    JSON.parse(source);
    return false;
  } catch {
    return true;
  }
}

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
