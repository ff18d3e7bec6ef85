import { createRequire } from "node:module";
import type { SyntaxProblem } from "../../file/read/problem.js";

let re2: typeof import("re2js") | undefined;

/** The most states that a compiled pattern may have: matching tries each of them for every character at worst. */
const MAX_SIZE = 10_000;
/** The most states that the estimate may come to. Larger patterns are refused before they are compiled. */
const MAX_ESTIMATED_SIZE = 100_000;
/** The engine refuses nested counts whose product is larger than this. */
const MAX_NESTED_COUNT = 1_000;

interface CompiledPattern {
  (text: string): boolean;
  /** Number of states; the time for one character grows with it at worst. */
  readonly size: number;
}

/**
 * Compiles a regular expression to an unanchored test. Node's own engine can hang on a hostile pattern. RE2's time
 * grows only with the text and with the size of the pattern (with its counts written out); in return it has no back
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

/** An upper bound of the compiled size. Compiling to find the real one takes seconds for `(long){1000}`. */
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
