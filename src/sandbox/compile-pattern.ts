import { createRequire } from "node:module";
import type { SyntaxProblem } from "../definition/read/problem.js";

let re2: typeof import("re2js") | undefined;

/**
 * A regular expression as a test of texts, unanchored. Node's own engine may take for ever on a hostile pattern; this one
 * takes time in proportion to the text, for which it has no back references and no lookaround.
 */
export function compilePattern(pattern: string): ((text: string) => boolean) | SyntaxProblem {
  re2 ??= createRequire(import.meta.url)("re2js") as typeof import("re2js");
  try {
    const compiled = re2.RE2JS.compile(pattern);
    return (text) => compiled.matcher(text).find();
  } catch (error) {
    return { message: (error as Error).message.replace(/^error parsing regexp: /, "") };
  }
}
