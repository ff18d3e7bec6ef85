import type { SyntaxProblem } from "../../file/read/problem.js";
import { wrapCode } from "./wrap-code.js";

/** Why `code` is neither an expression nor a function body, or null. Checks the syntax only; nothing is run. */
export function checkExpression(code: string): SyntaxProblem | null {
  if (code.trim() === "") return { message: "it is empty" };
  const wrapped = wrapCode(code);
  return wrapped.ok ? null : wrapped.problem;
}
