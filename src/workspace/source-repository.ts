import { resolve } from "node:path";
import { DarumaError } from "../core/errors.js";
import type { GitProgram } from "./git-program.js";
import { isFolder } from "./pointer.js";

/** The user's repository. Read only, but for the branch that the user asks for. */
export interface SourceRepository {
  /** As the user named it, absolute. */
  readonly repo: string;
  /** Where its objects and refs are, also for a linked worktree or a folder within the repository. */
  readonly gitFolder: string;
}

export async function openSource(git: GitProgram, repo: string): Promise<SourceRepository> {
  const path = resolve(repo);
  if (!(await isFolder(path)))
    throw new DarumaError("WORKSPACE_REPO_NOT_FOUND", `there is no folder ${path} with a git repository`);
  const args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
  const { status, stdout, stderr } = await git.attempt(args, { cwd: path, asUser: true });
  if (status !== 0) throw new DarumaError("WORKSPACE_REPO_NOT_FOUND", `${path}: ${firstLine(stderr)}`);
  return { repo: path, gitFolder: stdout.toString("utf8").replace(/\n$/, "") };
}

/** The commit that a branch, tag or expression such as `HEAD~2` names now. */
export async function resolveCommit(git: GitProgram, source: SourceRepository, ref: string): Promise<string> {
  const args = ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`];
  // A ref cannot begin with a dash; what does would be read as an option.
  const isOption = ref.startsWith("-") || ref === "";
  const result = isOption ? null : await git.attempt(args, { cwd: source.repo, asUser: true });
  if (result?.status === 0) return result.stdout.toString("utf8").trim();
  throw new DarumaError("WORKSPACE_REF_NOT_FOUND", `${source.repo} has no commit \`${ref}\``);
}

/** Name and e-mail that the user commits with there, so that a step can commit in its own tree. */
export async function readIdentity(
  git: GitProgram,
  source: SourceRepository,
): Promise<ReadonlyMap<string, string>> {
  const args = ["config", "-z", "--get-regexp", "^user\\.(name|email)$"];
  const { stdout } = await git.attempt(args, { cwd: source.repo, asUser: true });
  const entries = stdout.toString("utf8").split("\0").filter(Boolean);
  return new Map(entries.map((entry) => entry.split("\n", 2) as [string, string]));
}

/**
 * Makes the branch, and nothing else: no checkout, no FETCH_HEAD, no hook, no tag. The null id as the old value lets
 * git itself refuse a branch that exists, also one that was made a moment ago.
 */
export async function createBranch(
  git: GitProgram,
  source: SourceRepository,
  branch: { readonly name: string; readonly commit: string; readonly store: string },
): Promise<void> {
  const call = { cwd: source.repo, asUser: true };
  const { name, commit, store } = branch;
  const ref = `refs/heads/${name}`;
  const isValid = !name.startsWith("-") && (await git.attempt(["check-ref-format", ref], call)).status === 0;
  if (!isValid) throw new DarumaError("WORKSPACE_BRANCH_INVALID", `\`${name}\` cannot be a branch's name`);
  const exists = await git.attempt(["show-ref", "--verify", "--quiet", ref], call);
  if (exists.status === 0) throw branchExists(source, name);
  const quietly = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
  await git.run(["fetch", ...quietly, "--", store, commit], call);
  const nothing = "0".repeat(commit.length);
  const made = await git.attempt(["update-ref", "-m", "daruma apply", ref, commit, nothing], call);
  if (made.status !== 0) throw branchExists(source, name, firstLine(made.stderr));
}

function branchExists(source: SourceRepository, name: string, reason = "it exists"): DarumaError {
  return new DarumaError(
    "WORKSPACE_BRANCH_EXISTS",
    `${source.repo}: the branch \`${name}\` cannot be made: ${reason}`,
  );
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
