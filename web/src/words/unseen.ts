/** Characters that reorder a line or are invisible. */
export const UNSEEN = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const NAMES: { readonly [code: number]: string } = {
  8203: "ZWSP",
  8206: "LRM",
  8207: "RLM",
  8234: "LRE",
  8235: "RLE",
  8236: "PDF",
  8237: "LRO",
  8238: "RLO",
  8294: "LRI",
  8295: "RLI",
  8296: "FSI",
  8297: "PDI",
  65279: "BOM",
};

export function nameOfUnseen(character: string): string {
  const code = character.charCodeAt(0);
  return NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Makes invisible characters visible in text from outside: an output, a question, a label. */
export function withMarks(text: string): string {
  return text.replace(UNSEEN, (character) => `[${nameOfUnseen(character)}]`);
}
