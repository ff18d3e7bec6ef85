import type { FileHandle } from "node:fs/promises";

const PIECE_BYTES = 1024 * 1024;
export const NEWLINE = 0x0a;

/** Lines that follow one another in a file. */
export interface Piece {
  readonly start: number;
  /** Whole lines; of one that is longer than a piece only the beginning, as the only line of the piece. */
  readonly bytes: Buffer;
  readonly end: number;
  /** Its only line has no end yet: the file ends in it. */
  readonly isOpen: boolean;
}

/** Never more than a piece is in memory, however long a line is. */
export async function* readPieces(
  file: FileHandle,
  from: number,
  size: number,
  pieceBytes = PIECE_BYTES,
): AsyncGenerator<Piece> {
  for (let start = from; start < size; ) {
    const bytes = await readAt(file, start, Math.min(pieceBytes, size - start));
    if (bytes.length === 0) return;
    const last = bytes.lastIndexOf(NEWLINE);
    if (last >= 0) {
      const end = start + last + 1;
      yield { start, bytes: bytes.subarray(0, last + 1), end, isOpen: false };
      start = end;
      continue;
    }
    const end = await endOfLine(file, start + bytes.length, size);
    yield { start, bytes, end: end ?? size, isOpen: end === null };
    start = end ?? size;
  }
}

export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/** The start of the line after the one at `from`; null if there is none. */
async function endOfLine(file: FileHandle, from: number, size: number): Promise<number | null> {
  for (let position = from; position < size; ) {
    const bytes = await readAt(file, position, Math.min(PIECE_BYTES, size - position));
    if (bytes.length === 0) return null;
    const at = bytes.indexOf(NEWLINE);
    if (at >= 0) return position + at + 1;
    position += bytes.length;
  }
  return null;
}
