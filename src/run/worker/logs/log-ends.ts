import { isAscii } from "node:buffer";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { TextDecoder } from "node:util";
import type { LoggedText } from "../../../core/text/head-tail.js";

/** Size of each end of a long log, far more than fits in a context. */
export const LOG_PART_BYTES = 32 * 1024;
const COUNT_PIECE_BYTES = 1024 * 1024;
const FIRST_NON_ASCII = 0x80;

/** Reads a log, or if it is long its two ends and the length of what is between. */
export function readLogEnds(file: string): LoggedText {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch {
    return "";
  }
  try {
    const { size } = fstatSync(fd);
    if (size <= 2 * LOG_PART_BYTES) return readPart(fd, 0, size).toString("utf8");
    const head = decoder().decode(readPart(fd, 0, LOG_PART_BYTES), { stream: true });
    const tail = fromCharacter(readPart(fd, size - LOG_PART_BYTES, LOG_PART_BYTES)).toString("utf8");
    const omittedChars = Math.max(0, countChars(fd, size) - head.length - tail.length);
    return { head, tail, omittedChars };
  } finally {
    closeSync(fd);
  }
}

function readPart(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}

/** Counts characters like `length`, reading in pieces. Most logs are ASCII, with one byte each. */
function countChars(fd: number, size: number): number {
  const rest = decoder();
  let chars = 0;
  let isInsideCharacter = false;
  for (let position = 0; position < size; position += COUNT_PIECE_BYTES) {
    const piece = readPart(fd, position, Math.min(COUNT_PIECE_BYTES, size - position));
    const isPlain: boolean = !isInsideCharacter && isAscii(piece);
    chars += isPlain ? piece.length : rest.decode(piece, { stream: true }).length;
    isInsideCharacter = !isPlain && (piece.at(-1) ?? 0) >= FIRST_NON_ASCII;
  }
  return chars + rest.decode().length;
}

function decoder(): TextDecoder {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}

/** Drops the rest of a character whose first bytes are missing. */
function fromCharacter(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.subarray(Math.max(0, start));
}
