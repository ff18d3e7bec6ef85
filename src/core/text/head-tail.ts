/** The two ends of a text too large to hold; `omittedChars` stood between them. */
export interface Excerpt {
  readonly head: string;
  readonly tail: string;
  readonly omittedChars: number;
}

export type LoggedText = string | Excerpt;

/** Characters are UTF-16 units, as `length` counts them. `includedChars` is without the marker. */
export interface Truncated {
  readonly text: string;
  readonly originalChars: number;
  readonly includedChars: number;
}

/** Longer chains of combining marks are cut anywhere between two code points. */
const MAX_CLUSTER_CHARS = 32;
/** Marks, variation selectors, skin tones: they belong to what stands before them. */
const EXTENDS = /^[\p{M}\p{Emoji_Modifier}\u200d]/u;
const JOINER = "\u200d";

export function charsOf(text: LoggedText): number {
  return typeof text === "string" ? text.length : text.head.length + text.omittedChars + text.tail.length;
}

/** Keeps the beginning and the end, with a line between them that says how much was dropped; never over the budget. */
export function truncateHeadTail(text: LoggedText, budget: number): Truncated {
  const originalChars = charsOf(text);
  const whole = wholeText(text);
  if (whole !== null && whole.length <= budget)
    return { text: whole, originalChars, includedChars: originalChars };
  const head = whole ?? (text as Excerpt).head;
  const tail = whole ?? (text as Excerpt).tail;
  const room = budget - marker(originalChars).length;
  if (room < 0) {
    const start = head.slice(0, cutBefore(head, Math.max(0, budget)));
    return { text: start, originalChars, includedChars: start.length };
  }
  const tailRoom = Math.min(tail.length, Math.max(Math.floor(room / 2), room - head.length));
  const start = head.slice(0, cutBefore(head, room - tailRoom));
  const end = tail.slice(cutAfter(tail, tail.length - tailRoom));
  const includedChars = start.length + end.length;
  return { text: start + marker(originalChars - includedChars) + end, originalChars, includedChars };
}

/** At most the last `budget` characters. */
export function lastChars(text: string, budget: number): string {
  return text.length <= budget ? text : text.slice(cutAfter(text, text.length - budget));
}

/** At most the first `budget` characters. */
export function firstChars(text: string, budget: number): string {
  return text.length <= budget ? text : text.slice(0, cutBefore(text, budget));
}

function wholeText(text: LoggedText): string | null {
  if (typeof text === "string") return text;
  return text.omittedChars === 0 ? text.head + text.tail : null;
}

function marker(droppedChars: number): string {
  return `\n[... ${droppedChars} characters dropped ...]\n`;
}

function cutBefore(text: string, at: number): number {
  const limit = Math.max(0, at - MAX_CLUSTER_CHARS);
  for (let cut = at; cut >= limit; cut--) if (isBetweenCharacters(text, cut)) return cut;
  return isInsideCodePoint(text, at) ? at - 1 : at;
}

function cutAfter(text: string, at: number): number {
  const limit = Math.min(text.length, at + MAX_CLUSTER_CHARS);
  for (let cut = at; cut <= limit; cut++) if (isBetweenCharacters(text, cut)) return cut;
  return isInsideCodePoint(text, at) ? at + 1 : at;
}

function isBetweenCharacters(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return true;
  if (isInsideCodePoint(text, at) || text[at - 1] === JOINER) return false;
  if (text[at - 1] === "\r" && text[at] === "\n") return false;
  return !EXTENDS.test(text.slice(at, at + 2));
}

function isInsideCodePoint(text: string, at: number): boolean {
  return at > 0 && isHighSurrogate(text.charCodeAt(at - 1)) && isLowSurrogate(text.charCodeAt(at));
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
