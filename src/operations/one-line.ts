// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const ESCAPE_SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])/g;

export function stripEscapes(text: string): string {
  return text.replace(ESCAPE_SEQUENCE, "");
}

/** A text from a step, made harmless: no escape sequences, no control characters, one line. */
export function oneLine(text: string, maxChars = Number.POSITIVE_INFINITY): string {
  const line = stripEscapes(text)
    .replace(/\s+/g, " ")
    .replace(/\p{Cc}/gu, "")
    .trim();
  return line.length > maxChars ? `${line.slice(0, maxChars)}…` : line;
}
