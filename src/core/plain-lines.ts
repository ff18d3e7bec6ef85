const ESCAPE = String.fromCharCode(0x1b);
const BELL = String.fromCharCode(0x07);
const CONTROL_SEQUENCE = String.fromCharCode(0x9b);

/** Colours and cursor moves; titles and links with their end; the two-character rest. */
const ANSI = new RegExp(
  [
    `(?:${ESCAPE}\\[|${CONTROL_SEQUENCE})[0-?]*[ -/]*[@-~]`,
    `${ESCAPE}[\\]PX^_][^${BELL}${ESCAPE}\\n]*(?:${BELL}|${ESCAPE}\\\\)?`,
    `${ESCAPE}[ -/]*[0-~]?`,
  ].join("|"),
  "g",
);

export function stripAnsi(text: string): string {
  return text.replace(ANSI, "");
}

/** The lines of a terminal's output without colours, blanks folded, empty ones left out. */
export function plainLines(text: string): string[] {
  return stripAnsi(text)
    .split(/[\r\n]+/)
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "");
}
