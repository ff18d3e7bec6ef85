import { createHash } from "node:crypto";
import { constants, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { FileFacts } from "../../core/model/events.js";

/** A smaller file is read at once, because a stream costs more. */
const SMALL_FILE_BYTES = 256 * 1024;

/**
 * Describes the file. Throws the system's error. Nothing is read after `signal` is aborted, so there is no hash then.
 */
export async function contentOf(
  file: string,
  signal?: AbortSignal,
): Promise<Pick<FileFacts, "bytes" | "modified_at" | "sha256">> {
  const found = statSync(file);
  // A folder has no content to hash, and a pipe or a device may never end.
  const bytes = found.isFile() ? found.size : null;
  const sha256 = bytes === null ? null : await hashOf(file, bytes, signal);
  return { bytes, modified_at: Math.round(found.mtimeMs), sha256 };
}

/** Hashes as many bytes as the file had before, because it may still be growing. Null if it was aborted. */
async function hashOf(file: string, bytes: number, signal: AbortSignal | undefined): Promise<string | null> {
  // Does not wait for a writer if a pipe has replaced the file.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const hash = createHash("sha256");
  try {
    if (bytes > SMALL_FILE_BYTES)
      await pipeline(
        handle.createReadStream({ end: bytes - 1, autoClose: false }),
        hash,
        signal === undefined ? {} : { signal },
      );
    else hash.update(await readStart(handle, bytes));
  } catch (error) {
    if (signal?.aborted === true) return null;
    throw error;
  } finally {
    await handle.close();
  }
  return hash.digest("hex");
}

async function readStart(handle: FileHandle, bytes: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(bytes);
  let read = 0;
  while (read < bytes) {
    const { bytesRead } = await handle.read(buffer, read, bytes - read, read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}
