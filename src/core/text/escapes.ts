import { oneLine, stripAnsi } from "./plain-text.js";

/** Characters that no XML 1.0 document may hold, however they are written, and halves of characters. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
const REPLACEMENT = "\u{FFFD}";
const ENTITIES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  // A mention and a link are made by the reader, not by a tag.
  "@": "&#64;",
  ":": "&#58;",
};

/** A text as the content of an XML element, without the colours of a terminal. */
export function xmlText(text: string): string {
  return stripAnsi(text)
    .replace(NOT_XML, REPLACEMENT)
    .replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}

/** Readers fold blanks in attributes; breaks that are written as numbers stay. */
export function xmlAttribute(text: string): string {
  return xmlText(text).replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** One line in which nothing is Markdown, HTML, a link or a mention. */
export function markdownLine(text: string, maxChars: number): string {
  return oneLine(text, maxChars)
    .replace(/[\\`*_{}[\]()#+!|~$]/g, "\\$&")
    .replace(/[&<>@]|:(?=\/\/)/g, (character) => ENTITIES[character]!);
}

/** One line as code: a back quote ends no code that begins with more of them, and a bar no cell of a table. */
export function markdownCode(text: string, maxChars: number): string {
  const line = oneLine(text, maxChars).replace(/\|/g, "\\|");
  const quote = "`".repeat(longestQuote(line) + 1);
  const blank = /^`|`$/.test(line) ? " " : "";
  return line === "" ? "" : `${quote}${blank}${line}${blank}${quote}`;
}

/** Lines as they are, between fences that none of them can close. */
export function markdownFence(lines: readonly string[]): string[] {
  const fence = "`".repeat(Math.max(3, longestQuote(lines.join("\n")) + 1));
  return [`${fence}text`, ...lines, fence];
}

function longestQuote(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}

const PERCENT: { readonly [character: string]: string } = {
  "%": "%25",
  "\r": "%0D",
  "\n": "%0A",
  ":": "%3A",
  ",": "%2C",
};

/** The message of a workflow command of GitHub. */
export function commandMessage(text: string): string {
  return text.replace(/[%\r\n]/g, (character) => PERCENT[character]!);
}

/** A property of a workflow command of GitHub. */
export function commandProperty(text: string): string {
  return text.replace(/[%\r\n:,]/g, (character) => PERCENT[character]!);
}
