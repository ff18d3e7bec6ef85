import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { DarumaError } from "../../core/errors/errors.js";
import { writeDurably } from "./durable-file.js";
import type { GitProgram } from "./git-program.js";
import { splitAtNul } from "./split-at-nul.js";
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

/** `git apply` refuses a patch of 1 GiB and more. */
const MAX_PATCH_BYTES = 1_023 * 1_024 * 1_024;

export interface Difference {
  /** The hash of the difference; null if there is none. */
  readonly hash: string | null;
  readonly changedFiles: readonly string[];
}

/** Two commits or trees of the store to compare. */
export interface Ends {
  readonly store: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Reads what differs. The hash covers the names, modes and contents of changed files, not the text of a patch: it is
 * the same for every version of git, and touching a file does not change it.
 */
export async function readDifference(git: GitProgram, ends: Ends): Promise<Difference> {
  const { store, from, to } = ends;
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to];
  const raw = await git.run(args, { cwd: store, env: { GIT_DIR: store } });
  if (raw.length === 0) return { hash: null, changedFiles: [] };
  // Entries alternate: what happened to a file, then its path.
  const paths = splitAtNul(raw).filter((_part, place) => place % 2 === 1);
  return {
    hash: createHash("sha256").update(raw).digest("hex"),
    changedFiles: paths.map((path) => path.toString("utf8")),
  };
}

/** Writes one complete patch for `git apply`, with binary files, modes, links, renames and empty files. */
export async function writePatch(
  git: GitProgram,
  ends: Ends,
  file: string,
  maxBytes = MAX_PATCH_BYTES,
): Promise<void> {
  const { store, from, to } = ends;
  const form = ["--binary", "--full-index", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color"];
  const prefixes = ["--src-prefix=a/", "--dst-prefix=b/"];
  const args = ["diff-tree", "-r", "-p", ...form, ...prefixes, from, to];
  await writeDurably(file, async (handle) => {
    await git.run(args, { cwd: store, env: { GIT_DIR: store }, outputTo: handle.fd });
    const { size } = await handle.stat();
    if (size > maxBytes)
      throw new DarumaError(
        "WORKSPACE_PATCH_TOO_LARGE",
        `the step changed so much that its patch has ${size} bytes; the limit is ${maxBytes}`,
      );
  });
}
