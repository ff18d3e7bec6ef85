import Anser from "anser";
import { stripAnsi } from "../../../src/core/text/plain-text.js";
import { nameOfUnseen, UNSEEN } from "../words/unseen.js";

/** A piece of a line, as it is shown. */
export interface Segment {
  readonly text: string;
  /** One of the eight terminal colours. */
  readonly ink?: string;
  readonly bold?: true;
  /** Marks an invisible character, which could change how the line reads. */
  readonly mark?: true;
}

const COLOURS = new RegExp(`(${String.fromCharCode(0x1b)}\\[[0-9;]*m)`);
const CONTROLS = /(?!\t)[\p{Cc}]/gu;
const AT_UNSEEN = new RegExp(`(${UNSEEN.source})`);
const INK = /^ansi-(?:bright-)?(red|green|yellow|blue|magenta|cyan)$/;
const CONTROL_PICTURES = 0x2400;
const DELETE = 0x7f;

/**
 * Makes a printed line safe to show: colours stay, all other terminal codes are removed, and characters that reorder
 * the line or hide in it become visible marks.
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

/** Splits text without colours, such as a prompt, and adds the same marks. */
export function markedParts(text: string): Segment[] {
  return text
    .split(AT_UNSEEN)
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
