import { dirname } from "node:path";
import type { CommandOutcome } from "../core/decide/take-command.js";
import { selfHealRecord } from "../core/failure/self-heal-record.js";
import type { OperatorRequest } from "../core/model/commands.js";
import type { Definition } from "../core/model/definition.js";
import type { RunRow } from "../core/model/rows.js";
import type { Run } from "../core/model/run.js";
import type { Json } from "../core/text/json.js";
import { type AnyFlow, type Flow, MAIN } from "../flow/flow.js";
import { type FlowHandle, type FlowStartOptions, startFlow } from "../flow/start-flow.js";
import type { InputOf, OutputOf } from "../operations/client.js";
import type { Context } from "../operations/context.js";
import type { OperationName } from "../operations/operations.js";
import { requireActions, requireProgram } from "../operations/require-program.js";
import {
  designEvent,
  eventItem,
  type Naming,
  type RunDesignEvent,
  type RunEvent,
} from "../operations/runs/event-item.js";
import { findRunOf, orRunOf } from "../operations/runs/run-cause.js";
import type { StartOptions } from "../operations/runs/start-options.js";
import type { Workflow } from "../operations/workflows/workflow.js";
import { fromDefinition, readWorkflow } from "../operations/workflows/workflow-source.js";
import { systemClock } from "../run/engine/clock.js";
import type { Engine, RunListener } from "../run/engine/engine.js";
import type { Resumed } from "../run/engine/owned-run.js";
import type { Sandbox } from "../run/sandbox/sandbox.js";
import { childFile } from "../run/wiring/child-file.js";
import { readOutputArtifact } from "../run/worker/attempt-output.js";
import type { LeaseOwner, Store } from "../store/store.js";
import { findJob } from "../tell/lookup/choose-job.js";
import { namesIn } from "../tell/lookup/event-names.js";
import { requireOwnRuns } from "../tell/lookup/own-runs.js";
import { reportRun } from "../tell/run-report.js";
import { LocalChildRuns } from "./child-runs.js";
import { type DarumaOptions, openParts, type Parts, type WorkerOf } from "./parts.js";
import { readCommand } from "./read-command.js";
import type { BegunRun, RunHandle } from "./run-handle.js";
import { newRunOf, withTakenOver } from "./take-run.js";

interface AssembledDaruma {
  readonly daruma: Daruma;
  readonly engine: Engine;
  readonly owner: LeaseOwner;
  readonly sandbox: Sandbox;
}

/** An engine with its store, worker and sandbox: everything to run workflows in one program. */
export class Daruma {
  readonly store: Store;
  readonly outputDir: string;
  /** For Daruma's own parts: sets the listener for the redacted output of steps in this process. */
  readonly onOutput: Parts["onOutput"];
  private readonly engine: Engine;

  private constructor(
    private readonly parts: Parts,
    /** What becomes of every workflow before a run of it begins. */
    private readonly prepare: (workflow: Workflow) => Workflow,
  ) {
    this.store = parts.store;
    this.outputDir = parts.outputDir;
    this.onOutput = parts.onOutput;
    this.engine = parts.engine;
  }

  static async open(options: DarumaOptions = {}): Promise<Daruma> {
    return (await Daruma.assemble(options, (local) => local, null)).daruma;
  }

  /**
   * Assembles an engine for a server, which has more workers than the one in its process. `prepare` is null in a
   * program.
   */
  static async assemble(
    options: DarumaOptions,
    workerOf: WorkerOf,
    prepare: ((workflow: Workflow) => Workflow) | null,
  ): Promise<AssembledDaruma> {
    const children = new LocalChildRuns();
    const parts = await openParts(options, children, workerOf);
    const { store, engine, owner, sandbox } = parts;
    const daruma = new Daruma(parts, prepare ?? ((workflow) => workflow));
    children.attach({
      store,
      startChild: async ({ inputs, parent: { runId, jobId }, ...place }, cause) => {
        const file = await childFile(store, runId, place);
        return daruma.start(daruma.load(file, dirname(file)), {
          ...{ inputs, parent: { runId, jobId }, cause },
          ...inheritedFrom(await store.readRun(runId)),
        });
      },
      resume: (runId) => daruma.resume(runId),
      cancel: (runId, reason) => daruma.cancel(runId, reason),
      has: (runId) => engine.hosts.has(runId),
      // A server waits for people as long as they take.
      noteRest: (parent, child) => (prepare === null ? engine.restBelow.note(parent, child) : undefined),
    });
    return { daruma, engine, owner, sandbox };
  }

  /** A workflow file, or a definition made by `defineWorkflow`. */
  load(source: string | Definition, startedIn: string = process.cwd()): Workflow {
    return typeof source === "string"
      ? readWorkflow(source, startedIn, this.parts)
      : fromDefinition(source, startedIn);
  }

  async start(source: string | Definition | Workflow, options?: StartOptions): Promise<RunHandle>;
  /** A flow with its input. With a key that it was started with before, that run is gone on with. */
  async start<Input, Output>(
    flow: Flow<Input, Output>,
    ...given: Input extends void
      ? [input?: undefined, options?: FlowStartOptions]
      : [input: Input, options?: FlowStartOptions]
  ): Promise<FlowHandle<Output>>;
  async start(
    source: string | Definition | Workflow | AnyFlow,
    given?: unknown,
    options?: FlowStartOptions,
  ): Promise<RunHandle> {
    if (typeof source === "object" && "program" in source)
      return startFlow(source, given, options ?? {}, {
        add: (flow) => this.parts.flows.add(flow),
        begin: async (definition, asked) => this.reported(await this.begin(definition, asked)),
        outputOf: (runId) => this.outputOf(runId),
      });
    return this.reported(await this.begin(source, given as StartOptions | undefined));
  }

  /** What the program of a completed run has returned. */
  private async outputOf(runId: number): Promise<Json> {
    const job = (await this.store.readJobs(runId)).find(
      ({ step, scope }) => step === MAIN && scope === "root",
    );
    const output = job?.output ?? null;
    if (output === null) return null;
    return output.kind === "value" ? output.value : readOutputArtifact(output.path);
  }

  /** Go on with a run whose engine is gone. A run that is over just gives its result. */
  async resume(runId: number, reason?: string, key: string | null = null): Promise<RunHandle> {
    return this.reported(await this.takeUp(runId, { ...(reason === undefined ? {} : { reason }), key }));
  }

  /** For Daruma's own parts: `start` without a report, which would contain every job of the run. */
  async begin(source: string | Definition | Workflow, options: StartOptions = {}): Promise<BegunRun> {
    const given = typeof source === "object" && "definition" in source ? source : this.load(source);
    const workflow = this.prepare(given);
    const asked = newRunOf(workflow, options, this.parts.env);
    if (options.managed !== true) requireActions(asked.definition, this.parts.customActions);
    const { cause } = asked;
    const first = cause === undefined ? null : await findRunOf(this.store, cause);
    if (first !== null) return this.goOnWith(first, options);
    const request = await withTakenOver(this.store, asked, options);
    try {
      const { runId, ended } = await this.engine.start(request);
      return begun(runId, ended);
    } catch (error) {
      return this.goOnWith(await orRunOf(this.store, cause, error), options);
    }
  }

  /** A run that was started before. A server's own are seen to already; else it goes on here, if nobody else runs it. */
  private async goOnWith(runId: number, { managed }: StartOptions): Promise<BegunRun> {
    if (managed === true) return begun(runId, Promise.resolve());
    return begun(runId, this.engine.endOf(runId) ?? (await this.engine.retake(runId)).ended);
  }

  /** For Daruma's own parts: `resume` without a report. */
  async takeUp(runId: number, said: Resumed = {}): Promise<BegunRun> {
    await requireOwnRuns(this.store, [{ run: runId }]);
    await requireProgram(this.store, runId, this.parts.customActions);
    return begun(runId, (await this.engine.resume(runId, said)).ended);
  }

  /** Cancels a run, whichever process runs it. */
  async cancel(runId: number, reason: string): Promise<void> {
    await this.operate(runId, { type: "run.cancel", reason });
  }

  /**
   * Gives an operator's command to a run, whichever process runs it. Throws a refusal with its code. With a key it is
   * taken once, however often it is given.
   */
  async operate(runId: number, command: OperatorRequest): Promise<CommandOutcome> {
    const idOf = async (step: string): Promise<number> =>
      (await findJob(this.store, { job_id: step, run_id: runId })).id;
    const plain = await readCommand(command, idOf);
    if (plain.type !== "run.cancel") await requireOwnRuns(this.store, [{ run: runId }]);
    return this.parts.operate(runId, plain);
  }

  /** Hears of everything that runs of this program have committed, in order, each event flat. The answer stops it. */
  onEvents(listener: (events: readonly RunEvent[]) => void): () => void;
  /** Only those that a design names, under its names and with its payload. */
  onEvents(
    listener: (events: readonly RunDesignEvent[]) => void,
    options: { readonly names: Naming },
  ): () => void;
  onEvents(listener: (events: readonly never[]) => void, options?: { readonly names: Naming }): () => void {
    return this.engine.onEvents((run, events) => {
      const told = events.flatMap((logged) => {
        const names = namesIn(run, logged.event);
        if (options === undefined) return { ...runOf(run), ...eventItem(logged, names) };
        const record = selfHealRecord(run, logged.event);
        return record === null ? [] : { ...runOf(run), ...designEvent(logged, record, names) };
      });
      if (told.length > 0) listener(told as never);
    });
  }

  /** Hears, in a sentence, what steps wait for that the machine lacks: room for logs, processes, memory. */
  onShortage(listener: (text: string) => void): void {
    this.parts.shortageListeners.add(listener);
  }

  /** For Daruma's own parts: calls the listener when notices for people were committed. */
  onNotices(listener: () => void): void {
    this.parts.noticeListeners.add(listener);
  }

  /** For Daruma's own parts: calls the listener with committed events and the run after them. */
  onCommitted(listener: RunListener): () => void {
    return this.engine.onEvents(listener);
  }

  /** For Daruma's own parts: calls the listener with the earlier log of a run that others have run before. */
  onLoaded(listener: RunListener): () => void {
    return this.engine.listeners.addForLoaded(listener);
  }

  /** Any operation by its name, as REST and MCP have it. A refusal is thrown with its code. */
  async call<Name extends OperationName>(name: Name, input: InputOf<Name>): Promise<OutputOf<Name>> {
    // The table brings much that a program which only runs workflows never needs.
    const { callOperation } = await import("../operations/call-operation.js");
    return (await callOperation(this.context(), name, input)) as OutputOf<Name>;
  }

  /** Runs, the newest first. */
  list(filter: InputOf<"list_runs"> = {}): Promise<OutputOf<"list_runs">> {
    return this.call("list_runs", filter);
  }

  /** One run with its jobs, routes, errors and state. */
  get(runId: number): Promise<OutputOf<"get_run">> {
    return this.call("get_run", { run_id: runId });
  }

  /** Why a run, or one step of it, went as it did, in sentences. */
  explain(
    runId: number,
    options: Omit<InputOf<"explain_run">, "run_id"> = {},
  ): Promise<OutputOf<"explain_run">> {
    return this.call("explain_run", { ...options, run_id: runId });
  }

  /** What an attempt of a step printed. `step` is its id, `step@scope`, or a job's id. */
  async logs(
    runId: number,
    step: string | number,
    options: Omit<InputOf<"get_job_logs">, "job_id" | "run_id"> = {},
  ): Promise<OutputOf<"get_job_logs">> {
    return this.call("get_job_logs", { ...options, run_id: runId, job_id: step });
  }

  private context(): Context {
    const { store, outputDir, customActions, sharedBreakers } = this.parts;
    return {
      store,
      outputDir,
      principal: { name: "program", role: "admin" },
      now: systemClock.now,
      operate: (runId, command) => this.operate(runId, command),
      runner: {
        start: async (workflow, options) => (await this.begin(workflow, options)).runId,
        resume: async (runId, said) => void (await this.takeUp(runId, said)),
        listWorkers: () => [],
        listWaiting: () => [],
        whyNot: () => ({ kind: "slot", text: "it is waiting for a free slot in this program" }),
      },
      customActions,
      sharedBreakers,
    };
  }

  /** Ends what runs and leaves its runs resumable. */
  async close(): Promise<void> {
    await this.parts.close();
  }

  private reported({ runId, ended }: BegunRun): RunHandle {
    return { runId, result: seenLater(ended.then(() => reportRun(this.store, runId))) };
  }
}

/**
 * Options that a child run inherits, so that a search for a release also finds its child runs, and urgent or strict
 * runs are so in all parts.
 */
function inheritedFrom(run: RunRow | null): Pick<StartOptions, "labels" | "priority" | "strict"> {
  const priority = run?.priority ?? null;
  return {
    labels: run?.labels ?? {},
    ...(priority === null ? {} : { priority }),
    ...(run?.options.strict === true ? { strict: true } : {}),
  };
}

/** Without the run, which may be large and is not needed any more when it has ended. */
function begun(runId: number, ended: Promise<unknown>): BegunRun {
  return { runId, ended: seenLater(ended.then(() => {})) };
}

/** The caller may look at it later; a loss is no unhandled rejection meanwhile. */
function seenLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

function runOf({ id, workflow }: Run): { readonly run_id: number; readonly workflow: string } {
  return { run_id: id, workflow };
}
