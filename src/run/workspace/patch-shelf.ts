import { createReadStream } from "node:fs";
import { access, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { writeDurably } from "./durable-file.js";
import type { Checkpoint } from "./workspace.js";
import type { WorkspacePaths } from "./workspace-paths.js";

/**
 * Limit for a compressed patch. A larger one stays a file on the server that made it, so only that server can replay
 * it.
 */
export const MAX_SHELVED_BYTES = 16 * 1_024 * 1_024;

/** Keeps patches where every server finds them. */
export interface PatchShelf {
  putPatch(patch: {
    readonly runId: number;
    readonly diffHash: string;
    readonly bytes: Uint8Array;
  }): Promise<void>;
  readPatch(runId: number, diffHash: string): Promise<Uint8Array | null>;
}

/**
 * Stores a checkpoint's patch. Returns false if it is too large or the shelf fails; the checkpoint is still valid on
 * this server.
 */
export async function shelvePatch(
  shelf: PatchShelf,
  run: { readonly id: number; readonly folder: string },
  { diff_hash: diffHash, patch }: Checkpoint,
): Promise<boolean> {
  // The step changed nothing, so there is nothing to store.
  if (diffHash === null) return true;
  try {
    const bytes = await compressed(join(run.folder, patch));
    if (bytes === null) return false;
    await shelf.putPatch({ runId: run.id, diffHash, bytes });
    return true;
  } catch {
    return false;
  }
}

/** The compressed file; null if it is too large. */
async function compressed(file: string): Promise<Uint8Array | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  const source = createReadStream(file);
  const gzip = createGzip();
  source.once("error", (error) => gzip.destroy(error));
  for await (const chunk of source.pipe(gzip) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= MAX_SHELVED_BYTES) continue;
    source.destroy();
    return null;
  }
  return Buffer.concat(chunks);
}

/**
 * Restores patches that are missing here. With `afresh` it replaces existing ones too, since they may date from before
 * another server owned the run.
 */
export async function fetchPatches(
  shelf: PatchShelf,
  runId: number,
  paths: WorkspacePaths,
  checkpoints: readonly Checkpoint[],
  afresh: boolean,
): Promise<void> {
  for (const { diff_hash: diffHash, patch } of checkpoints) {
    const file = join(paths.run, patch);
    if (!afresh && (await isThere(file))) continue;
    if (diffHash === null) {
      await writeDurably(file, () => Promise.resolve());
      continue;
    }
    const bytes = await shelf.readPatch(runId, diffHash);
    if (bytes !== null) await unpack(bytes, file);
  }
}

async function unpack(bytes: Uint8Array, file: string): Promise<void> {
  await rm(file, { force: true });
  await writeDurably(file, async (handle) => {
    for await (const chunk of Readable.from([bytes]).pipe(createGunzip()) as AsyncIterable<Buffer>)
      await handle.appendFile(chunk);
  });
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
