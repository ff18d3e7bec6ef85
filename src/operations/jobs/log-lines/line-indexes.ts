import { type FileHandle, open } from "node:fs/promises";
import { type LineFacts, LineIndex } from "./line-index.js";

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
