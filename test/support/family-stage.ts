import type { OperatorCommand } from "../../src/core/model/commands.js";
import type { EventType, RunCause } from "../../src/core/model/events.js";
import type { Outcome } from "../../src/core/model/outcome.js";
import type { Run } from "../../src/core/model/run.js";
import { type ChildHost, LocalChildRuns } from "../../src/host/child-runs.js";
import { operateRun } from "../../src/host/operate-run.js";
import type { RunHandle } from "../../src/host/run-handle.js";
import type { Attempt } from "../../src/run/action/action.js";
import type { ChildRequest } from "../../src/run/action/workflow.js";
import { createWorkflowAction } from "../../src/run/action/workflow.js";
import { Engine } from "../../src/run/engine/engine.js";
import type { Assignment, Seat } from "../../src/run/worker.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import { reportRun } from "../../src/tell/run-report.js";
import { enginePorts, flush, readTrial, type Trial, workflow } from "./harness.js";
import { ManualClock } from "./manual-clock.js";
import { plainSandbox } from "./plain-sandbox.js";
import { type Script, ScriptedWorker } from "./scripted-worker.js";

const PARENT = 1;
const MAX_TURNS = 500;

/** What a killed process would still have done. */
function never<T>(): Promise<T> {
  return new Promise(() => {});
}

/** Steps of type `workflow` have their child runs, all others do what the script says. */
class FamilyWorker extends ScriptedWorker {
  children: LocalChildRuns | null = null;

  override run(assignment: Assignment, place: Seat | null, signal: AbortSignal): Promise<Outcome> {
    if (assignment.action.type !== "workflow") return super.run(assignment, place, signal);
    this.order.push(assignment.stepId);
    this.startedAt.push(0);
    return this.runChild(assignment, signal, this.children!);
  }

  private async runChild(
    assignment: Assignment,
    signal: AbortSignal,
    children: LocalChildRuns,
  ): Promise<Outcome> {
    const attempt = { ...assignment, signal, writeStdout() {} } as unknown as Attempt;
    const result = await createWorkflowAction(children).run(attempt);
    if (this.children !== children) return never();
    if (result.kind === "succeeded") {
      const output = { kind: "value", value: result.output } as const;
      return { ...result, output };
    }
    return result.kind !== "failed" ? result : { kind: "failed", facts: result.facts };
  }
}

/** Run 1 with its child runs, which has its engine killed at chosen events. */
export class FamilyStage {
  readonly store = createMemoryStore();
  readonly worker: FamilyWorker;
  private readonly clock = new ManualClock();
  private engine: Engine | null = null;
  private engines = 0;

  constructor(
    private readonly child: string,
    script: Script = {},
  ) {
    this.worker = new FamilyWorker(this.clock, script);
  }

  /** Until it is over or rests, or the engine is killed. */
  async start(parent: string, killAt?: KillAt): Promise<void> {
    const engine = this.boot(killAt);
    await this.turn(engine, (await engine.start(workflow(parent))).ended);
  }

  async resume(runId: number, killAt?: KillAt): Promise<void> {
    const engine = this.boot(killAt);
    await this.turn(engine, (await engine.resume(runId)).ended);
  }

  /** By an operator, of a run that nobody runs. */
  async operate(runId: number, command: OperatorCommand): Promise<void> {
    await operateRun(this.store, {
      ...{ runId, command, isDead: () => true, endLeftovers: async () => {} },
      owner: enginePorts(this.store, this.clock, "operator").owner,
    });
  }

  view(runId = PARENT): Promise<Trial> {
    return readTrial(this.store, runId, this.worker, this.clock.now());
  }

  async statuses(): Promise<string[]> {
    return (await this.store.listRuns({})).map(({ status }) => status).reverse();
  }

  private boot(killAt?: KillAt): Engine {
    this.clock.forget();
    this.engines += 1;
    const ports = enginePorts(this.store, this.clock, `engine-${this.engines}`);
    const engine = new Engine({ ...ports, worker: this.worker, sandbox: plainSandbox, isDead: () => true });
    const children = new LocalChildRuns();
    children.attach(this.hostOf(engine, killAt));
    this.worker.children = children;
    this.engine = engine;
    engine.onEvents((run, events) => {
      if (killAt === undefined || killAt === "cancel" || run.id !== killAt.run) return;
      if (events.some(({ event }) => event.type === killAt.event)) this.kill();
    });
    return engine;
  }

  private kill(): void {
    this.engine = null;
    this.worker.children = null;
    this.clock.forget();
  }

  private hostOf(engine: Engine, killAt?: KillAt): ChildHost {
    const unlessKilled = <T>(act: () => Promise<T>): Promise<T> =>
      this.engine === engine ? act() : never<T>();
    const handle = ({ runId, ended }: { runId: number; ended: Promise<Run> }): RunHandle => ({
      runId,
      result: ended.then(() => reportRun(this.store, runId)),
    });
    return {
      store: this.store,
      startChild: ({ parent: { runId, jobId } }: ChildRequest, cause: RunCause) =>
        unlessKilled(async () =>
          handle(await engine.start({ ...workflow(this.child), parent: { runId, jobId }, cause })),
        ),
      resume: (runId) => unlessKilled(async () => handle(await engine.resume(runId))),
      has: (runId) => engine.hosts.has(runId),
      noteRest: (parent, child) =>
        this.engine === engine ? engine.restBelow.note(parent, child) : undefined,
      cancel: (runId, reason) =>
        unlessKilled(async () => {
          if (killAt === "cancel") {
            this.kill();
            return never();
          }
          const command = { type: "run.cancel", reason, key: null } as const;
          const taken = await engine.operate(runId, command);
          if (taken === "not_owned") await this.operate(runId, command);
        }),
    };
  }

  private async turn(engine: Engine, ended: Promise<Run>): Promise<void> {
    let over = false;
    const done = (): void => {
      over = true;
    };
    ended.then(done, done);
    for (let turn = 0; ; turn += 1) {
      await this.settle();
      if (over || this.engine !== engine) return;
      if (turn > MAX_TURNS || !this.clock.fireNext())
        throw new Error(`it hangs after ${this.worker.order.join(" ")}`);
    }
  }

  private async settle(): Promise<void> {
    for (let round = 0; round < 10; round += 1) await flush();
  }
}

/** When an event of this type of a run is on record, or a child is to be canceled. */
type KillAt = { readonly run: number; readonly event: EventType } | "cancel";
