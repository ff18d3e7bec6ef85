import { takeCommand } from "../../src/core/decide/take-command.js";
import type { OperatorCommand } from "../../src/core/model/commands.js";
import type { Outcome } from "../../src/core/model/outcome.js";
import type { Run } from "../../src/core/model/run.js";
import { storedText } from "../../src/core/model/stored-definition.js";
import type { Json } from "../../src/core/text/json.js";
import type { AnyFlow } from "../../src/flow/flow.js";
import { FlowHost } from "../../src/flow/flow-host.js";
import type { Action, Attempt } from "../../src/run/action/action.js";
import { Engine } from "../../src/run/engine/engine.js";
import { LeaseKeeper } from "../../src/run/engine/lease-keeper.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import { RunHost } from "../../src/run/engine/run-host.js";
import type { Assignment, Ended, Needs, Place, Worker } from "../../src/run/worker.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import { DEFAULT_OPTIONS, enginePorts, flush, readTrial, type Trial } from "./harness.js";
import { ManualClock } from "./manual-clock.js";
import { plainSandbox } from "./plain-sandbox.js";
import { type Script, ScriptedWorker } from "./scripted-worker.js";

const MAX_TURNS = 3_000;

/** Executes programs and their functions as a process with the real host does, and all else by a script. */
class FlowWorker implements Worker {
  readonly name = "local-1";
  private readonly actions = new Map<string, Action>();

  constructor(
    private readonly scripted: ScriptedWorker,
    private readonly clock: ManualClock,
  ) {}

  readonly add = (action: Action): void => void this.actions.set(action.type, action);

  place(needs: Needs): Place | "full" | null {
    if (this.actions.has(needs.actionType)) return { worker: this.name };
    return needs.actionType.startsWith("flow:") ? null : this.scripted.place(needs);
  }

  release(place: Place): void {
    if (place.worker !== this.name) this.scripted.release(place);
  }

  execute(assignment: Assignment, place: Place | null, signal: AbortSignal, ended: Ended): void {
    const action = this.actions.get(assignment.action.type);
    if (action === undefined) return this.scripted.execute(assignment, place, signal, ended);
    const startedAt = this.clock.now();
    const controller = new AbortController();
    signal.addEventListener("abort", () => controller.abort("stopped"));
    const cancel =
      assignment.timeoutMs === null
        ? () => {}
        : this.clock.after(assignment.timeoutMs, () => controller.abort("timeout"));
    const attempt = { ...assignment, signal: controller.signal, writeStdout() {} } as unknown as Attempt;
    void action.run(attempt).then((outcome) => {
      cancel();
      ended({ ...recorded(outcome), duration_ms: this.clock.now() - startedAt });
    });
  }

  adopt(): boolean {
    return false;
  }
  onRoom(): () => void {
    return () => {};
  }
  async endLeftovers(): Promise<void> {}
  async close(): Promise<void> {}
}

function recorded(outcome: Outcome<Json>): Outcome {
  if (outcome.kind === "succeeded") return { ...outcome, output: { kind: "value", value: outcome.output } };
  return outcome as Outcome;
}

type Wish = OperatorCommand extends infer C
  ? C extends OperatorCommand
    ? Omit<C, "reason" | "key"> & { key?: string }
    : never
  : never;

/** A run of a flow on the memory store and the manual clock: its process may die, and another with other code go on. */
export class FlowStage {
  readonly clock = new ManualClock();
  readonly store = createMemoryStore();
  readonly worker: ScriptedWorker;
  private readonly startedAt = this.clock.now();
  private engine: Engine;
  private host!: FlowHost;
  private incarnation = 0;
  /** `lost`: the engine had to let go of the run. */
  phase: "running" | "rests" | "over" | "lost" = "running";
  runId = 0;

  private constructor(
    private flow: AnyFlow,
    script: Script,
  ) {
    this.worker = new ScriptedWorker(this.clock, script);
    this.engine = this.boot();
  }

  static async begin(flow: AnyFlow, input: Json = null, script: Script = {}): Promise<FlowStage> {
    const stage = FlowStage.prepare(flow, script);
    await stage.start(input);
    return stage;
  }

  static prepare(flow: AnyFlow, script: Script = {}): FlowStage {
    return new FlowStage(flow, script);
  }

  async start(input: Json): Promise<void> {
    const { definition } = this.flow;
    const text = storedText(definition);
    const { runId, ended } = await this.engine.start({
      ...{ definition, text, hash: text, file: null, folder: "/tmp", inputs: { input }, context: {} },
      options: { ...DEFAULT_OPTIONS, program: "order.ts" },
    });
    this.runId = runId;
    this.follow(ended);
    await this.settle();
  }

  /** The run as its engine has it, or as the log tells it. */
  async state(): Promise<Run> {
    return this.engine.hosts.get(this.runId)?.run ?? (await loadRun(this.store, this.runId)).run;
  }

  async turn(times = 1): Promise<this> {
    await this.settle();
    for (let turn = 0; turn < times; turn += 1) {
      if (!this.clock.fireNext()) throw new Error("nothing is due");
      await this.settle();
    }
    return this;
  }

  /** Lets time pass, but no further than the run needs to rest. */
  async rest(): Promise<Trial> {
    await this.settle();
    for (let turn = 0; this.phase === "running"; turn += 1) {
      if (turn > MAX_TURNS || !this.clock.fireNext()) throw new Error(`the run hangs: ${await this.told()}`);
      await this.settle();
    }
    return this.view();
  }

  operate(wish: Wish): Promise<string | null> {
    return this.say({ reason: "because", key: null, ...wish } as OperatorCommand);
  }

  /** Null, or the code with which the command was refused. */
  async say(command: OperatorCommand): Promise<string | null> {
    await this.settle();
    const taken = await this.engine.operate(this.runId, command);
    const { refusal } = taken === "not_owned" ? await this.decideHere(command) : taken;
    await this.settle();
    return refusal?.code ?? null;
  }

  async resolve(step: string, action: "retry" | "fail" | "skip" | "complete", value?: Json): Promise<void> {
    const output = value === undefined ? null : ({ kind: "value", value } as const);
    const refused = await this.operate({
      type: "holds.resolve",
      items: [{ job: await this.id(step), action, output, items: null }],
    });
    if (refused !== null) throw new Error(refused);
  }

  /** Goes on in a new process, perhaps with another program. */
  async resume(flow: AnyFlow = this.flow): Promise<this> {
    this.flow = flow;
    this.engine = this.boot();
    this.follow((await this.engine.resume(this.runId)).ended);
    await this.settle();
    return this;
  }

  /** kill -9: nothing of the process is heard of again. */
  kill(): void {
    this.engine = this.boot();
    this.clock.forget();
  }

  /** The process ends in good order. */
  async stop(): Promise<void> {
    const stopping = this.engine.stop();
    await this.settle();
    await stopping;
    this.kill();
  }

  view(): Promise<Trial> {
    return readTrial(this.store, this.runId, this.worker, this.startedAt);
  }

  async id(step: string, scope = "root"): Promise<number> {
    return (await this.view()).job(step, scope).id;
  }

  private async told(): Promise<string> {
    const { log } = await this.view();
    return log.map(({ event }) => JSON.stringify(event)).join("\n");
  }

  private boot(): Engine {
    this.incarnation += 1;
    const ports = enginePorts(this.store, this.clock, `engine-${this.incarnation}`);
    const worker = new FlowWorker(this.worker, this.clock);
    const engine: Engine = new Engine({
      ...ports,
      worker,
      sandbox: plainSandbox,
      isDead: () => true,
      snapshotEvents: 1,
    });
    const host = new FlowHost(worker.add, {
      clock: this.clock,
      readArtifact: () => null,
      call: (runId, command) => {
        if (this.engine === engine) engine.decideNow(runId, command);
      },
      runOf: (runId) => (this.engine === engine ? (engine.hosts.get(runId)?.run ?? null) : null),
    });
    host.add(this.flow);
    engine.onEvents((run, events) => {
      if (this.engine === engine) host.hear(run, events);
    });
    this.host = host;
    return engine;
  }

  private follow(ended: Promise<Run>): void {
    this.phase = "running";
    const { incarnation } = this;
    const end = (phase: FlowStage["phase"]): void => {
      if (this.incarnation === incarnation) this.phase = phase;
    };
    ended.then(
      (run) => end(run.finishedAt === null ? "rests" : "over"),
      () => end("lost"),
    );
  }

  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 5; quiet += 1) {
      await flush();
      if (this.host.isActive) quiet = 0;
    }
  }

  async decideHere(command: OperatorCommand) {
    const { owner } = enginePorts(this.store, this.clock, "operator");
    const leases = new LeaseKeeper(this.store, this.clock, owner, () => true);
    const fence = await leases.acquire(this.runId, () => {});
    const { run, nextSeq } = await loadRun(this.store, this.runId);
    const host = new RunHost(run, fence, nextSeq);
    const taken = takeCommand(run, command, () => host.take(command, this.clock.now()));
    if (host.hasPending) await this.store.commit([host.drain().append]);
    await leases.release(this.runId);
    leases.stop();
    return taken;
  }
}
