import { type FileHandle, open } from "node:fs/promises";
import { plainText } from "../../../core/text/plain-text.js";
import { ERROR_HINTS, looksLikeError } from "../../../core/text/telling-line.js";

const PIECE_BYTES = 1024 * 1024;
export const NEWLINE = 0x0a;

/** Lines that follow one another in a file. */
interface Piece {
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

/** How many positions are remembered. For a longer file every second one is dropped, repeatedly. */
const MAX_MARKS = 16_384;
const MAX_ERROR_LINES = 1_000;
/** How much of a line is read to decide whether it is about an error. */
const MAX_JUDGED_BYTES = 4_096;
/** A call reads at most so much that is new, so that no answer takes minutes. */
const MAX_NEW_BYTES = 256 * 1024 * 1024;

/** What is known of the lines of a file. Lines count from 1. */
interface LineFacts {
  /** All that were found so far, the last one even without its end. */
  readonly total: number;
  /** The whole file has been read. */
  readonly complete: boolean;
  /** The first of the lines that look like errors. */
  readonly errorLines: readonly number[];
  readonly errorCount: number;
}

/** The positions of lines in a growing file. Each byte is read once, whatever is requested later. */
class LineIndex {
  private bytes = 0;
  private lines = 0;
  /** The start positions of the lines 1, 1 + step, 1 + 2 * step and so on. */
  private marks: number[] = [0];
  private step = 1;
  private readonly errorLines: number[] = [];
  private errorCount = 0;
  private open: Piece | null = null;
  private growing: Promise<void> | null = null;

  constructor(readonly maxNewBytes = MAX_NEW_BYTES) {}

  get readBytes(): number {
    return this.bytes;
  }

  /** Reads what the file has grown by. Two callers at once wait for one another. */
  async grow(file: FileHandle, size: number): Promise<LineFacts> {
    while (this.growing !== null) await this.growing;
    this.growing = this.read(file, size).finally(() => {
      this.growing = null;
    });
    await this.growing;
    return this.facts(size);
  }

  /** A place at or before the beginning of this line, and the line that begins there. */
  markBefore(line: number): { readonly offset: number; readonly line: number } {
    const at = Math.min(Math.floor((line - 1) / this.step), this.marks.length - 1);
    return { offset: this.marks[at]!, line: at * this.step + 1 };
  }

  private async read(file: FileHandle, size: number): Promise<void> {
    const most = this.bytes + this.maxNewBytes;
    this.open = null;
    for await (const piece of readPieces(file, this.bytes, size)) {
      if (piece.isOpen) this.open = piece;
      else this.take(piece);
      if (this.bytes >= most) return;
    }
  }

  private facts(size: number): LineFacts {
    const { open, errorLines, errorCount } = this;
    const total = this.lines + (open === null ? 0 : 1);
    const complete = open !== null || this.bytes >= size;
    const endsWithError = open !== null && isErrorLine(open.bytes);
    return {
      total,
      complete,
      errorLines:
        endsWithError && errorLines.length < MAX_ERROR_LINES ? [...errorLines, total] : [...errorLines],
      errorCount: errorCount + (endsWithError ? 1 : 0),
    };
  }

  private take({ start, bytes, end }: Piece): void {
    this.findErrors(bytes);
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1))
      this.endLine(start + at + 1);
    if (bytes.at(-1) !== NEWLINE) this.endLine(end);
    this.bytes = end;
  }

  private endLine(nextBegins: number): void {
    this.lines += 1;
    if (this.lines % this.step !== 0) return;
    this.marks.push(nextBegins);
    if (this.marks.length <= MAX_MARKS) return;
    this.marks = this.marks.filter((_, place) => place % 2 === 0);
    this.step *= 2;
  }

  private findErrors(bytes: Buffer): void {
    const text = bytes.toString("latin1");
    let line = this.lines + 1;
    let begins = 0;
    ERROR_HINTS.lastIndex = 0;
    for (let hint = ERROR_HINTS.exec(text); hint !== null; hint = ERROR_HINTS.exec(text)) {
      let ends = bytes.indexOf(NEWLINE, begins);
      while (ends >= 0 && ends < hint.index) {
        line += 1;
        begins = ends + 1;
        ends = bytes.indexOf(NEWLINE, begins);
      }
      const end = ends < 0 ? bytes.length : ends;
      if (isErrorLine(bytes.subarray(begins, end))) this.noteError(line);
      ERROR_HINTS.lastIndex = end;
    }
  }

  private noteError(line: number): void {
    this.errorCount += 1;
    if (this.errorLines.length < MAX_ERROR_LINES) this.errorLines.push(line);
  }
}

export function isErrorLine(bytes: Buffer): boolean {
  return looksLikeError(plainText(bytes.toString("utf8", 0, Math.min(bytes.length, MAX_JUDGED_BYTES))));
}

/** How many recently used indexes are kept. Each takes some hundred KB at most. */
const MAX_INDEXES = 32;

interface Kept {
  /** Another file under the same name has an index of its own. */
  readonly inode: number;
  readonly index: LineIndex;
}

const kept = new Map<string, Kept>();

/** An open file with what is known of its lines. */
export interface IndexedFile {
  readonly file: FileHandle;
  readonly size: number;
  readonly index: LineIndex;
  readonly facts: LineFacts;
}

/** Null if there is no file, because nothing was printed. */
export async function withLines<Answer>(
  path: string,
  use: (indexed: IndexedFile) => Promise<Answer>,
): Promise<Answer | null> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const { ino, size } = await file.stat();
    const index = indexFor(path, ino, size);
    return await use({ file, size, index, facts: await index.grow(file, size) });
  } finally {
    await file.close();
  }
}

function indexFor(path: string, inode: number, size: number): LineIndex {
  const before = kept.get(path);
  const isSame = before?.inode === inode && before.index.readBytes <= size;
  const index = isSame ? before.index : new LineIndex();
  kept.delete(path);
  kept.set(path, { inode, index });
  if (kept.size > MAX_INDEXES) kept.delete(kept.keys().next().value!);
  return index;
}
