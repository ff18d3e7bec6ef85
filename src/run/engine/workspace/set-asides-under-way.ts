import type { Command } from "../../../core/model/commands.js";
import type { Event } from "../../../core/model/events.js";
import type { Run } from "../../../core/model/run.js";
import { messageOf } from "../../../core/text/message-of.js";
import type { Clock } from "../clock.js";
import type { SetAside, WorkspaceKeeper } from "./workspace-keeper.js";

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
