import { resolve } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import type { GitCall, GitProgram } from "./git-program.js";
import { isFolder } from "./pointer.js";

/** The user's repository. It is only read, except for the branch that the user asks for. */
export interface SourceRepository {
  /** The absolute path that the user gave. */
  readonly repo: string;
  /** The folder of HEAD; a linked worktree has its own. */
  readonly headFolder: string;
  /** The folder of objects and refs, even if `repo` is a linked worktree or a folder within the repository. */
  readonly gitFolder: string;
}

/**
 * Finds the user's repository. Only here git obeys the user's settings: it checks `safe.directory` and refuses a
 * repository of another user that is not listed. Later calls name the folders, so git does not check again.
 */
export async function openSource(git: GitProgram, repo: string): Promise<SourceRepository> {
  const path = resolve(repo);
  if (!(await isFolder(path)))
    throw new DarumaError("WORKSPACE_REPO_NOT_FOUND", `there is no folder ${path} with a git repository`);
  const folder = async (which: string, call: GitCall): Promise<string> => {
    const { status, stdout, stderr } = await git.attempt(
      ["rev-parse", "--path-format=absolute", which],
      call,
    );
    if (status !== 0) throw new DarumaError("WORKSPACE_REPO_NOT_FOUND", `${path}: ${firstLine(stderr)}`);
    return stdout.toString("utf8").replace(/\n$/, "");
  };
  const headFolder = await folder("--git-dir", { cwd: path, asUser: true });
  const gitFolder = await folder("--git-common-dir", { cwd: path, env: { GIT_DIR: headFolder } });
  return { repo: path, headFolder, gitFolder };
}

/** The root of the repository's working tree; null if it has none. */
export async function findCheckout(git: GitProgram, { repo }: SourceRepository): Promise<string | null> {
  const args = ["rev-parse", "--path-format=absolute", "--show-toplevel"];
  const { status, stdout } = await git.attempt(args, { cwd: repo, asUser: true });
  return status === 0 ? stdout.toString("utf8").replace(/\n$/, "") : null;
}

/** Options for reading the repository with only its own settings, none of which runs a program. */
export function inSource({ headFolder }: SourceRepository): GitCall {
  return { cwd: headFolder, env: { GIT_DIR: headFolder } };
}

/** The commit that a branch, tag or expression such as `HEAD~2` names now. */
export async function resolveCommit(git: GitProgram, source: SourceRepository, ref: string): Promise<string> {
  const args = ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`];
  // A ref cannot begin with a dash; git would read it as an option.
  const isOption = ref.startsWith("-") || ref === "";
  const result = isOption ? null : await git.attempt(args, inSource(source));
  if (result?.status === 0) return result.stdout.toString("utf8").trim();
  if (!isOption) await refuseMissing(git, source, ref);
  throw new DarumaError("WORKSPACE_REF_NOT_FOUND", `${source.repo} has no commit \`${ref}\``);
}

/** Throws if the ref exists but its target is missing. A commit id is no ref: git accepts any well-formed id. */
async function refuseMissing(git: GitProgram, source: SourceRepository, ref: string): Promise<void> {
  const named = await git.attempt(["rev-parse", "--verify", "--quiet", ref], inSource(source));
  const id = named.stdout.toString("utf8").trim();
  if (named.status !== 0 || id === ref.toLowerCase()) return;
  if ((await git.attempt(["cat-file", "-e", id], inSource(source))).status === 0) return;
  throw new DarumaError("WORKSPACE_OBJECTS_MISSING", `${source.repo} lacks ${id}, which \`${ref}\` names`);
}

/** The user's name and e-mail in that repository, so that a step can commit in its own tree. */
export async function readIdentity(
  git: GitProgram,
  source: SourceRepository,
): Promise<ReadonlyMap<string, string>> {
  const args = ["config", "-z", "--get-regexp", "^user\\.(name|email)$"];
  const { stdout } = await git.attempt(args, { ...inSource(source), asUser: true });
  const entries = stdout.toString("utf8").split("\0").filter(Boolean);
  return new Map(entries.map((entry) => entry.split("\n", 2) as [string, string]));
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
