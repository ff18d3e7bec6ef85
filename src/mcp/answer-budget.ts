import { DarumaError } from "../core/errors/errors.js";
import { truncateHeadTail } from "../core/text/head-tail.js";

/** Limit for one answer to an agent: about 5,000 tokens. */
export const MAX_ANSWER_CHARS = 20_000;
/**
 * Limit for one text in a list, such as the stderr of one of many jobs. Applies only if the whole answer is too long.
 */
const MAX_TEXT_CHARS = 1_000;
/** Room reserved for the note about one cut. */
const NOTE_CHARS = 200;
const CURSOR = /^(.+)@(\d{1,15})$/s;

interface Answer {
  [field: string]: unknown;
}

type Cuttable = readonly unknown[] | string;

/** A part that was left out of an answer, and how to get it. */
export interface Cut {
  /** The path of the part: `jobs`, or `summary/failures`. */
  readonly field: string;
  readonly from: number;
  readonly shown: number;
  readonly total: number;
  /** Null at the end, and if the call changed something, so that it cannot be repeated. */
  readonly cursor: string | null;
}

/** Where a partial answer starts. */
interface Start {
  readonly field: string;
  readonly from: number;
  readonly total: number;
}

/**
 * Cuts an answer to an agent's budget: the summary comes first, then as much of its lists and long texts as fits, with
 * a cursor for each part that was cut. With a cursor, returns only that part from the cursor on.
 */
export function withinBudget(
  answer: object,
  { cursor, mayAskAgain }: { readonly cursor?: string | undefined; readonly mayAskAgain: boolean },
): Answer {
  const { part, start } = cursor === undefined ? summaryFirst(answer) : partAt(answer as Answer, cursor);
  const fitted = structuredClone(part);
  if (size(fitted) > MAX_ANSWER_CHARS) shortenTextsInLists(fitted);
  const cut = cutToFit(fitted, start, mayAskAgain);
  return cut.length === 0 ? fitted : { cut, ...fitted };
}

/** Moves numbers, names and the summary before lists, whatever order the operation uses. */
function summaryFirst(answer: object): { part: Answer; start: null } {
  const entries = Object.entries(answer);
  const summary = entries.filter(([field]) => field === "summary");
  const rest = entries.filter(([, value]) => !isPlain(value));
  return { part: Object.fromEntries([...plainFields(answer), ...summary, ...rest]), start: null };
}

/** The part that the cursor names, together with the plain fields, which identify the record. */
function partAt(answer: Answer, cursor: string): { part: Answer; start: Start } {
  const [, field, place] = CURSOR.exec(cursor) ?? [];
  const found = field === undefined ? undefined : valueAt(answer, field);
  if (field === undefined || !isCuttable(found)) {
    throw new DarumaError("INVALID_INPUT", `cursor: ${JSON.stringify(cursor)} is not part of this answer`, {
      hint: "Take it from `cut` of an earlier answer of the same tool, and repeat the other arguments.",
    });
  }
  const from = Math.min(Number(place), found.length);
  const part: Answer = Object.fromEntries(plainFields(answer).filter(([name]) => name !== field));
  setAt(part, field, found.slice(from));
  return { part, start: { field, from, total: found.length } };
}

/** Cuts the largest part first. Each part keeps its first item, so that an answer always has content. */
function cutToFit(fitted: Answer, start: Start | null, mayAskAgain: boolean): Cut[] {
  const totals = new Map<string, number>(start === null ? [] : [[start.field, start.total]]);
  const fromOf = (field: string): number => (start?.field === field ? start.from : 0);
  let over = size(fitted) - MAX_ANSWER_CHARS;
  while (over > 0) {
    const cuttable = partsOf(fitted).filter(({ value }) => value.length > 1);
    const [largest] = cuttable.sort((first, second) => size(second.value) - size(first.value));
    if (largest === undefined) break;
    const { field, value } = largest;
    if (!totals.has(field)) totals.set(field, value.length);
    setAt(fitted, field, firstOf(value, size(value) - over - NOTE_CHARS));
    over = size(fitted) + NOTE_CHARS * totals.size - MAX_ANSWER_CHARS;
  }
  return [...totals].map(([field, total]): Cut => {
    const [from, shown] = [fromOf(field), (valueAt(fitted, field) as Cuttable).length];
    const goesOn = from + shown < total && mayAskAgain;
    return { field, from, shown, total, cursor: goesOn ? `${field}@${from + shown}` : null };
  });
}

/** The beginning that fits: at least one item, and never all of them. */
function firstOf(value: Cuttable, room: number): Cuttable {
  if (typeof value === "string") return wholeCharacters(value, Math.min(Math.max(1, room), value.length - 1));
  let [taken, used] = [0, 0];
  for (const item of value) {
    used += size(item) + 1;
    if (used > room) break;
    taken += 1;
  }
  return value.slice(0, Math.min(Math.max(1, taken), value.length - 1));
}

/** Cuts a text without splitting a surrogate pair. */
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splits && length > 1 ? length - 1 : length);
}

/** The lists and texts of an answer: at the top level and inside objects, but not inside lists. */
function partsOf(answer: Answer, prefix = ""): { field: string; value: Cuttable }[] {
  return Object.entries(answer).flatMap(([name, value]) => {
    const field = `${prefix}${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (isCuttable(value)) return [{ field, value }];
    return isPlain(value) ? [] : partsOf(value as Answer, `${field}/`);
  });
}

function shortenTextsInLists(answer: Answer): void {
  for (const { field, value } of partsOf(answer))
    if (typeof value !== "string") setAt(answer, field, value.map(shortTexts));
}

function shortTexts(value: unknown): unknown {
  if (typeof value === "string") return truncateHeadTail(value, MAX_TEXT_CHARS).text;
  if (Array.isArray(value)) return value.map(shortTexts);
  if (isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value as Answer).map(([key, item]) => [key, shortTexts(item)]));
}

function plainFields(answer: object): [string, unknown][] {
  return Object.entries(answer).filter(([, value]) => isPlain(value));
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== "object";
}

function isCuttable(value: unknown): value is Cuttable {
  return typeof value === "string" || Array.isArray(value);
}

function namesIn(field: string): string[] {
  return field.split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(answer: Answer, field: string): unknown {
  let value: unknown = answer;
  for (const name of namesIn(field)) {
    if (isPlain(value) || !Object.hasOwn(value as Answer, name)) return undefined;
    value = (value as Answer)[name];
  }
  return value;
}

function setAt(answer: Answer, field: string, value: unknown): void {
  const names = namesIn(field);
  const last = names.pop()!;
  let at = answer;
  for (const name of names) {
    at[name] ??= {};
    at = at[name] as Answer;
  }
  at[last] = value;
}

function size(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
