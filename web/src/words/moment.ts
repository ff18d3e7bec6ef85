import { durationText } from "../../../src/tell/words/duration-text.js";

/** Makes a sentence of an engine's text, which begins with a lower-case letter. */
export function sentence(text: string): string {
  return text === "" ? "" : text[0]!.toUpperCase() + text.slice(1);
}

const SELF: { readonly [rung: string]: string } = {
  retry: "retry ",
  reset: "hard reset ",
  requeue: "requeue ",
};

/** Shortens a reason that is shown beside its rung and code: "retry 1 of 2 in 1500 ms" becomes "1 of 2 in 1.5 s". */
export function reasonBeside(rung: string, reason: string, code: string | undefined): string {
  const own = withoutCode(reason, code);
  const name = SELF[rung];
  const rest = name !== undefined && own.startsWith(name) ? own.slice(name.length) : own;
  return rest
    .replace(/ in 0 ms$/, ", at once")
    .replace(/^(\d+ of \d+) \(no progress: .*\)$/, "$1")
    .replace(/\b\d{4,} ms\b/g, (time) => durationText(Number.parseInt(time, 10)));
}

/** Removes a failure's code from the beginning of a reason that is shown beside it. */
export function withoutCode(reason: string, code: string | undefined): string {
  if (code === undefined || !reason.startsWith(code)) return reason;
  return reason.slice(code.length).replace(/^(?: \([a-z_]+\))?: /, "") || reason;
}
