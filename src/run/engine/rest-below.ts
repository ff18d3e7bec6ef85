import { DarumaError } from "../../core/errors/errors.js";
import { isRestingBelow } from "../../core/model/resting.js";
import type { RunStatus } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";
import type { GroupCommit } from "./group-commit.js";
import type { OwnedRun } from "./owned-run.js";
import type { RunHost } from "./run-host.js";

interface RestingEngine {
  readonly hosts: ReadonlyMap<number, RunHost>;
  readonly commits: Pick<GroupCommit, "settled" | "untaken">;
  retake(runId: number): Promise<OwnedRun>;
}

/** Whether a child run with this status waits for a person's decision. */
export function isAtRest(status: RunStatus): boolean {
  return status === "held" || status === "paused";
}

/**
 * Releases a run that waits only for child runs which themselves wait for a decision, like a run that is held itself.
 * The process that takes the decision about the child continues the run.
 */
export class RestBelow {
  /** The resting child run, by the job of the parent run that waits for it. */
  private readonly resting = new Map<number, number>();
  private under: Promise<void> = Promise.resolve();

  constructor(
    private readonly engine: RestingEngine,
    private readonly store: Pick<Store, "readRun">,
    /** Releases the runs. Resolves when others can take them. */
    private readonly letThemGo: (hosts: readonly RunHost[]) => Promise<void>,
  ) {}

  /** Notes a child run that rests. Null means that it is over, or that somebody continues it. */
  note({ runId, jobId }: { readonly runId: number; readonly jobId: number }, child: number | null): void {
    if (child === null) return void this.resting.delete(jobId);
    this.resting.set(jobId, child);
    const host = this.engine.hosts.get(runId);
    if (host !== undefined) this.consider(host);
  }

  /** Called when something of this run has changed. */
  consider(host: RunHost): void {
    if (this.resting.size === 0) return;
    const top = this.topOf(host);
    if (!this.rests(top)) return;
    this.under = this.under.then(() => this.letGo(top)).catch((error: unknown) => top.lose(error));
  }

  /** Resolves when no run is being released. */
  settled(): Promise<void> {
    return this.under;
  }

  private topOf(host: RunHost): RunHost {
    const { parent } = host.run;
    const above = parent === null ? undefined : this.engine.hosts.get(parent.run_id);
    return above === undefined ? host : this.topOf(above);
  }

  private rests({ run }: RunHost): boolean {
    return isRestingBelow(run, ({ id }) => {
      if (this.resting.has(id)) return true;
      const child = [...this.engine.hosts.values()].find((each) => each.run.parent?.job_id === id);
      return child !== undefined && this.rests(child);
    });
  }

  private async letGo(top: RunHost): Promise<void> {
    const { hosts, commits } = this.engine;
    await commits.settled();
    const tree = [...hosts.values()].filter((each) => this.topOf(each) === top);
    const isWritten = tree.every((each) => !each.hasPending && !commits.untaken.has(each));
    if (hosts.get(top.run.id) !== top || !isWritten || !this.rests(top)) return;
    const children = tree.flatMap(({ run }) =>
      [...run.running].flatMap(({ id }) => this.resting.get(id) ?? []),
    );
    await this.letThemGo(tree);
    const rows = await Promise.all(children.map((id) => this.store.readRun(id)));
    if (rows.every((row) => row === null || isAtRest(row.status))) return top.finish();
    // Somebody decided about one of them before the lease was released, and was told that this process continues.
    const taken = await this.engine.retake(top.run.id).catch(unlessOwned);
    if (taken === null) return top.finish();
    taken.ended.then(
      () => top.finish(),
      (error: unknown) => top.lose(error),
    );
  }
}

function unlessOwned(error: unknown): null {
  if (error instanceof DarumaError && error.code === "RUN_OWNED") return null;
  throw error;
}
