import type { ReadCondition } from "./condition-fields.js";

const LAST_ERROR = "_last_error";
const WORD = /[A-Za-z0-9_$]/;

/** Whether a condition looks at a failure: `error`, or `state._last_error`. */
export function readsError({ fields, codes }: ReadCondition): boolean {
  return (
    codes.some(codeReadsError) ||
    fields.some(({ value }) => value.startsWith("error.") || /^state\._last_error(?:[.[]|$)/.test(value))
  );
}

/** The name `error` used as a variable; not a property of that name, and not a word in a text. One pass. */
function codeReadsError(code: string): boolean {
  if (code.includes(LAST_ERROR)) return true;
  for (let at = 0; at < code.length; at++) {
    const character = code[at]!;
    if (character === '"' || character === "'") at = endOfText(code, at);
    else if (WORD.test(character)) {
      let end = at + 1;
      while (end < code.length && WORD.test(code[end]!)) end++;
      if (code.slice(at, end) === "error" && !code.slice(0, at).trimEnd().endsWith(".")) return true;
      at = end - 1;
    }
  }
  return false;
}

function endOfText(code: string, start: number): number {
  for (let at = start + 1; at < code.length; at++) {
    if (code[at] === "\\") at++;
    else if (code[at] === code[start] || code[at] === "\n") return at;
  }
  return code.length;
}
