import type { Command } from "../../../core/model/commands.js";
import type { Event } from "../../../core/model/events.js";
import type { Run } from "../../../core/model/run.js";
import { messageOf } from "../../../core/text/message-of.js";
import type { Clock } from "../clock.js";
import type { BuiltWorkspace, SetAside, WorkspaceKeeper } from "./workspace-keeper.js";

type RebuildStarted = Extract<Event, { type: "rebuild.started" }>;
type Discarded = Extract<Event, { type: "workspace.discarded" }>;

/** Workspaces that are being rebuilt, one per run, and what happens to them afterwards. */
export class RebuildsUnderWay {
  private readonly settling = new Map<number, Promise<void>>();
  private readonly byRun = new Map<
    number,
    { readonly id: number; readonly controller: AbortController; readonly done: Promise<void> }
  >();

  constructor(
    private readonly keeper: WorkspaceKeeper,
    private readonly clock: Clock,
  ) {}

  /** Starts a rebuild. Its result is given to the run, which ignores it if it was discarded meanwhile. */
  begin(
    run: Run,
    { rebuild, replay, leftover = null, barrier }: RebuildStarted,
    post: (command: Command) => void,
  ): void {
    const controller = new AbortController();
    const startedAt = this.clock.now();
    const done = this.keeper
      .rebuild({ run, rebuild, replay, leftover, goesBack: barrier !== null }, controller.signal)
      .catch(failed)
      .then((built) => {
        if (this.byRun.get(run.id)?.controller === controller) this.byRun.delete(run.id);
        // A stopping engine leaves it to the next one.
        if (controller.signal.reason === "stopped") return;
        const durationMs = this.clock.now() - startedAt;
        const made = built.ok ? { ...built, message: "" } : { ...built, path: null };
        post({ type: "rebuild.finish", rebuild, ...made, duration_ms: durationMs });
      });
    this.byRun.set(run.id, { id: rebuild, controller, done });
  }

  discard(runId: number, { rebuild, path }: Discarded): void {
    const underWay = this.byRun.get(runId);
    if (underWay?.id === rebuild) underWay.controller.abort("discarded");
    this.settle(runId, this.keeper.discard({ runId, rebuild, path }));
  }

  promote(runId: number, path: string): void {
    this.settle(runId, this.keeper.promote({ runId, path }));
  }

  /** Resolves when nothing is being built for the run any more. */
  async release(runId: number): Promise<void> {
    const underWay = this.byRun.get(runId);
    underWay?.controller.abort("stopped");
    await underWay?.done;
    await this.settling.get(runId);
  }

  /** Executes follow-up work. If it fails now, it is repeated before the next rebuild, or by the run's next owner. */
  private settle(runId: number, work: Promise<void>): void {
    const before = this.settling.get(runId);
    const all: Promise<void> = Promise.allSettled([before, work]).then(() => {
      if (this.settling.get(runId) === all) this.settling.delete(runId);
    });
    this.settling.set(runId, all);
  }
}

function failed(error: unknown): BuiltWorkspace {
  return { ok: false, message: messageOf(error) };
}

type SetAsideStarted = Extract<Event, { type: "set_aside.started" }>;

/**
 * Leftovers of attempts that are being set aside, one per run. This is never interrupted, because the tree would be
 * half restored.
 */
export class SetAsidesUnderWay {
  private readonly byRun = new Map<number, Promise<void>>();
  private readonly released = new Set<Promise<void>>();

  constructor(
    private readonly keeper: WorkspaceKeeper,
    private readonly clock: Clock,
  ) {}

  begin(run: Run, { job, attempt, rebuild }: SetAsideStarted, post: (command: Command) => void): void {
    const startedAt = this.clock.now();
    const path = rebuild === null ? run.workspace.path : (run.workspace.rebuild?.path ?? null);
    const done: Promise<void> = this.setAside(run, { job, attempt, path }).then((result) => {
      if (this.byRun.get(run.id) === done) this.byRun.delete(run.id);
      // A stopping engine leaves it to the next one, which finds it done.
      if (this.released.delete(done)) return;
      const durationMs = this.clock.now() - startedAt;
      const ended = result.ok ? { ...result, message: "" } : { ...result, patch: null, files: 0 };
      post({ type: "set_aside.finish", job, attempt, ...ended, duration_ms: durationMs });
    });
    this.byRun.set(run.id, done);
  }

  /** Resolves when nothing is being set aside for the run any more. */
  async release(runId: number): Promise<void> {
    const underWay = this.byRun.get(runId);
    if (underWay === undefined) return;
    this.released.add(underWay);
    await underWay;
  }

  private async setAside(
    run: Run,
    { job, attempt, path }: { job: number; attempt: number; path: string | null },
  ): Promise<SetAside> {
    if (path === null) return { ok: false, message: "the workspace is gone" };
    return this.keeper
      .setAside({ run, job, attempt, path })
      .catch((error: unknown) => ({ ok: false, message: messageOf(error) }));
  }
}
