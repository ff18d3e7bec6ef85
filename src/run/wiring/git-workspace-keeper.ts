import { isAbsolute, resolve } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import type { AttemptName, KeptFiles, KeptLeftover } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";
import { lastCommit, type RunCheckpoint } from "../../core/model/workspace-state.js";
import { messageOf } from "../../core/text/message-of.js";
import type {
  BuiltWorkspace,
  NewWorkspace,
  OpenedWorkspace,
  SetAside,
  TakenOver,
  UnwantedLeftover,
  WantedWorkspace,
  WorkspaceKeeper,
} from "../engine/workspace/workspace-keeper.js";
import type { Replay } from "../workspace/rebuild.js";
import type { Workspaces } from "../workspace/workspace.js";

/** The workspaces of an engine's runs, in git. For one run everything happens in the order in which it was asked for. */
export class GitWorkspaceKeeper implements WorkspaceKeeper {
  private readonly lastOf = new Map<number, Promise<unknown>>();

  constructor(
    private readonly workspaces: Workspaces,
    private readonly host: string,
  ) {}

  open({ runId, repo, ref, folder }: NewWorkspace): Promise<OpenedWorkspace> {
    return this.inTurn(runId, async () => {
      const from = { repo: repositoryOf(repo, folder), ref };
      await this.workspaces.remove(runId);
      const workspace = await this.workspaces.create(runId, from);
      const { commit, base, path, home } = workspace;
      const notes = await this.workspaces.notes(workspace);
      return {
        ...{ commit, path, home, host: this.host },
        ...(base === commit ? {} : { base }),
        ...(notes.length === 0 ? {} : { notes }),
      };
    });
  }

  takeUp(run: Run): Promise<TakenOver | null> {
    const { path, home } = run.workspace;
    return this.inTurn(run.id, async () => {
      if ((await this.workspaces.home(run.id)) !== (home?.home ?? "")) return this.takeOver(run);
      await this.follow(run.id, path);
      return null;
    });
  }

  private async takeOver(run: Run): Promise<TakenOver> {
    const replay = run.workspace.checkpoints.filter(({ superseded }) => !superseded);
    try {
      const built = await this.workspaces.takeOver(run.id, replayOf(run, replay));
      const { path, home, moved = [] } = built;
      return { path, home, host: this.host, moved };
    } catch (error) {
      const { path, home } = run.workspace;
      const place = `${path ?? "another folder"}${home === null ? "" : ` on ${home.host}`}`;
      throw new DarumaError(
        "WORKSPACE_ELSEWHERE",
        `the workspace of run ${run.id} is in ${place}, and cannot be built here: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }

  rebuild(
    { run, rebuild, replay, leftover, goesBack }: WantedWorkspace,
    signal: AbortSignal,
  ): Promise<BuiltWorkspace> {
    const { path, checkpoints } = run.workspace;
    const wanted = new Set(replay);
    const replayed = checkpoints.filter(({ ordinal }) => wanted.has(ordinal));
    const from = replayOf(run, replayed);
    const before = lastCommit(run);
    return this.inTurn(run.id, async () => {
      if (signal.aborted) return GIVEN_UP;
      // The pointer may lag behind the log; what it does not name would be cleared away.
      await this.follow(run.id, path);
      const partial = leftover === null ? null : await this.keep(run, leftover).catch(() => null);
      const others = leftover === null ? await this.keepOthers(run, rebuild).catch(() => null) : null;
      const candidate = await this.workspaces.rebuild(run.id, from);
      const { moved = [] } = candidate;
      const last = replayed.at(-1);
      const tip = moved.find(({ ordinal }) => ordinal === last?.ordinal)?.commit ?? last?.commit;
      const previous = goesBack
        ? await this.workspaces
            .keepDifference(run.id, { rebuild, from: tip ?? candidate.base, to: before ?? candidate.base })
            .catch(() => null)
        : null;
      if (!signal.aborted) return { ok: true, path: candidate.path, moved, partial, others, previous };
      await this.workspaces.discard(candidate);
      return GIVEN_UP;
    });
  }

  setAside({ run, path, job, attempt }: UnwantedLeftover): Promise<SetAside> {
    const since = lastCommit(run) ?? "";
    return this.inTurn(run.id, async () => {
      const workspace = await this.workspaces.find(run.id, path);
      if (workspace === null) return { ok: false, message: `the workspace at ${path} is gone` };
      return { ok: true, ...(await this.workspaces.setAside(workspace, { since, job, attempt })) };
    });
  }

  promote({ runId, path }: { readonly runId: number; readonly path: string }): Promise<void> {
    return this.inTurn(runId, () => this.follow(runId, path));
  }

  discard({ runId, path }: { readonly runId: number; readonly path: string | null }): Promise<void> {
    return this.inTurn(runId, async () => {
      const candidate = path === null ? null : await this.workspaces.find(runId, path);
      if (candidate !== null) await this.workspaces.discard(candidate);
    });
  }

  /** Null where there is nothing to keep. A tree that is beyond reading is no reason not to replace it. */
  private async keep(run: Run, { job, attempt }: AttemptName): Promise<KeptLeftover | null> {
    const { path } = run.workspace;
    const workspace = path === null ? null : await this.workspaces.find(run.id, path);
    if (workspace === null) return null;
    const of = { since: lastCommit(run) ?? "", job, attempt };
    const { patch, files } = await this.workspaces.keepLeftovers(workspace, of);
    return patch === null ? null : { job, attempt, patch, files };
  }

  /** What somebody has changed there since the last attempt; where that had failed, its own changes are kept already. */
  private async keepOthers(run: Run, rebuild: number): Promise<KeptFiles | null> {
    const { path, leftover } = run.workspace;
    const workspace = path === null ? null : await this.workspaces.find(run.id, path);
    if (workspace === null) return null;
    const known = leftover?.job.error?.diff_hash ?? null;
    const { patch, files } = await this.workspaces.keepOthers(workspace, {
      ...{ since: lastCommit(run) ?? "", rebuild, known },
    });
    return patch === null ? null : { patch, files };
  }

  /** The pointer moves to where the log says that the run works, if that is there. */
  private async follow(runId: number, path: string | null): Promise<void> {
    const active = path === null ? null : await this.workspaces.find(runId, path);
    if (active !== null) await this.workspaces.promote(active);
  }

  private async inTurn<Result>(runId: number, work: () => Promise<Result>): Promise<Result> {
    const before = this.lastOf.get(runId) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.lastOf.set(runId, mine);
    try {
      return await mine;
    } finally {
      if (this.lastOf.get(runId) === mine) this.lastOf.delete(runId);
    }
  }
}

const GIVEN_UP: BuiltWorkspace = { ok: false, message: "it was given up" };

function replayOf(run: Run, checkpoints: readonly RunCheckpoint[]): Replay & { readonly repo: string } {
  const { commit, base } = run.workspace;
  const repo = repositoryOf(run.definition.workspace?.repo ?? ".", run.folder);
  return { repo, commit: commit ?? "", ...(base === null ? {} : { base }), checkpoints };
}

function repositoryOf(repo: string, folder: string): string {
  if (isAbsolute(repo)) return repo;
  if (folder !== "") return resolve(folder, repo);
  throw new DarumaError(
    "WORKSPACE_REPO_NOT_FOUND",
    `workspace.repo is \`${repo}\`, but this run has no folder to resolve it against`,
    { hint: "Give workspace.repo as an absolute path on the server, or start the run with a folder." },
  );
}
