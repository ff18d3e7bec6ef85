import { xmlText } from "../../../core/text/escapes.js";

/** What the build has left in the template, each once and in this order. */
export const MARKS = { title: "%daruma-title%", plain: "%daruma-plain%", data: "%daruma-data%" } as const;

interface ReportTexts {
  readonly title: string;
  /** What a reader without scripts sees. */
  readonly plain: string;
  readonly data: unknown;
}

/** Puts a run into the page that the build has made. Null: this is no such page. */
export function embedReport(template: string, { title, plain, data }: ReportTexts): string | null {
  const texts = { title: xmlText(title), plain: xmlText(plain), data: scriptJson(data) };
  let [page, rest] = ["", template];
  for (const name of ["title", "plain", "data"] as const) {
    const at = rest.indexOf(MARKS[name]);
    if (at === -1) return null;
    page += rest.slice(0, at) + texts[name];
    rest = rest.slice(at + MARKS[name].length);
  }
  return page + rest;
}

/**
 * Characters to escape. A tag or comment could end the surrounding element; the others would mislead a person who reads
 * the file as text.
 */
const NOT_PLAIN = /[<\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** JSON that may stand in a `script` element, whatever steps have printed. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(
    NOT_PLAIN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** What fits into so many bytes of the page, from the beginning on. */
export function fitting<Item>(items: readonly Item[], maxBytes: number): readonly Item[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += bytesOf(item);
    return bytes > maxBytes;
  });
  return end === -1 ? items : items.slice(0, end);
}

/** The items that fit, counted from the end. */
export function fittingLast<Item>(items: readonly Item[], maxBytes: number): readonly Item[] {
  return fitting([...items].reverse(), maxBytes).toReversed();
}

export function bytesOf(value: unknown): number {
  return Buffer.byteLength(scriptJson(value));
}
