import { createRequire } from "node:module";
import type { SyntaxProblem } from "../definition/read/problem.js";

let re2: typeof import("re2js") | undefined;

/** So many states are tried for each character at worst. */
const MAX_SIZE = 10_000;
/** So many are made at most before their number is known. */
const MAX_ESTIMATED_SIZE = 100_000;
/** What the engine allows for counts within one another. */
const MAX_NESTED_COUNT = 1_000;

interface CompiledPattern {
  (text: string): boolean;
  /** The time that a character takes at worst grows with it. */
  readonly size: number;
}

/**
 * A regular expression as a test of texts, unanchored. Node's own engine may take for ever on a hostile pattern; this one
 * takes time in proportion to the text and to the size of the pattern with its counts written out, for which it has no back
 * references and no lookaround.
 */
export function compilePattern(pattern: string): CompiledPattern | SyntaxProblem {
  if (estimatedSize(pattern) > MAX_ESTIMATED_SIZE) return TOO_LARGE;
  re2 ??= createRequire(import.meta.url)("re2js") as typeof import("re2js");
  try {
    const compiled = re2.RE2JS.compile(pattern);
    const size = compiled.programSize();
    if (size > MAX_SIZE) return TOO_LARGE;
    return Object.assign((text: string) => compiled.matcher(text).find(), { size });
  } catch (error) {
    return { message: (error as Error).message.replace(/^error parsing regexp: /, "") };
  }
}

const TOO_LARGE: SyntaxProblem = { message: "it is too large: use fewer or smaller counts such as {1,100}" };

/** Never less than it is: to find that out takes seconds for `(long){1000}`. */
function estimatedSize(pattern: string): number {
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least, most]) =>
    Math.max(1, Number(most === undefined || most === "" ? least : most)),
  );
  if (!pattern.includes("){")) return counts.reduce((sum, count) => sum + count, pattern.length);
  return (
    pattern.length *
    Math.min(
      MAX_NESTED_COUNT,
      counts.reduce((product, count) => product * count, 1),
    )
  );
}
