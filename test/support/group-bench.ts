import { takeCommand } from "../../src/core/decide/take-command.js";
import { DarumaError } from "../../src/core/errors/errors.js";
import type { RunConcurrency } from "../../src/core/groups/concurrency.js";
import type { OperatorCommand } from "../../src/core/model/commands.js";
import { Engine, type NewRun } from "../../src/run/engine/engine.js";
import { LeaseKeeper } from "../../src/run/engine/lease-keeper.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import { RunClaimer } from "../../src/run/engine/run-claimer.js";
import { RunHost } from "../../src/run/engine/run-host.js";
import { createMemoryStore, type MemoryStore } from "../../src/store/memory/memory-store.js";
import type { LeaseOwner, Store } from "../../src/store/store.js";
import { enginePorts, flush, workflow } from "./harness.js";
import { ManualClock } from "./manual-clock.js";
import { plainSandbox } from "./plain-sandbox.js";
import { type Script, ScriptedWorker } from "./scripted-worker.js";

export const GROUP = "deploy-prod";

/** A server, or the process of one `daruma run`. */
export interface Process {
  readonly engine: Engine;
  readonly claimer: RunClaimer | null;
  readonly worker: ScriptedWorker;
  readonly owner: LeaseOwner;
  /** What it told people. */
  readonly said: string[];
  isDead: boolean;
}

interface Asked extends Partial<RunConcurrency> {
  readonly text?: string;
  readonly priority?: number;
}

const MAX_TURNS = 5_000;

/** Processes that share a store and a clock, with runs of one group or several. */
export class GroupBench {
  readonly clock = new ManualClock();
  readonly store: MemoryStore = createMemoryStore();
  readonly processes: Process[] = [];
  private tokens = 0;

  constructor(
    private readonly script: Script = { work: () => ({ output: null, takesMs: 60_000 }) },
    private readonly capacity = 8,
  ) {}

  async server(): Promise<Process> {
    const process = this.process(true);
    await process.claimer!.start();
    return process;
  }

  process(isServer = false): Process {
    const name = `${isServer ? "server" : "process"}-${this.processes.length + 1}`;
    const worker = new ScriptedWorker(this.clock, this.script, this.capacity);
    const said: string[] = [];
    const ports = {
      ...enginePorts(this.store, this.clock, name),
      store: this.mortal(() => process.isDead),
      worker,
      isDead: (owner: LeaseOwner) => this.isDead(owner),
      newToken: () => {
        this.tokens += 1;
        return `t${this.tokens}`;
      },
      cancelRun: (runId: number, command: OperatorCommand) => this.operate(runId, command),
      tell: (text: string) => void said.push(text),
    };
    const engine = new Engine({ ...ports, sandbox: plainSandbox });
    const claimer = isServer ? new RunClaimer({ ...ports, engine }) : null;
    const process: Process = { engine, claimer, worker, said, owner: ports.owner, isDead: false };
    this.processes.push(process);
    return process;
  }

  /** The number of the new run. */
  async start({ engine, claimer }: Process, asked: Asked = {}): Promise<number> {
    const { runId } = await engine.start({ ...this.request(asked), managed: claimer !== null });
    await this.settle();
    return runId;
  }

  request({ text = "steps: { work: { exec: make } }", priority, ...group }: Asked): NewRun {
    const concurrency: RunConcurrency = { group: GROUP, limit: 1, policy: "queue", ...group };
    return { ...workflow(text), concurrency, ...(priority === undefined ? {} : { priority }) };
  }

  /** kill -9: what it was about to say is never heard. */
  async kill(process: Process): Promise<void> {
    process.isDead = true;
    await this.settle();
  }

  /** As any process does it: the owner takes it, or whoever asks where nobody has the run. */
  async operate(runId: number, command: OperatorCommand): Promise<void> {
    const owner = this.processes.find(({ engine, isDead }) => !isDead && engine.ownedRuns().includes(runId));
    if (owner !== undefined) {
      const taken = await owner.engine.operate(runId, command);
      if (taken !== "not_owned") return refuse(taken.refusal);
    }
    const { owner: asking } = enginePorts(this.store, this.clock, `asking-${runId}`);
    const leases = new LeaseKeeper(this.store, this.clock, asking, (other) => this.isDead(other));
    const fence = await leases.acquire(runId, () => {});
    try {
      const { run, nextSeq } = await loadRun(this.store, runId);
      const host = new RunHost(run, fence, nextSeq);
      const now = this.clock.now();
      const { refusal } = takeCommand(run, command, () => host.take(command, now));
      if (command.type === "run.cancel" && refusal === null) host.take({ type: "run.resume", kept: [] }, now);
      if (host.hasPending) await this.store.commit([host.drain().append]);
      refuse(refusal);
    } finally {
      await leases.release(runId);
      leases.stop();
      await this.settle();
    }
  }

  async statuses(...runs: number[]): Promise<string[]> {
    return Promise.all(runs.map(async (run) => (await this.store.readRun(run))!.status));
  }

  async events(run: number): Promise<string[]> {
    return (await this.store.readEvents(run)).map(({ event }) => event.type);
  }

  async settle(): Promise<void> {
    for (let n = 0; n < 10; n += 1) await flush();
  }

  /** Until the runs have these statuses. */
  async until(runs: readonly number[], wanted: readonly string[]): Promise<void> {
    for (let turn = 0; ; turn += 1) {
      await this.settle();
      const now = await this.statuses(...runs);
      if (now.join() === wanted.join()) return;
      if (turn > MAX_TURNS || !this.clock.fireNext()) throw new Error(`it hangs: ${now.join()}`);
    }
  }

  /** All that is due until then, one after the other. */
  async pass(ms: number): Promise<void> {
    for (const until = this.clock.now() + ms; this.clock.now() < until; ) {
      await this.settle();
      if (!this.clock.fireNext()) return;
    }
    await this.settle();
  }

  async stop(): Promise<void> {
    for (const { claimer } of this.processes) void claimer?.stop();
  }

  private isDead(owner: LeaseOwner): boolean {
    return this.processes.some((each) => each.isDead && each.owner.engine === owner.engine);
  }

  /** A handle on the store that falls silent with its process. */
  private mortal(isDead: () => boolean): MemoryStore {
    return new Proxy(this.store as Store, {
      get:
        (target, name: keyof Store) =>
        (...args: never[]) => {
          if (name === "onChange") return (target.onChange as (...all: never[]) => unknown)(...args);
          if (isDead()) return new Promise(() => {});
          const answer = (target[name] as (...all: never[]) => Promise<unknown>)(...args);
          return answer.then((value) => (isDead() ? new Promise(() => {}) : value));
        },
    }) as MemoryStore;
  }
}

function refuse(refusal: { readonly code: string; readonly message: string } | null): void {
  if (refusal !== null) throw new DarumaError(refusal.code as never, refusal.message);
}
