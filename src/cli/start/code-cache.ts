import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

const FILE_MODE = 0o600;
const ENDING = ".code";
const DIGEST_BYTES = 32;
/** How many files are kept, of all versions, kinds of commands and parts of the program. Each takes 1 to 2 MB. */
const MAX_FILES = 16;

/**
 * The code that V8 compiled last time. Null if it is missing, belongs to another user, or is damaged (a power failure
 * leaves zeros).
 */
export function readCompiled(folder: string, name: string): Buffer | null {
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = openSync(join(folder, name + ENDING), flags);
    try {
      const stats = fstatSync(file);
      if (!stats.isFile() || stats.uid !== process.getuid?.()) return null;
      const bytes = readFileSync(file);
      const compiled = bytes.subarray(DIGEST_BYTES);
      return digestOf(compiled).equals(bytes.subarray(0, DIGEST_BYTES)) ? compiled : null;
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/**
 * Saves compiled code. If two processes write at once, one of them wins completely. If saving fails, the code is
 * compiled again next time.
 */
export function keepCompiled(folder: string, name: string, compiled: Buffer): void {
  const unfinished = join(folder, `${name}.${process.pid}.new`);
  try {
    writeFileSync(unfinished, Buffer.concat([digestOf(compiled), compiled]), { mode: FILE_MODE, flag: "wx" });
    renameSync(unfinished, join(folder, name + ENDING));
    removeOldest(folder);
  } catch {
    rmSync(unfinished, { force: true });
  }
}

function removeOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  const newestFirst = files
    .map((file) => ({ file, writtenAt: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.writtenAt - one.writtenAt);
  for (const { file } of newestFirst.slice(MAX_FILES)) rmSync(file, { force: true });
}

function digestOf(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
