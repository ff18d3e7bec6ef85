import { replay } from "../../src/core/decide/decision.js";
import type { LoggedEvent } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/make-run.js";
import type { Run } from "../../src/core/model/run.js";
import { loadRun, readDefinition } from "../../src/run/engine/load-run.js";
import type { Store } from "../../src/store/store.js";
import { snapshotRun } from "../support/run-snapshot.js";

/** Looks at a run now and then. What is new in its log is folded into what was seen before, whatever snapshots there are. */
export class Onlooker {
  private run: Run | null = null;
  private seq = 0;

  constructor(
    private readonly store: Store,
    private readonly runId: number,
  ) {}

  /** The run as it is now, to be read only. */
  async look(): Promise<Run> {
    const log = await this.store.readEvents(this.runId, { afterSeq: this.seq });
    this.run ??= await this.meet(log[0]!);
    replay(this.run, log);
    this.seq = log.at(-1)?.seq ?? this.seq;
    return this.run;
  }

  /** What an engine makes of a snapshot at this moment must be what the log alone says. */
  async compareWithLoaded(): Promise<void> {
    if ((await this.store.readSnapshot(this.runId)) === null) return;
    const [seen, loaded] = [await this.look(), (await loadRun(this.store, this.runId)).run].map((run) =>
      JSON.stringify(snapshotRun(run)),
    );
    if (seen !== loaded)
      throw new Error(`after event ${this.seq} the run is loaded as ${loaded}, and its log says ${seen}`);
  }

  private async meet({ event, at }: LoggedEvent): Promise<Run> {
    if (event.type !== "run.created") throw new Error("the log does not begin with run.created");
    return newRun(this.runId, await readDefinition(this.store, this.runId, event.definition_hash), event, at);
  }
}
