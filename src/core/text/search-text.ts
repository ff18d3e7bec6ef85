import { firstChars } from "./head-tail.js";
import { oneLine } from "./plain-text.js";

/** What a search looks through is kept by stores in every row that has any; longer texts are cut. */
const MAX_SEARCH_CHARS = 500;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** A text as searches compare it: small letters, on one line, blanks folded. Both sides go through this. */
export function searchText(...texts: readonly string[]): string {
  const cut = texts.map((text) => firstChars(text, 2 * MAX_SEARCH_CHARS)).join(" ");
  return oneLine(cut).replace(LONE_SURROGATE, "").toLowerCase().slice(0, MAX_SEARCH_CHARS);
}
