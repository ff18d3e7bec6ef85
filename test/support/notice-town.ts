import type { NotifyRule } from "../../src/core/model/definition.js";
import type { Notice } from "../../src/core/notices/notice.js";
import { operateRun } from "../../src/host/operate-run.js";
import { Engine } from "../../src/run/engine/engine.js";
import { Notifier } from "../../src/run/engine/notices/notifier.js";
import type { Sandbox } from "../../src/run/sandbox/sandbox.js";
import { createMemoryStore, type MemoryStore } from "../../src/store/memory/memory-store.js";
import { enginePorts, flush, workflow } from "./harness.js";
import { ManualClock } from "./manual-clock.js";
import { plainSandbox } from "./plain-sandbox.js";
import { type Outcome, type Script, ScriptedWorker } from "./scripted-worker.js";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A store with runs, and servers that tell people; everything on the manual clock. */
export class Town {
  readonly clock = new ManualClock();
  readonly store: MemoryStore = createMemoryStore();
  readonly heard: string[] = [];
  /** Whether they were taken or not. */
  readonly received: Notice[] = [];
  /** What the receiver says to each message, one after the other; then it takes them. */
  answers: (string | null)[] = [];
  private readonly notifiers: Notifier[] = [];
  private incarnation = 0;

  constructor(
    private readonly rules: readonly NotifyRule[] = [],
    private readonly evaluate: Sandbox["evaluate"] = plainSandbox.evaluate,
  ) {}

  serve(
    channels: readonly string[] = ["ops"],
    deliver?: (notice: Notice) => Promise<string | null>,
  ): Notifier {
    const { owner } = enginePorts(this.store, this.clock, `server-${this.notifiers.length}`);
    const notifier = new Notifier({
      ...{ store: this.store, clock: this.clock, owner, isDead: () => false, channels, ownRuns: null },
      evaluate: this.evaluate,
      deliver: deliver ?? (async (notice) => this.receive(notice)),
    });
    this.notifiers.push(notifier);
    notifier.start();
    return notifier;
  }

  private receive(notice: Notice): string | null {
    const { channel, kind, run_id, told } = notice;
    this.received.push(notice);
    const answer = this.answers.shift() ?? null;
    if (answer === null) this.heard.push(`${channel}: ${kind} of run ${run_id}, ${told?.as} ${told?.count}`);
    return answer;
  }

  /** What was heard since the last time. */
  async tells(): Promise<string[]> {
    await this.pass(0);
    return this.heard.splice(0);
  }

  /** Time goes by in steps as short as anybody looks. */
  async pass(ms: number): Promise<this> {
    const until = this.clock.elapsed() + ms;
    for (const notifier of this.notifiers) notifier.wake();
    await this.settle();
    while (this.clock.elapsed() < until) {
      this.clock.advance(Math.min(ms > HOUR ? 10 * MINUTE : 2_000, until - this.clock.elapsed()));
      await this.settle();
    }
    return this;
  }

  private async settle(): Promise<void> {
    for (let round = 0; round < 60; round += 1) await flush();
  }

  /** A run of a file to its end or until it rests; the answer is its number. */
  async run(text: string, outcomes: readonly Outcome[] | Script, name = "call"): Promise<number> {
    this.incarnation += 1;
    const engine = new Engine({
      ...enginePorts(this.store, this.clock, `engine-${this.incarnation}`),
      worker: new ScriptedWorker(this.clock, isScript(outcomes) ? outcomes : { [name]: outcomes }),
      ...{ sandbox: plainSandbox, notify: this.rules },
    });
    const { runId, ended } = await engine.start(workflow(text));
    let isOver = false;
    void ended.finally(() => {
      isOver = true;
    });
    for (let turn = 0; !isOver && turn < 200; turn += 1) {
      await this.settle();
      if (!isOver) this.clock.advance(1_000);
    }
    return runId;
  }

  async decide(runId: number, action: "retry" | "skip" | "fail"): Promise<void> {
    const [job] = (await this.store.readJobs(runId)).filter(({ status }) => status === "held");
    await operateRun(this.store, {
      runId,
      command: {
        type: "holds.resolve",
        items: [{ job: job!.id, action, output: null, items: null }],
        ...{ reason: "because", key: null },
      },
      ...{ owner: enginePorts(this.store, this.clock, "operator").owner, isDead: () => true },
      endLeftovers: async () => {},
    });
  }

  async states(): Promise<string[]> {
    const notices = await this.store.listNotices({ limit: 1_000 });
    return notices.reverse().map(({ kind, state }) => `${kind} ${state}`);
  }
}

function isScript(outcomes: readonly Outcome[] | Script): outcomes is Script {
  return !Array.isArray(outcomes);
}
