import type { FailureClass } from "../model/failure.js";

/** What a failure is called and what kind it is. */
export interface FailureKind {
  readonly code: string;
  readonly class: FailureClass;
}

const CLASS_OF_STATUS: ReadonlyMap<number, FailureClass> = new Map([
  [401, "deterministic_policy"],
  [402, "deterministic_policy"],
  [403, "deterministic_policy"],
  [407, "deterministic_policy"],
  [408, "transient_runtime"],
  [423, "transient_runtime"],
  [425, "transient_runtime"],
  [429, "transient_runtime"],
  [451, "deterministic_policy"],
  [501, "deterministic_contract"],
  [505, "deterministic_contract"],
]);

/** The HTTP status is the code; what the table does not name goes by its hundred. */
export function judgeStatus(status: number): FailureKind {
  const byHundred = status >= 500 ? "transient_runtime" : "deterministic_contract";
  return { code: String(status), class: CLASS_OF_STATUS.get(status) ?? byHundred };
}

/** Words are read from the start of a text; what comes later is rarely the cause. */
const MAX_WORDS_CHARS = 16_384;

/**
 * A status counts only where the text says that it is one: after "HTTP" or "status", before its own reason phrase, or
 * as the very first word. "port 5029", "500 files" and "line 502" say nothing.
 */
const STATUS_SAID =
  /\b(?:HTTP(?:\/\d(?:\.\d)?)?|status(?:[ _-]?code)?|respon(?:se|ded)(?: with| code)?)[ :=]{1,3}([1-5]\d\d)\b/i;
const STATUS_EXPLAINED =
  /\b(?:(429) too many|(500) internal|(502) bad gateway|(503) service|(504) gateway|(400) bad request|(401) unauthori[sz]ed|(403) forbidden|(404) not found|(422) unprocessable)/i;
const STATUS_FIRST =
  /^\s*(?:error:? )?(4\d\d|50[0-4])(?=[\s:,.]|$)(?! (?:files?|tests?|errors?|warnings?|m?s|of|items?|bytes?|lines?|rows?)\b)/i;

/** Most specific first; "503 ... invalid response" never gets as far as "invalid". */
const WORDS: readonly (readonly [RegExp, FailureKind])[] = [
  [/\b(?:too many requests|rate limit(?:ed)?\b)/i, { code: "429", class: "transient_runtime" }],
  [
    /\b(?:ECONNRESET|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|connection (?:reset|refused|closed|timed out)|socket hang up|getaddrinfo|name resolution|network is unreachable|no route to host|timed out|service unavailable|bad gateway|temporarily unavailable|try again later)\b/i,
    { code: "NETWORK_ERROR", class: "transient_runtime" },
  ],
  [
    /\b(?:merge conflict|patch does not apply|protected branch|non-fast-forward|unknown revision|couldn't find remote ref)\b/i,
    { code: "REPO_ERROR", class: "deterministic_repo" },
  ],
  [
    /\b(?:unauthori[sz]ed|forbidden|permission denied|access denied|authentication failed|(?:invalid|missing) (?:api key|credentials?|token))\b/i,
    { code: "ACCESS_DENIED", class: "deterministic_policy" },
  ],
  [
    /\b(?:validation (?:failed|error)|schema (?:error|mismatch)|invalid (?:request|argument|input|schema|parameter)|bad request|unprocessable)\b/i,
    { code: "VALIDATION_ERROR", class: "deterministic_contract" },
  ],
];

const UNKNOWN: FailureKind = { code: "ACTION_FAILED", class: "application" };

/** The last resort: an error that has nothing but a text. */
export function judgeWords(text: string): FailureKind {
  const read = text.slice(0, MAX_WORDS_CHARS);
  const status = saidStatus(read);
  if (status !== null) return judgeStatus(status);
  return WORDS.find(([words]) => words.test(read))?.[1] ?? UNKNOWN;
}

function saidStatus(text: string): number | null {
  for (const pattern of [STATUS_FIRST, STATUS_SAID, STATUS_EXPLAINED]) {
    const found = pattern
      .exec(text)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (found !== undefined && Number(found) >= 400) return Number(found);
  }
  return null;
}
