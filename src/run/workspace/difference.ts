import { createHash } from "node:crypto";
import { DarumaError } from "../../core/errors/errors.js";
import { writeDurably } from "./durable-file.js";
import type { GitProgram } from "./git-program.js";
import { splitAtNul } from "./split-at-nul.js";

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
