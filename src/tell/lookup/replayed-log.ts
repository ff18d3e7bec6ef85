import { DarumaError } from "../../core/errors/errors.js";
import { evolve } from "../../core/evolve/evolve.js";
import type { Definition } from "../../core/model/definition.js";
import type { LoggedEvent } from "../../core/model/events.js";
import { newRun } from "../../core/model/make-run.js";
import type { Run } from "../../core/model/run.js";
import type { Store } from "../../store/store.js";

const PAGE_EVENTS = 5_000;

/** A log read page by page, so that one of any length can be shown. */
export async function* readLog(store: Store, runId: number, afterSeq = 0): AsyncGenerator<LoggedEvent> {
  for (let after = afterSeq; ; ) {
    const page = await store.readEvents(runId, { afterSeq: after, limit: PAGE_EVENTS });
    yield* page;
    if (page.length < PAGE_EVENTS) return;
    after = page.at(-1)!.seq;
  }
}

/** The run as it was just after each of its events: a reader of a log needs names for the ids in it. */
export class ReplayedRun {
  private run: Run | null = null;
  private isEmpty = true;

  constructor(
    private readonly runId: number,
    private readonly definitionOf: (hash: string) => Definition,
  ) {}

  fold({ event, at }: LoggedEvent): Run {
    if (event.type === "run.created")
      this.run = newRun(this.runId, this.definitionOf(event.definition_hash), event, at);
    this.isEmpty = false;
    const { now } = this;
    evolve(now, event, at);
    now.dirty.clear();
    now.book.unwritten = [];
    return now;
  }

  /** The run after the last event that was folded. */
  get now(): Run {
    // It was removed while its log was about to be read.
    if (this.isEmpty) throw new DarumaError("RUN_NOT_FOUND", `there is no run ${this.runId}`);
    if (this.run === null)
      throw new DarumaError("STORE_FAILED", `the log of run ${this.runId} does not begin with run.created`);
    return this.run;
  }
}
