import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import type { GitProgram } from "./git-program.js";
import { inSource, type SourceRepository } from "./source-repository.js";
import type { WorkspacePaths } from "./workspace-paths.js";

/** Mode of the files that move objects to the user's repository. */
const PRIVATE_FILE = 0o600;
const PACK = "result.pack";

export interface NewBranch {
  readonly name: string;
  readonly commit: string;
  /** The commit in the user's repository that the branch starts from. Its history exists there already. */
  readonly base: string;
}

/**
 * Creates the branch and nothing else: no checkout, FETCH_HEAD, hook or tag. The null id as the old value makes git
 * itself refuse an existing branch, even one made a moment ago.
 */
export async function createBranch(
  git: GitProgram,
  paths: WorkspacePaths,
  source: SourceRepository,
  { name, commit, base }: NewBranch,
): Promise<void> {
  const call = inSource(source);
  const ref = `refs/heads/${name}`;
  const isValid = !name.startsWith("-") && (await git.attempt(["check-ref-format", ref], call)).status === 0;
  if (!isValid) throw new DarumaError("WORKSPACE_BRANCH_INVALID", `invalid branch name \`${name}\``);
  const exists = await git.attempt(["show-ref", "--verify", "--quiet", ref], call);
  if (exists.status === 0) throw branchExists(source, name);
  await bringHome(git, paths, source, { commit, base });
  const nothing = "0".repeat(commit.length);
  const made = await git.attempt(["update-ref", "-m", "daruma apply", ref, commit, nothing], call);
  if (made.status !== 0) throw branchExists(source, name, made.stderr.split("\n", 1)[0]);
}

/** Copies the objects as a pack. `git fetch` would obey the repository's settings of addresses and programs. */
async function bringHome(
  git: GitProgram,
  paths: WorkspacePaths,
  source: SourceRepository,
  { commit, base }: { readonly commit: string; readonly base: string },
): Promise<void> {
  const file = join(paths.home, PACK);
  await rm(file, { force: true });
  const pack = await open(file, "wx+", PRIVATE_FILE);
  try {
    await git.run(["pack-objects", "--quiet", "--revs", "--stdout"], {
      cwd: paths.store,
      env: { GIT_DIR: paths.store },
      input: `${commit}\n^${base}\n`,
      outputTo: pack.fd,
    });
  } finally {
    await pack.close();
  }
  const written = await open(file, "r");
  try {
    await git.run(["index-pack", "--stdin"], { ...inSource(source), inputFrom: written.fd });
  } finally {
    await written.close();
    await rm(file, { force: true });
  }
}

function branchExists(source: SourceRepository, name: string, reason = "it exists"): DarumaError {
  return new DarumaError(
    "WORKSPACE_BRANCH_EXISTS",
    `${source.repo}: the branch \`${name}\` cannot be made: ${reason}`,
  );
}
