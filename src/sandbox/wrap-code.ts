import { compileFunction } from "node:vm";
import type { SyntaxProblem } from "../definition/problem.js";

type WrappedCode =
  | { readonly ok: true; readonly source: string }
  | { readonly ok: false; readonly problem: SyntaxProblem };

const FILE_NAME = "expression";

/**
 * Turns user code into the source of one function: `return (code)` when it is an expression, else the code as its body.
 * V8 compiles it as the body of a function and nothing here calls the result, so `}); evil(); (function () {` is a
 * syntax error, never a way out. An expression must compile in brackets of both kinds: `1); evil(); (2` closes only one.
 */
export function wrapCode(code: string): WrappedCode {
  const isExpression = compile(`return (\n${code}\n)`) === null && compile(`return [\n${code}\n]`) === null;
  if (isExpression) return { ok: true, source: asFunction(`return (\n${code}\n)`) };
  const problem = compile(`\n${code}`);
  return problem === null ? { ok: true, source: asFunction(`\n${code}`) } : { ok: false, problem };
}

function asFunction(body: string): string {
  return `(function () { "use strict"; ${body}\n})`;
}

/** Compiles without running. The code begins on the second line of `body`. */
function compile(body: string): SyntaxProblem | null {
  try {
    compileFunction(`"use strict"; ${body}`, [], { filename: FILE_NAME, lineOffset: -1 });
    return null;
  } catch (error) {
    return error instanceof Error ? describeProblem(error) : { message: String(error) };
  }
}

/** V8 tells the place only in the stack: `expression:2`, the line itself, then a line with a caret under the place. */
function describeProblem(error: Error): SyntaxProblem {
  if (error.name === "RangeError") return { message: "it is nested too deeply" };
  const [place, , marker] = (error.stack ?? "").split("\n", 3);
  const line = Number(new RegExp(`^${FILE_NAME}:(\\d+)$`).exec(place ?? "")?.[1]);
  if (!(line >= 1)) return { message: error.message };
  const caret = marker?.indexOf("^") ?? -1;
  return caret < 0 ? { message: error.message, line } : { message: error.message, line, column: caret + 1 };
}
