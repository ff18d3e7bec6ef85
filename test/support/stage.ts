import { type TakenCommand, takeCommand } from "../../src/core/decide/take-command.js";
import { DarumaError } from "../../src/core/errors/errors.js";
import type { OperatorCommand } from "../../src/core/model/commands.js";
import type { Run } from "../../src/core/model/run.js";
import { Engine } from "../../src/run/engine/engine.js";
import { LeaseKeeper } from "../../src/run/engine/lease-keeper.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import { RunHost } from "../../src/run/engine/run-host.js";
import { createMemoryStore, type MemoryStore } from "../../src/store/memory/memory-store.js";
import { enginePorts, flush, readTrial, type Trial, type TrialOptions, workflow } from "./harness.js";
import { ManualClock } from "./manual-clock.js";
import { plainSandbox } from "./plain-sandbox.js";
import { ScriptedKeeper } from "./scripted-keeper.js";
import { type Script, ScriptedWorker } from "./scripted-worker.js";

/** What an operator says, without the reason and the key, which rarely matter. */
type Wish = OperatorCommand extends infer C
  ? C extends OperatorCommand
    ? Omit<C, "reason" | "key"> & { key?: string }
    : never
  : never;

const MAX_TURNS = 2_000;

/** A run with its people: it can be looked at, operated, killed and resumed at any turn of the clock. */
export class Stage {
  readonly clock = new ManualClock();
  readonly store: MemoryStore = createMemoryStore();
  readonly worker: ScriptedWorker;
  readonly workspaces: ScriptedKeeper;
  runId = 0;
  private readonly startedAt = this.clock.now();
  private engine: Engine;
  private incarnation = 0;
  private atRest = false;
  /** The run as its engine has it. */
  live: Run | null = null;

  private constructor(
    script: Script,
    private readonly options: TrialOptions,
  ) {
    this.worker = new ScriptedWorker(this.clock, script, options.capacity ?? 8);
    this.workspaces = new ScriptedKeeper(this.clock, options.rebuilds, options.setAsides);
    this.engine = this.boot();
  }

  static async begin(text: string, script: Script = {}, options: TrialOptions = {}): Promise<Stage> {
    const stage = new Stage(script, options);
    const { runId, ended } = await stage.engine.start(workflow(text, options));
    stage.runId = runId;
    stage.follow(ended);
    await stage.turn(0);
    return stage;
  }

  /** Let the clock fire so many times. */
  async turn(times = 1): Promise<this> {
    await this.settle();
    for (let turn = 0; turn < times; turn += 1) {
      if (!this.clock.fireNext()) throw new Error("nothing is due");
      await this.settle();
    }
    return this;
  }

  /** Until the run is over, held or paused with nothing under way. */
  async rest(): Promise<Trial> {
    await this.settle();
    for (let turn = 0; !this.atRest; turn += 1) {
      if (turn > MAX_TURNS || !this.clock.fireNext())
        throw new Error(`the run hangs after ${this.worker.order.join(" ")}`);
      await this.settle();
    }
    return this.view();
  }

  /** What its engine knows of breakers. */
  get breakers(): Engine["breakers"] {
    return this.engine.breakers;
  }

  /** Null, or the code with which the command was refused. */
  async operate(wish: Wish): Promise<string | null> {
    const { refusal } = await this.take(wish);
    await this.settle();
    return refusal?.code ?? null;
  }

  /** What the command did, before anything that follows from it. */
  async take(wish: Wish): Promise<TakenCommand> {
    const command = { reason: "because", key: null, ...wish } as OperatorCommand;
    await this.settle();
    const taken = await this.engine.operate(this.runId, command);
    return taken === "not_owned" ? this.decideHere(command) : taken;
  }

  /** Ctrl-C: the engine stops in good order. */
  async interrupt(): Promise<void> {
    await this.engine.stop();
    await this.settle();
    this.kill();
  }

  /** Go on with a run that rests or whose engine is gone. */
  async resume(): Promise<this> {
    this.engine = this.boot();
    this.follow((await this.engine.resume(this.runId)).ended);
    await this.settle();
    return this;
  }

  /** kill -9: what runs is never heard of again. */
  kill(): void {
    this.engine = this.boot();
    this.clock.forget();
  }

  view(): Promise<Trial> {
    return readTrial(this.store, this.runId, this.worker, this.startedAt);
  }

  async id(step: string, scope = "root"): Promise<number> {
    return (await this.view()).job(step, scope).id;
  }

  async statuses(...steps: string[]): Promise<string[]> {
    const view = await this.view();
    return steps.map((step) => view.job(step).status);
  }

  private boot(): Engine {
    this.incarnation += 1;
    const ports = enginePorts(this.store, this.clock, `engine-${this.incarnation}`);
    const engine = new Engine({
      ...ports,
      worker: this.worker,
      workspaces: this.workspaces,
      sandbox: this.options.sandbox ?? plainSandbox,
      isDead: () => true,
      // So that whoever resumes here does so from a snapshot.
      snapshotEvents: 1,
    });
    engine.onEvents((run) => {
      this.live = run;
    });
    return engine;
  }

  private follow(ended: Promise<Run>): void {
    this.atRest = false;
    const done = (): void => {
      this.atRest = true;
    };
    ended.then(done, done);
  }

  private async settle(): Promise<void> {
    for (let round = 0; round < 5; round += 1) await flush();
  }

  private async decideHere(command: OperatorCommand): Promise<TakenCommand> {
    const { owner } = enginePorts(this.store, this.clock, "operator");
    const leases = new LeaseKeeper(this.store, this.clock, owner, () => true);
    try {
      const fence = await leases.acquire(this.runId, () => {});
      const { run, nextSeq } = await loadRun(this.store, this.runId);
      const host = new RunHost(run, fence, nextSeq);
      const taken = takeCommand(run, command, () => host.take(command, this.clock.now()));
      if (host.hasPending) await this.store.commit([host.drain().append]);
      return taken;
    } catch (error) {
      if (error instanceof DarumaError)
        return { refusal: { code: error.code, message: error.message }, outcome: null };
      throw error;
    } finally {
      await leases.release(this.runId);
      leases.stop();
    }
  }
}
