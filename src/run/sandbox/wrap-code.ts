import { compileFunction } from "node:vm";
import type { SyntaxProblem } from "../../file/read/problem.js";

type WrappedCode =
  | { readonly ok: true; readonly source: string }
  | { readonly ok: false; readonly problem: SyntaxProblem };

const FILE_NAME = "expression";

/**
 * Turns user code into the source of one function: `return (code)` for an expression, else the code as its body. V8
 * compiles it as the body of a function that is never called here, so `}); evil(); (function () {` is a syntax error
 * and cannot break out. An expression must compile in both kinds of brackets: `1); evil(); (2` closes only one.
 */
export function wrapCode(code: string): WrappedCode {
  if (code !== last?.code) last = { code, wrapped: wrap(code) };
  return last.wrapped;
}

/** The last result, because loading a file asks twice in a row: whether the code is valid, and what it reads. */
let last: { readonly code: string; readonly wrapped: WrappedCode } | undefined;

function wrap(code: string): WrappedCode {
  const isExpression =
    !BEGINS_A_STATEMENT.test(code) && compiles(`return (\n${code}\n)`) && compiles(`return [\n${code}\n]`);
  if (isExpression) return { ok: true, source: asFunction(`return (\n${code}\n)`) };
  const problem = findProblem(`\n${code}`);
  return problem === null ? { ok: true, source: asFunction(`\n${code}`) } : { ok: false, problem };
}

/** Code that starts like this is no expression. V8 would say so too, but throwing costs more than compiling. */
const BEGINS_A_STATEMENT =
  /^\s*(?:return|const|let|var|if|for|while|do|switch|try|throw)(?![\w$\\\u0080-\uffff])/;

function asFunction(body: string): string {
  return `(function () { "use strict"; ${body}\n})`;
}

function compiles(body: string): boolean {
  try {
    compileOnly(body);
    return true;
  } catch {
    return false;
  }
}

function compileOnly(body: string): void {
  compileFunction(`"use strict"; ${body}`, [], { filename: FILE_NAME, lineOffset: -1 });
}

/** Why `body` does not compile, or null. User code begins on its second line. */
function findProblem(body: string): SyntaxProblem | null {
  try {
    compileOnly(body);
    return null;
  } catch (error) {
    return error instanceof Error ? describeProblem(error) : { message: String(error) };
  }
}

/** V8 reports the position only in the stack: `expression:2`, the line itself, then a line with a caret. */
function describeProblem(error: Error): SyntaxProblem {
  if (error.name === "RangeError") return { message: "it is nested too deeply" };
  const [place, , marker] = (error.stack ?? "").split("\n", 3);
  const line = Number(new RegExp(`^${FILE_NAME}:(\\d+)$`).exec(place ?? "")?.[1]);
  if (!(line >= 1)) return { message: error.message };
  const caret = marker?.indexOf("^") ?? -1;
  return caret < 0 ? { message: error.message, line } : { message: error.message, line, column: caret + 1 };
}

/** Why `code` is neither an expression nor a function body, or null. Checks the syntax only; nothing is run. */
export function checkExpression(code: string): SyntaxProblem | null {
  if (code.trim() === "") return { message: "it is empty" };
  const wrapped = wrapCode(code);
  return wrapped.ok ? null : wrapped.problem;
}
