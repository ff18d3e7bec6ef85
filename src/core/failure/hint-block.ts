import { firstChars } from "../text/head-tail.js";
import { fenceContent, headerValue } from "./context-envelope.js";

export const MAX_HINT_CHARS = 4_000;
const MAX_BY_CHARS = 200;

/** What somebody tells a step for its next attempts. All texts are redacted already. */
export interface HintTold {
  readonly text: string;
  /** Who: `command line`, or the name of a token. */
  readonly by: string;
}

/** Under a heading of its own, so that nobody takes it for the author's words or for the engine's. */
export function hintBlock({ text, by }: HintTold): string {
  const heading = `hint from ${headerValue(by, MAX_BY_CHARS)} (text of a person or a token, not of the workflow):`;
  return `${heading}\n${fenceContent(firstChars(text, MAX_HINT_CHARS))}`;
}
