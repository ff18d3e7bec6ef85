import { takeCommand } from "../../core/decide/take-command.js";
import type { OperatorCommand } from "../../core/model/commands.js";
import type { LoggedEvent } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";
import { storedText } from "../../core/model/stored-definition.js";
import type { Json } from "../../core/text/json.js";
import type { Action } from "../../run/action/action.js";
import type { Clock } from "../../run/engine/clock.js";
import { Engine } from "../../run/engine/engine.js";
import { LeaseKeeper } from "../../run/engine/lease-keeper.js";
import { loadRun } from "../../run/engine/load-run.js";
import { RunHost } from "../../run/engine/run-host.js";
import type { Sandbox } from "../../run/sandbox/sandbox.js";
import type { Assignment, Worker } from "../../run/worker.js";
import { createMemoryStore } from "../../store/memory/memory-store.js";
import type { Store } from "../../store/store.js";
import type { AnyFlow } from "../flow.js";
import { FlowHost } from "../flow-host.js";
import { ManualClock } from "./manual-clock.js";
import { type Life, StageWorker } from "./stage-worker.js";

export interface StagePorts {
  /** Does what is neither a program nor a function of one. */
  readonly others: (clock: Clock) => Worker;
  readonly sandbox: Sandbox;
  readonly leaseMs?: number;
  /** What is executed instead of what was called; null: what was called. */
  readonly insteadOf?: (assignment: Assignment) => Action | null;
  /** Called with each commit, before anybody acts on it: the process may be killed here. */
  readonly onCommit?: (run: Run, events: readonly LoggedEvent[]) => void;
}

/** A run of a flow on the memory store and the manual clock: its process may die, and another with other code go on. */
export class FlowStage {
  readonly clock = new ManualClock();
  readonly store = createMemoryStore();
  protected readonly others: Worker;
  private life: Life = { isOver: true };
  private engine: Engine;
  private host!: FlowHost;
  private incarnation = 0;
  /** Functions under way. */
  private readonly work = new Set<Promise<unknown>>();
  /** `lost`: the engine had to let go of the run. `dead`: its process was killed. */
  phase: "running" | "rests" | "over" | "lost" | "dead" = "running";
  runId = 0;

  constructor(
    private flow: AnyFlow,
    private readonly ports: StagePorts,
  ) {
    this.others = ports.others(this.clock);
    this.engine = this.boot();
  }

  async start(input: Json): Promise<void> {
    const { definition } = this.flow;
    const text = storedText(definition);
    const starting = this.engine.start({
      ...{ definition, text, hash: text, file: null, folder: "/tmp", inputs: { input }, context: {} },
      options: {
        ...{ max_loops: null, retry_max: null, failure_routing: true, only: null },
        program: "order.ts",
      },
    });
    const { life } = this;
    // A process that dies with its first commit never hears that it has started the run.
    void starting.then(({ runId, ended }) => {
      if (life.isOver) return;
      this.runId = runId;
      this.follow(ended);
    });
    await this.settle();
  }

  /** The run as its engine has it, or as the log tells it. */
  async state(): Promise<Run> {
    return this.engine.hosts.get(this.runId)?.run ?? (await loadRun(this.store, this.runId)).run;
  }

  /** Null, or the code with which the command was refused. */
  async say(command: OperatorCommand): Promise<string | null> {
    await this.settle();
    const taken = await this.engine.operate(this.runId, command);
    const { refusal } = taken === "not_owned" ? await this.decideHere(command) : taken;
    await this.settle();
    return refusal?.code ?? null;
  }

  /** Goes on in a new process, perhaps with another program. */
  async resume(flow: AnyFlow = this.flow): Promise<this> {
    this.flow = flow;
    this.engine = this.boot();
    this.phase = "running";
    const { life } = this;
    void this.engine.resume(this.runId).then(
      ({ ended }) => life.isOver || this.follow(ended),
      () => {
        if (!life.isOver) this.phase = "lost";
      },
    );
    await this.settle();
    return this;
  }

  /** kill -9: nothing of the process is heard of again. */
  kill(): void {
    this.engine = this.boot();
    this.clock.forget();
    this.work.clear();
    this.phase = "dead";
  }

  /** The process ends in good order. */
  async stop(): Promise<void> {
    const stopping = this.engine.stop();
    await this.settle();
    await stopping;
    this.kill();
  }

  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 5; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.host.isActive) quiet = 0;
    }
  }

  /** Functions may wait for what is no part of the stage, such as a file. */
  async awaitFunctions(limitMs: number): Promise<void> {
    while (this.work.size > 0) {
      const count = this.work.size;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, limitMs);
      });
      await Promise.race([late, ...this.work]);
      clearTimeout(timer);
      await this.settle();
      if (this.work.size >= count) return;
    }
  }

  async decideHere(command: OperatorCommand) {
    const leases = new LeaseKeeper(this.store, this.clock, ownerOf("operator"), () => true);
    const fence = await leases.acquire(this.runId, () => {});
    const { run, nextSeq } = await loadRun(this.store, this.runId);
    const host = new RunHost(run, fence, nextSeq);
    const taken = takeCommand(run, command, () => host.take(command, this.clock.now()));
    if (host.hasPending) await this.store.commit([host.drain().append]);
    await leases.release(this.runId);
    leases.stop();
    return taken;
  }

  private boot(): Engine {
    this.life.isOver = true;
    this.life = { isOver: false };
    this.incarnation += 1;
    const { life, incarnation } = this;
    const { insteadOf = () => null, onCommit, leaseMs } = this.ports;
    const worker = new StageWorker(life, this.clock, this.others, insteadOf, (work, isProgram) => {
      if (isProgram) return;
      this.work.add(work);
      void work.then(() => this.work.delete(work));
    });
    let token = 0;
    const engine: Engine = new Engine({
      store: ofLife(this.store, life),
      clock: this.clock,
      owner: ownerOf(`engine-${incarnation}`),
      readArtifact: () => null,
      newToken: () => {
        token += 1;
        return `token-${incarnation}-${token}`;
      },
      worker,
      sandbox: this.ports.sandbox,
      isDead: () => true,
      snapshotEvents: 1,
      ...(leaseMs === undefined ? {} : { leaseMs }),
    });
    const host = new FlowHost(worker.add, {
      clock: this.clock,
      readArtifact: () => null,
      call: (runId, command) => {
        if (!life.isOver) engine.decideNow(runId, command);
      },
      runOf: (runId) => (life.isOver ? null : (engine.hosts.get(runId)?.run ?? null)),
    });
    host.add(this.flow);
    engine.onEvents((run, events) => {
      if (life.isOver) return;
      this.runId = run.id;
      onCommit?.(run, events);
      // Killed by what has heard of the commit.
      if (!life.isOver) host.hear(run, events);
    });
    this.host = host;
    return engine;
  }

  private follow(ended: Promise<Run>): void {
    this.phase = "running";
    const { life } = this;
    const end = (phase: FlowStage["phase"]): void => {
      if (!life.isOver) this.phase = phase;
    };
    ended.then(
      (run) => end(run.finishedAt === null ? "rests" : "over"),
      () => end("lost"),
    );
  }
}

function ownerOf(engine: string) {
  return { host: "test", bootId: "boot", pid: 1, processStart: "0", engine };
}

/** A store that a process which is over gets no answer from, and that takes nothing of it. */
function ofLife(store: Store, life: Life): Store {
  const silence = new Promise<never>(() => {});
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => (life.isOver ? silence : Reflect.apply(value, target, args));
    },
  });
}
