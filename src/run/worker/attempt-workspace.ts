import { posix, resolve } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import { DEFAULT_MAX_LOG_BYTES } from "../../core/model/definition.js";
import type { CheckpointFacts } from "../../core/model/events.js";
import type { FailureFacts } from "../../core/model/failure.js";
import { withRemark } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import type { AssignedWorkspace, Assignment } from "../worker.js";
import type { CheckpointInput } from "../workspace/checkpoint.js";
import { REPOSITORY_VARIABLES } from "../workspace/git-program.js";
import { stepEnvironment } from "../workspace/tree-index.js";
import type { Workspace, Workspaces } from "../workspace/workspace.js";
import { FileProgress } from "./file-progress.js";

/** The exit code of a shell that does not find a command or a script. */
const NOT_FOUND = 127;
/** More words than any command line that a person writes. */
const MAX_WORDS = 100;
const SHORT_COMMIT_CHARS = 8;

/** Whether the failure looks like a missing command. */
function lacksProgram({ exitCode, errno }: FailureFacts): boolean {
  return exitCode === NOT_FOUND || errno === "ENOENT";
}

/** The words of the step's command that may be files of the repository, as paths from its root. */
function filesNamedIn({ action, cwd }: Pick<Assignment, "action" | "cwd">): string[] {
  const words = wordsOf(action.exec).slice(0, MAX_WORDS);
  const paths = words.map((word) => posix.normalize(posix.join(cwd, word)));
  return [...new Set(paths)].filter(
    (path) => path !== "../worker" && !path.startsWith("..") && !path.startsWith("/"),
  );
}

function wordsOf(exec: Json | undefined): string[] {
  if (Array.isArray(exec)) return exec.flatMap(wordsOf);
  return typeof exec === "string" ? (exec.match(/[\w@%+.,:/-]+/g) ?? []) : [];
}

/** Adds to the failure why the workspace does not have such a file. */
function withUncommitted(facts: FailureFacts, files: readonly string[], commit: string): FailureFacts {
  if (files.length === 0) return facts;
  const [are, them] = files.length === 1 ? ["is", "it"] : ["are", "them"];
  const why = `; ${files.join(", ")} ${are} in your working tree, but not in commit ${commit.slice(0, SHORT_COMMIT_CHARS)}, of which the workspace was made: commit ${them} and start a new run`;
  return withRemark(facts, why);
}

/** How many changed files a failure names. No retry context has room for more. */
const MAX_FAILURE_FILES = 50;

type Left = Pick<FailureFacts, "diffHash" | "changedFiles" | "patch">;

type Environment = { readonly [name: string]: string };

/** The run's workspace from the point of view of one attempt. */
export class AttemptWorkspace {
  private constructor(
    private readonly workspaces: Workspaces,
    private readonly workspace: Workspace,
    private readonly assigned: AssignedWorkspace,
    private readonly files: FileProgress | null,
  ) {}

  /** Finds the workspace. Rejects if it does not exist. */
  static async find(
    workspaces: Workspaces | null,
    { runId }: Pick<Assignment, "runId">,
    assigned: AssignedWorkspace,
  ): Promise<AttemptWorkspace> {
    const found = await workspaces?.find(runId, assigned.path);
    if (!found)
      throw new DarumaError(
        "WORKSPACE_NOT_FOUND",
        `the workspace of run ${runId} is no longer at ${assigned.path}`,
      );
    const files = assigned.watchFiles ? await FileProgress.begin(found.path) : null;
    return new AttemptWorkspace(workspaces!, found, assigned, files);
  }

  /** Checks whether files have changed since the last check; null if that is no sign of life. */
  get progress(): (() => Promise<boolean>) | null {
    const { files } = this;
    return files === null ? null : () => files.hasChanged();
  }

  folder(cwd: string): string {
    return resolve(this.workspace.path, cwd);
  }

  /** The environment that a step inherits, without anything that would lead its git to another repository. */
  environment(inherited: Environment): Environment {
    const env: { [name: string]: string } = { ...inherited, ...stepEnvironment(this.workspace) };
    for (const name of REPOSITORY_VARIABLES) delete env[name];
    return env;
  }

  get mayFailYet(): boolean {
    return this.assigned.mayFailYet === true;
  }

  /** The changes of a failed attempt. A tree that git cannot read counts as unchanged, because it is stuck, too. */
  async changes({ jobId: job, attempt, maxLogBytes }: Assignment): Promise<Left> {
    const { since } = this.assigned;
    try {
      const of = { since, job, attempt, maxBytes: maxLogBytes ?? DEFAULT_MAX_LOG_BYTES };
      const { diffHash, changedFiles, patch } = await this.workspaces.keepFailed(this.workspace, of);
      const left = { diffHash, changedFiles: changedFiles.slice(0, MAX_FAILURE_FILES) };
      return patch === undefined ? left : { ...left, patch };
    } catch {
      return { diffHash: null };
    }
  }

  /** Adds a hint if a missing file of the command is one that the user has not committed. */
  async explained(facts: FailureFacts, assignment: Assignment): Promise<FailureFacts> {
    if (!lacksProgram(facts)) return facts;
    const { commit } = this.workspace;
    const files = await this.workspaces.uncommitted(this.workspace, filesNamedIn(assignment)).catch(() => []);
    return withUncommitted(facts, files, commit);
  }

  /** Makes a checkpoint; null if the attempt leaves none. */
  async checkpoint(of: Omit<CheckpointInput, keyof AssignedWorkspace>): Promise<CheckpointFacts | null> {
    const { ordinal, index, since, leavesNoCheckpoint } = this.assigned;
    if (leavesNoCheckpoint) return null;
    const input = { ...of, ordinal, index, since };
    const made = await this.workspaces.checkpoint(this.workspace, input);
    const { commit, diff_hash: diffHash, changedFiles, patch, stored = false } = made;
    return { commit, diff_hash: diffHash, changed_files: changedFiles, patch, stored };
  }
}
