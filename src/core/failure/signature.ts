import type { Failure } from "../model/failure.js";
import { plainLines } from "../text/plain-text.js";
import { sha256Hex } from "../text/sha256.js";

/**
 * What differs from one run of the same failure to the next, each with what stands for it. In this order: a path may
 * hold a date, a date may hold what looks like a line number. Every pattern is tried from few places and has no nested
 * repetition over the same characters, so the time stays proportional to the text.
 */
const NAME = "[^\\s\"'`<>:;,()\\[\\]{}|/\\\\]";
const CLOCK = "\\d{1,2}:\\d\\d:\\d\\d(?:[.,]\\d{1,9})?";
const ZONE = "(?: ?(?:Z|UTC|GMT|[+-]\\d\\d:?\\d\\d))?(?![0-9A-Za-z])";
const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}";
const WEEKDAY = "(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? )?";
const AMOUNT = "\\d+(?:[.,]\\d+)? ?";
const UNIT =
  "(?:ns|[uµμ]s|ms|msecs?|milliseconds?|microseconds?|nanoseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?)";

const MASKS: readonly (readonly [RegExp, string | ((...found: string[]) => string)])[] = [
  // The host of an address tells failures apart; its port and the rest do not.
  [/\b([a-z][a-z0-9+.-]{0,19}:\/\/[^\s/:?#"'`<>()]{0,255})[^\s"'`<>()]*/gi, "$1<path>"],
  [new RegExp(`(?<![\\w.])[A-Za-z]:\\\\${NAME}*(?:\\\\${NAME}*)*`, "g"), "<path>"],
  [new RegExp(`(?<![\\w./\\\\<>])(?:~|\\.{1,2})?/${NAME}+(?:/${NAME}*)*`, "g"), "<path>"],
  [/(?<![\w.@+/-])(?:[\w.@+-]+\/)+[\w@+-][\w.@+-]*\.[A-Za-z]\w*/g, "<path>"],

  [
    new RegExp(`(?<!\\d)\\d{4}-\\d\\d-\\d\\d[T _]\\d\\d:?\\d\\d(?::?\\d\\d(?:[.,]\\d{1,9})?)?${ZONE}`, "g"),
    "<time>",
  ],
  [
    new RegExp(
      `\\b${WEEKDAY}(?:\\d{1,2} ${MONTH} \\d{4}|${MONTH} {1,2}\\d{1,2}(?:,? \\d{4})?),? ${CLOCK}${ZONE}(?: \\d{4}\\b)?`,
      "g",
    ),
    "<time>",
  ],
  [new RegExp(`\\b\\d{1,2}/${MONTH}/\\d{4}:${CLOCK}${ZONE}`, "g"), "<time>"],
  [/(?<!\d)(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.]\d{4})(?!\d)/g, "<time>"],
  [new RegExp(`(?<![\\d:])${CLOCK}(?: ?[AP]M\\b)?${ZONE}`, "g"), "<time>"],
  [/<time>(?:[ ,T]{0,2}<time>)+/g, "<time>"],

  [/(?<![0-9A-Za-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9A-Za-z])/gi, "<n>"],
  // Before long numbers, which a duration may begin with. No bare `d` for days: `1234567d` is as likely a hash.
  [new RegExp(`(?<![\\w.])${AMOUNT}${UNIT}(?:,? ?${AMOUNT}${UNIT})*(?![0-9A-Za-z])`, "g"), "<duration>"],
  [new RegExp(`(?<![\\w.])${AMOUNT}(?:bytes|[KMGT]i?B)(?![0-9A-Za-z])`, "g"), "<size>"],
  [/(?<![0-9A-Za-z])0x[0-9a-f]+/gi, "<n>"],
  [/(?<![0-9A-Za-z])[0-9a-f]{7,}(?![0-9A-Za-z])/gi, "<n>"],

  [
    /\b((?:p?pid|tid|process|thread|worker|ports?|lines?|ln|col|columns?|position|offset)[ =:#([]{1,3})\d+(?:-\d+)?/gi,
    "$1<n>",
  ],
  [/\[\d+\](?=:)/g, "[<n>]"],
  [/<path>(?::\d+(?::\d+)*|\(\d+(?:, ?\d+)*\))/g, "<path>"],
  [/(?<![\w.-])([\w.-]*[\w\]]):(\d+)(:?\d*)(?!\w)/g, maskAfterColon],
  [/(?<![0-9A-Za-z])\d{5,}(?![0-9A-Za-z])/g, "<n>"],
];

/** `db:5432` and `main.c:12` have a port or a line; `status:503` says which failure it is. */
function maskAfterColon(found: string, before: string, number: string, column: string): string {
  if (/^(?:code|errno|error|exit|http|status)$/i.test(before)) return found;
  const isPlace = column !== "" || number.length > 3 || /[.\]]|^localhost$/.test(before);
  return isPlace ? `${before}:<n>${column === ":" ? ":" : ""}` : found;
}

/** Endings of files. A list, because `user.name`, `foo.bar` and `java.lang` have the form of a file name too. */
const ENDING = `\\.(?:${[
  "jpe?g|png|gif|webp|svg|bmp|tiff?|ico|pdf|eps|psd|heic|raw|dcm|mp[34]|wav|flac|ogg|avi|mov|mkv|webm|m4[av]",
  "txt|md|rst|log|out|csv|tsv|jsonl?|json5|ya?ml|toml|ini|cfg|conf|xml|html?|s?css|lock|pid|tmp|bak|part|diff|patch",
  "parquet|feather|arrow|avro|orc|hdf5|h5|nc|np[yz]|mat|pkl|pickle|onnx|pth?|ckpt|safetensors|tfrecords?|db|sqlite3?",
  "sql|dump|xlsx?|docx?|pptx?|odt|fast[aq]|f[aq]|bam|sam|cram|[vb]cf|bed|g[ft]f|fits|las|shp|geojson|dat|bin",
  "zip|tar|tgz|gz|bz2|xz|zst|7z|rar|whl|deb|rpm|jar|war|iso|img|exe|dll|so|dylib|pem|crt",
  "[cm]?[jt]sx?|py|ipynb|rb|rs|go|java|kt|scala|c|h|cc|cpp|hpp|cs|swift|php|pl|lua|f90|sh|bash|ps1|bat|vue|svelte|proto|tf",
].join("|")})`;
const WORD = "\\p{L}\\p{N}_@+";

/** Names of files, and quoted paths whole: one that is not quoted ends at a blank. Before the other masks, which cut paths. */
const FILE_MASKS: readonly (readonly [RegExp, string])[] = [
  ...["'", '"', "`"].map((quote): [RegExp, string] => [
    new RegExp(
      `${quote}(?:(?:(?:~|\\.{1,2})?/|[A-Za-z]:\\\\)[^${quote}]{0,1024}|[^${quote}\\s]{1,255}${ENDING})${quote}`,
      "giu",
    ),
    `${quote}<path>${quote}`,
  ]),
  [
    new RegExp(
      `(?<![${WORD}./\\\\-])[${WORD}-][${WORD}.-]{0,254}${ENDING}(?![${WORD}/\\\\-]|\\.[${WORD}])`,
      "giu",
    ),
    "<path>",
  ],
];
/** A minus between words is a dash. */
const DIGITS = /(?:(?<![\w)\]>])-)?\d+(?:[.,]\d+)*/g;

/** A line of text with times, durations, ids, paths, ports, pids, line numbers and other long numbers masked. */
export function maskVolatile(line: string): string {
  let masked = line;
  for (const [pattern, mask] of MASKS) {
    masked = typeof mask === "string" ? masked.replace(pattern, mask) : masked.replace(pattern, mask);
  }
  return masked;
}

/**
 * A line without what tells one item of a fan-out from another: quoted paths, names of files and every digit are masked
 * too. Letters stay, and so `ENOENT` and `EACCES` are two failures.
 */
export function maskItems(line: string): string {
  let masked = line;
  for (const [pattern, mask] of FILE_MASKS) masked = masked.replace(pattern, mask);
  return maskVolatile(masked).replace(DIGITS, "<n>");
}

/** Signatures of different versions never compare equal; any change to what is masked is a new one. */
export const SIGNATURE_VERSION = "v2";
const MAX_SIGNED_CHARS = 2_048;
const MAX_SIGNED_MESSAGE_CHARS = 1_024;
const MAX_SIGNED_LINES = 20;
/** Beyond this nothing is read: the masks leave more than enough of it. */
const MAX_READ_CHARS = 16_384;
const MASK = /<\w+>/g;
const LETTER = /\p{L}/u;

export type Signed = Pick<Failure, "code" | "class" | "message" | "stderr_tail" | "stdout_tail">;
type Mask = (line: string) => string;

/**
 * Names a failure, so that the same one is known again in a later attempt, another item of a fan-out and another run. Code
 * and class stand in it as they are. The texts are redacted already, as everything in a `Failure` is: a secret must not
 * even reach a hash.
 */
export function failureSignature(failure: Signed): string {
  return `${SIGNATURE_VERSION}:${sha256Hex(signedText(failure, maskItems))}`;
}

/** Tells failures of one job apart by what they count too: with 5 problems left of 8 an agent is not stuck. */
export function progressSignature(failure: Omit<Signed, "class">): string {
  return sha256Hex(signedText({ ...failure, class: null }, maskVolatile));
}

/** What a signature is taken over. The last lines of stderr, or of stdout where stderr has none. */
export function signedText(
  failure: Omit<Signed, "class"> & { readonly class: Failure["class"] | null },
  mask: Mask,
): string {
  const message = plainLines(failure.message.slice(0, MAX_READ_CHARS))
    .map(mask)
    .join("\n")
    .slice(0, MAX_SIGNED_MESSAGE_CHARS);
  const named = failure.class === null ? failure.code : `${failure.code} ${failure.class}`;
  const head = `${named}\n${message}\n`.slice(0, MAX_SIGNED_CHARS);
  const stderr = lastMeaningful(failure.stderr_tail, mask);
  const lines = (stderr.length > 0 ? stderr : lastMeaningful(failure.stdout_tail, mask)).join("\n");
  const room = MAX_SIGNED_CHARS - head.length;
  return head + lines.slice(Math.max(0, lines.length - room));
}

/** A line of nothing but numbers, bars or masks tells nothing; how often one was repeated depends on the clock. */
function lastMeaningful(tail: string, mask: Mask): string[] {
  const kept: string[] = [];
  for (const line of plainLines(tail.slice(-MAX_READ_CHARS)).toReversed()) {
    const masked = mask(line);
    if (masked === kept[0] || !LETTER.test(masked.replace(MASK, ""))) continue;
    kept.unshift(masked);
    if (kept.length === MAX_SIGNED_LINES) break;
  }
  return kept;
}

const SHORT_HEX = 10;

/** Enough of a signature to type: commands find a failure by the beginning of its hash. */
export function shortSignature(signature: string): string {
  return signature.slice(signature.indexOf(":") + 1).slice(0, SHORT_HEX);
}
