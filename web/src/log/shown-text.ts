import Anser from "anser";
import { stripAnsi } from "../../../src/core/text/plain-text.js";

/** A piece of a line as it is shown. */
export interface Segment {
  readonly text: string;
  /** One of the eight colours that terminals have. */
  readonly ink?: string;
  readonly bold?: true;
  /** It stands for a character that cannot be seen, and which would change how the line reads. */
  readonly mark?: true;
}

const COLOURS = new RegExp(`(${String.fromCharCode(0x1b)}\\[[0-9;]*m)`);
const CONTROLS = /(?!\t)[\p{Cc}]/gu;
/** They turn the order of a line, or take no room in it. */
const UNSEEN = /([\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff])/;
const INK = /^ansi-(?:bright-)?(red|green|yellow|blue|magenta|cyan)$/;
const CONTROL_PICTURES = 0x2400;
const DELETE = 0x7f;

/**
 * A line that a step printed, harmless: colours stay, every other code of a terminal goes, and what would turn the order
 * of the line or hide in it is shown as a mark.
 */
export function segmentsOf(line: string): Segment[] {
  const text = line
    .replace(/\r$/, "")
    .split(COLOURS)
    .map((piece, place) => (place % 2 === 1 ? piece : stripAnsi(piece).replace(CONTROLS, pictureOf)))
    .join("");
  return Anser.ansiToJson(text, { json: true, use_classes: true, remove_empty: true }).flatMap(
    ({ content, fg, decorations }) => {
      const ink = INK.exec(fg ?? "")?.[1];
      const look = {
        ...(ink === undefined ? {} : { ink }),
        ...(decorations.includes("bold") ? { bold: true as const } : {}),
      };
      return markedParts(content).map((part) => ({ ...part, ...look }));
    },
  );
}

/** A text without colours, such as one that was handed on: the same marks. */
export function markedParts(text: string): Segment[] {
  return text
    .split(UNSEEN)
    .map((part, place) =>
      place % 2 === 1 ? { text: nameOfUnseen(part), mark: true as const } : { text: part },
    )
    .filter((part) => part.text !== "");
}

function pictureOf(control: string): string {
  const code = control.charCodeAt(0);
  if (code === DELETE) return "␡";
  return code < 0x20 ? String.fromCharCode(CONTROL_PICTURES + code) : "␦";
}

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

function nameOfUnseen(character: string): string {
  const code = character.charCodeAt(0);
  return NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
