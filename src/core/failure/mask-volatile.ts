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

/** A line of text with times, durations, ids, paths, ports, pids, line numbers and other long numbers masked. */
export function maskVolatile(line: string): string {
  let masked = line;
  for (const [pattern, mask] of MASKS) {
    masked = typeof mask === "string" ? masked.replace(pattern, mask) : masked.replace(pattern, mask);
  }
  return masked;
}
