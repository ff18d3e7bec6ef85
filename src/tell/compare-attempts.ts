import { maskVolatile } from "../core/failure/signature.js";
import type { Failure } from "../core/model/failure.js";
import { diffLines, type LinePair, wordsOf } from "../core/text/diff-lines.js";
import { firstChars } from "../core/text/head-tail.js";
import { plainText } from "../core/text/plain-text.js";
import {
  just,
  list,
  number,
  type Of,
  type OfFields,
  object,
  one,
  optional,
  text,
  word,
} from "../core/text/shape.js";

/** The end of a text, as far as it is compared. */
export interface TextEnd {
  readonly lines: readonly string[];
  /** The number of the first of them in the whole text. */
  readonly firstLine: number;
}

/** A line of both texts; `other`, in a part of one, is what stands there in the other text. `skipped` are lines that are the same but for times and ids. */
export const DIFF_ROW = one(
  "kind",
  object({ kind: just("same"), line: number, other_line: number, text }),
  object({
    kind: just("masked"),
    line: number,
    other_line: number,
    parts: list(object({ text, other: optional(text) })),
  }),
  object({ kind: just("added"), line: number, text }),
  object({ kind: just("removed"), other_line: number, text }),
  object({ kind: just("skipped"), count: number }),
);
export type DiffRow = Of<typeof DIFF_ROW>;
type MaskedPart = Extract<DiffRow, { kind: "masked" }>["parts"][number];

/** `masked`: only times, ids and the like differ. */
export const VERDICTS = ["same", "masked", "differs"] as const;
type Verdict = (typeof VERDICTS)[number];

interface ComparedText {
  readonly verdict: Verdict;
  /** Lines that only one of them has. */
  readonly changed: number;
  readonly rows: readonly DiffRow[];
  readonly left_off: number;
}

const MAX_LINE_CHARS = 2_000;
const MAX_ROWS = 1_000;
const CONTEXT_LINES = 3;
const MAX_MASKED_ROWS = 6;

/** What differs between two texts, from the other to the one; times and ids are no difference. */
export function compareTexts(one: TextEnd, other: TextEnd): ComparedText {
  const [texts, others] = [shortLines(one), shortLines(other)];
  const [masks, otherMasks] = [texts.map(maskVolatile), others.map(maskVolatile)];
  const pairs = diffLines(otherMasks, masks).map(({ one: before, other: after }) => ({
    one: after,
    other: before,
  }));
  const isChange = ({ one: after, other: before }: LinePair): boolean => after === null || before === null;
  const isMasked = (pair: LinePair): boolean => !isChange(pair) && texts[pair.one!] !== others[pair.other!];
  const shown = chooseShown(pairs, isChange, isMasked);
  const rows: DiffRow[] = [];
  let skipped = 0;
  for (const [place, pair] of pairs.entries()) {
    if (!shown.has(place)) {
      skipped += 1;
      continue;
    }
    if (skipped > 0) rows.push({ kind: "skipped", count: skipped });
    skipped = 0;
    rows.push(rowOf(pair, { texts, others, one, other }));
  }
  if (skipped > 0) rows.push({ kind: "skipped", count: skipped });
  const changed = pairs.filter(isChange).length;
  return {
    verdict: changed > 0 ? "differs" : pairs.some(isMasked) ? "masked" : "same",
    changed,
    rows: rows.slice(0, MAX_ROWS),
    left_off: Math.max(0, rows.length - MAX_ROWS),
  };
}

function shortLines({ lines }: TextEnd): string[] {
  return lines.map((line) => firstChars(plainText(line).replaceAll("\n", " "), MAX_LINE_CHARS));
}

function chooseShown(
  pairs: readonly LinePair[],
  isChange: (pair: LinePair) => boolean,
  isMasked: (pair: LinePair) => boolean,
): ReadonlySet<number> {
  const shown = new Set<number>();
  let masked = 0;
  for (const [place, pair] of pairs.entries()) {
    if (isChange(pair))
      for (let near = place - CONTEXT_LINES; near <= place + CONTEXT_LINES; near += 1) shown.add(near);
    else if (isMasked(pair) && masked < MAX_MASKED_ROWS) {
      shown.add(place);
      masked += 1;
    }
  }
  return shown;
}

interface Sides {
  readonly texts: readonly string[];
  readonly others: readonly string[];
  readonly one: TextEnd;
  readonly other: TextEnd;
}

function rowOf({ one: after, other: before }: LinePair, { texts, others, one, other }: Sides): DiffRow {
  if (after === null)
    return { kind: "removed", other_line: other.firstLine + before!, text: others[before!]! };
  const line = one.firstLine + after;
  const text = texts[after]!;
  if (before === null) return { kind: "added", line, text };
  const other_line = other.firstLine + before;
  if (text === others[before]) return { kind: "same", line, other_line, text };
  return { kind: "masked", line, other_line, parts: maskedParts(text, others[before]!) };
}

/** Two lines that differ only in what is masked, word by word. */
export function maskedParts(text: string, other: string): MaskedPart[] {
  const [words, others] = [wordsOf(text), wordsOf(other)];
  const parts: { text: string; other?: string }[] = [];
  for (const pair of diffLines(others, words)) {
    const isSame = pair.one !== null && pair.other !== null;
    const last = parts.at(-1);
    const part = last !== undefined && (last.other === undefined) === isSame ? last : null;
    const current = part ?? (isSame ? { text: "" } : { text: "", other: "" });
    if (part === null) parts.push(current);
    if (pair.other !== null) current.text += words[pair.other];
    if (!isSame && pair.one !== null) current.other += others[pair.one]!;
  }
  return parts;
}

/** One thing about two attempts of a job: whether it is the same in both, in words. */
export const ATTEMPT_FACT = { about: text, verdict: word(VERDICTS), words: text, detail: text } as const;
type AttemptFact = OfFields<typeof ATTEMPT_FACT>;

/** A field of the error record in both attempts. */
interface ComparedField {
  readonly name: string;
  readonly value: string | number | boolean | null;
  readonly other: string | number | boolean | null;
  readonly same: boolean;
}

/** A text of both attempts, with how many lines each has. */
export interface NamedText extends ComparedText {
  readonly name: string;
  readonly lines: number;
  readonly other_lines: number;
}

const SIGNATURE_CHARS = 11;
const ORDER: readonly Verdict[] = ["same", "masked", "differs"];

/** What two attempts have in common first, then what differs. */
export function attemptFacts(
  error: Failure | null,
  other: Failure | null,
  texts: readonly NamedText[],
): AttemptFact[] {
  const facts = [...failureFacts(error, other), ...texts.map(textFact)];
  return ORDER.flatMap((verdict) => facts.filter((fact) => fact.verdict === verdict));
}

function failureFacts(error: Failure | null, other: Failure | null): AttemptFact[] {
  if (error === null && other === null) return [];
  if (error === null || other === null)
    return [{ about: "failure", verdict: "differs", words: "Only one of them failed", detail: "" }];
  const isSame = error.signature === other.signature;
  const failure: AttemptFact = {
    about: "failure",
    verdict: isSame ? "same" : "differs",
    words: isSame ? "The failure is the same" : "The failures differ",
    detail: isSame
      ? `signature ${error.signature.slice(0, SIGNATURE_CHARS)} in both`
      : `${other.code} before, ${error.code} after`,
  };
  return [failure, ...filesFact(error, other)];
}

function filesFact(error: Failure, other: Failure): AttemptFact[] {
  if (error.diff_hash === null && other.diff_hash === null) return [];
  const isSame = error.diff_hash === other.diff_hash;
  const files = [...new Set([...other.changed_files, ...error.changed_files])];
  return [
    {
      about: "files",
      verdict: isSame ? "same" : "differs",
      words: isSame ? "The changed files are the same" : "The changes to files differ",
      detail: files.join(", "),
    },
  ];
}

function textFact({ name, verdict, changed, lines, other_lines }: NamedText): AttemptFact {
  const count = lines === other_lines ? lineCount(lines) : `${other_lines} and ${lineCount(lines)}`;
  const words: { readonly [one in Verdict]: string } = {
    same: lines === 0 ? `${name} is empty in both` : `${name} is the same, line for line`,
    masked: `${name} is the same apart from times and ids`,
    differs: `${name} differs in ${lineCount(changed)}`,
  };
  return { about: name, verdict, words: words[verdict], detail: lines + other_lines === 0 ? "" : count };
}

function lineCount(lines: number): string {
  return lines === 1 ? "1 line" : `${lines} lines`;
}

const FIELDS = [
  "code",
  "class",
  "original_class",
  "message",
  "exit_code",
  "signal",
  "retryable",
  "final",
  "retry_after_ms",
  "signature",
  "diff_hash",
] as const satisfies readonly (keyof Failure)[];

/** The error records side by side; what neither has is left out. */
export function compareErrors(error: Failure | null, other: Failure | null): ComparedField[] {
  const fields = FIELDS.map((name) => ({
    name,
    value: error?.[name] ?? null,
    other: other?.[name] ?? null,
  }));
  const files = {
    name: "changed_files",
    value: error?.changed_files.join(", ") || null,
    other: other?.changed_files.join(", ") || null,
  };
  return [...fields, files]
    .filter(({ value, other: before }) => value !== null || before !== null)
    .map((field) => ({ ...field, same: field.value === field.other }));
}
