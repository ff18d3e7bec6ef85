import type { Failure } from "../core/model/failure.js";
import { type OfFields, text, word } from "../core/text/shape.js";
import { type ComparedText, VERDICTS, type Verdict } from "./compare-texts.js";

/** One thing about two attempts of a job: whether it is the same in both, in words. */
export const ATTEMPT_FACT = { about: text, verdict: word(VERDICTS), words: text, detail: text } as const;
type AttemptFact = OfFields<typeof ATTEMPT_FACT>;

/** A field of the error record in both attempts. */
export interface ComparedField {
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
