import { randomBytes, randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { Action } from "../action/action.js";
import { builtInActions } from "../action/built-in-actions.js";
import { functionAction, type StepFunction } from "../action/function-action.js";
import { createProcessHost } from "../action/process/create-process-host.js";
import type { ProcessHost } from "../action/process/process-host.js";
import type { CommandOutcome } from "../core/decide/take-command.js";
import { DarumaError } from "../core/errors/errors.js";
import type { OperatorCommand } from "../core/model/commands.js";
import type { Definition } from "../core/model/definition.js";
import { buildGraph } from "../core/model/graph.js";
import { systemClock } from "../engine/clock.js";
import { Engine, type NewRun, type RunListener } from "../engine/engine.js";
import { Inbox } from "../engine/inbox.js";
import { loadRun } from "../engine/load-run.js";
import type { InputOf, OutputOf } from "../operations/client.js";
import type { Context } from "../operations/context.js";
import { operateRun, outcomeOf } from "../operations/operate-run.js";
import type { OperationName } from "../operations/operations.js";
import { eventItem, type RunEvent } from "../operations/runs/event-item.js";
import { causeOfKey, findRunOf, orRunOf } from "../operations/runs/run-cause.js";
import {
  asked,
  checkedInputs,
  checkOnly,
  plainData,
  runOptions,
  type StartOptions,
} from "../operations/runs/start-options.js";
import { checkSecrets } from "../operations/workflows/check-secrets.js";
import { childFile } from "../operations/workflows/child-file.js";
import { fromDefinition, readWorkflow, type Workflow } from "../operations/workflows/workflow-source.js";
import { namesIn } from "../report/lookup/event-names.js";
import { reusableJobs } from "../report/lookup/fork-run.js";
import { requireOwnRuns } from "../report/lookup/own-runs.js";
import { type RunReport, reportRun } from "../report/run-report.js";
import { createSandbox } from "../sandbox/quickjs-sandbox.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { currentOwner, isDead } from "../store/lease-owner.js";
import type { LeaseOwner, Store } from "../store/store.js";
import { readOutputArtifact } from "../worker/attempt-output.js";
import { LocalWorker } from "../worker/local-worker.js";
import type { Worker } from "../worker/worker.js";
import { openWorkspaces } from "../workspace/workspaces.js";
import { LocalChildRuns } from "./child-runs.js";
import { FailureFiles } from "./failure-files.js";
import { GitWorkspaceKeeper } from "./git-workspace-keeper.js";
import { openStore } from "./open-store.js";
import { DEFAULT_OUTPUT_FOLDER, hideFromGit } from "./output-folder.js";
import { SelfHealFiles } from "./self-heal-files.js";

export interface DarumaOptions {
  /** Where the database, logs and artifacts lie; by default `.daruma` in the working folder. */
  readonly outputDir?: string;
  /** `memory` keeps nothing; else the database file (by default `daruma.db` in the output folder), or an open store. */
  readonly store?: string | Store;
  /** Attempts at a time; by default the number of cores. */
  readonly maxParallel?: number;
  /** TypeScript functions as steps, by the `type` that names them. */
  readonly actions?: { readonly [type: string]: StepFunction };
  readonly env?: { readonly [name: string]: string | undefined };
  /** How long a run stays with a program that gives no sign of life. */
  readonly leaseMs?: number;
  /** The address of the server that this is part of, for $DARUMA_API_URL. */
  readonly apiUrl?: () => string;
}

/** A run that this program started or resumed. */
export interface RunHandle {
  readonly runId: number;
  /** Resolves when the run is over; rejects if this program loses it. */
  readonly result: Promise<RunReport>;
}

export interface AssembledDaruma {
  readonly daruma: Daruma;
  readonly engine: Engine;
  readonly owner: LeaseOwner;
}

/** An engine with its store, worker and sandbox: everything to run workflows in one program. */
export class Daruma {
  private closing = false;

  private constructor(
    readonly store: Store,
    readonly outputDir: string,
    private readonly engine: Engine,
    private readonly inbox: Inbox,
    private readonly worker: Worker,
    private readonly sandbox: Sandbox,
    private readonly processes: ProcessHost,
    private readonly customActions: readonly string[],
    private readonly env: { readonly [name: string]: string | undefined },
    /** For the parts of Daruma itself: hears what steps print in this process, redacted, as they print it. */
    readonly onOutput: LocalWorker["onOutput"],
    private readonly shortageListeners: Set<(text: string) => void>,
  ) {}

  static async open(options: DarumaOptions = {}): Promise<Daruma> {
    return (await Daruma.assemble(options, (local) => local)).daruma;
  }

  /** For a server, which has more workers than the one in its process. */
  static async assemble(
    options: DarumaOptions,
    workerOf: (local: LocalWorker, place: { readonly store: Store; readonly outputDir: string }) => Worker,
  ): Promise<AssembledDaruma> {
    if (process.platform === "win32") throw new DarumaError("PLATFORM", "Windows is not supported yet");
    const outputDir = resolve(options.outputDir ?? DEFAULT_OUTPUT_FOLDER);
    hideFromGit(outputDir);
    const env = options.env ?? process.env;
    const store = await openStore(options.store, outputDir);
    const sandbox = createSandbox();
    const children = new LocalChildRuns();
    const processes = createProcessHost();
    const own: Action[] = Object.entries(options.actions ?? {}).map(([type, run]) =>
      functionAction(type, run),
    );
    const actions = [...builtInActions({ processes, sandbox, children }), ...own];
    const workspaces = openWorkspaces({ outputDir, patches: store });
    const shortageListeners = new Set<(text: string) => void>();
    const local = new LocalWorker({
      actions,
      outputDir,
      clock: systemClock,
      env,
      workspaces,
      ...(options.maxParallel === undefined ? {} : { maxParallel: options.maxParallel }),
      ...(options.apiUrl === undefined ? {} : { apiUrl: options.apiUrl }),
      tell: (text) => {
        for (const listener of shortageListeners) listener(text);
      },
    });
    const worker = workerOf(local, { store, outputDir });
    const owner = currentOwner(randomUUID());
    const engine = new Engine({
      store,
      worker,
      sandbox,
      clock: systemClock,
      isDead,
      owner,
      workspaces: new GitWorkspaceKeeper(workspaces, owner.host),
      readArtifact: readOutputArtifact,
      failures: new FailureFiles(outputDir),
      newToken: () => randomBytes(16).toString("hex"),
      ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
    });
    const healFiles = new SelfHealFiles(outputDir);
    engine.onEvents((run, events) => healFiles.take(run, events));
    const inbox = new Inbox(store, engine, systemClock);
    inbox.start();
    const daruma = new Daruma(
      store,
      outputDir,
      engine,
      inbox,
      worker,
      sandbox,
      processes,
      own.map(({ type }) => type),
      env,
      (listener) => local.onOutput(listener),
      shortageListeners,
    );
    children.attach({
      store,
      startChild: async ({ inputs, parent, ...place }) =>
        daruma.start(await childFile(store, parent.runId, place), { inputs, parent }),
      resume: (runId) => daruma.resume(runId),
      // A step that is stopped with its engine is begun again by whoever resumes its run, and goes on with its child.
      cancel: async (runId, reason) => (daruma.closing ? undefined : daruma.cancel(runId, reason)),
    });
    return { daruma, engine, owner };
  }

  /** A workflow file, or a definition made by `defineWorkflow`. */
  load(source: string | Definition): Workflow {
    return typeof source === "string"
      ? readWorkflow(source, this.customActions)
      : fromDefinition(source, process.cwd());
  }

  async start(source: string | Definition | Workflow, options: StartOptions = {}): Promise<RunHandle> {
    const workflow = typeof source === "object" && "definition" in source ? source : this.load(source);
    const { definition } = workflow;
    const inputs = checkedInputs(definition, plainData(options.inputs ?? {}, "inputs"));
    const context = plainData(options.context ?? {}, "context");
    // The secrets of a server's run are those of the workers that execute it; it has not all of them, if any.
    const secrets =
      options.managed === true ? definition.secrets.filter((name) => this.env[name]) : definition.secrets;
    checkSecrets(secrets, this.env, { inputs, context }, workflow.text);
    if (options.only !== undefined) checkOnly(definition, options.only);
    const cause =
      options.key === undefined ? options.cause : causeOfKey(options.key, asked(workflow, options));
    const first = cause === undefined ? null : await findRunOf(this.store, cause);
    if (first !== null) return this.goOnWith(first, options);
    const request: NewRun = {
      definition,
      hash: workflow.hash,
      text: workflow.text,
      file: workflow.file,
      folder: workflow.folder,
      inputs,
      context,
      options: runOptions(options),
      ...(options.fork === undefined ? {} : { fork: await this.forkOf(options.fork, definition) }),
      ...(options.parent === undefined ? {} : { parent: options.parent }),
      ...(options.managed === undefined ? {} : { managed: options.managed }),
      ...(cause === undefined ? {} : { cause }),
    };
    try {
      const { runId, ended } = await this.engine.start(request);
      return this.follow(runId, ended);
    } catch (error) {
      return this.goOnWith(await orRunOf(this.store, cause, error), options);
    }
  }

  /** A run that was started before. A server's own are seen to already; else it goes on here, if nobody else runs it. */
  private async goOnWith(runId: number, { managed }: StartOptions): Promise<RunHandle> {
    if (managed === true) return this.follow(runId, Promise.resolve());
    const ended = this.engine.endOf(runId) ?? (await this.engine.retake(runId)).ended;
    return this.follow(runId, ended);
  }

  /** Go on with a run whose engine is gone. A run that is over just gives its result. */
  async resume(runId: number, reason?: string, key: string | null = null): Promise<RunHandle> {
    await requireOwnRuns(this.store, [{ run: runId }]);
    const { ended } = await this.engine.resume(runId, reason, key);
    return this.follow(runId, ended);
  }

  private async forkOf(
    { run: from, step, reason = "" }: NonNullable<StartOptions["fork"]>,
    definition: Definition,
  ): Promise<NonNullable<NewRun["fork"]>> {
    await requireOwnRuns(this.store, [{ run: from }]);
    const { run } = await loadRun(this.store, from);
    return { from, step, reason, reuse: reusableJobs(run, step, buildGraph(definition)) };
  }

  /** Cancel a run, whoever runs it. */
  async cancel(runId: number, reason: string): Promise<void> {
    await this.operate(runId, { type: "run.cancel", reason, key: randomUUID() });
  }

  /** Put an operator's command to a run, whoever runs it. A refusal is thrown with its code. */
  async operate(runId: number, command: OperatorCommand): Promise<CommandOutcome> {
    const plain = plainData(command, "command");
    if (plain.type !== "run.cancel") await requireOwnRuns(this.store, [{ run: runId }]);
    // Another server may have taken the run, and this engine learns of it only now.
    const taken = await this.engine.operate(runId, plain).catch(notOwnedIfLost);
    if (taken !== "not_owned") return outcomeOf(this.store, { runId, command: plain }, taken);
    return operateRun(this.store, {
      runId,
      command: plain,
      owner: currentOwner(randomUUID()),
      isDead,
      endLeftovers: (token) => this.worker.endLeftovers(token),
      onCommitted: (commit) => this.engine.listeners.tellBeside(commit),
    });
  }

  /** Hears of everything that runs of this program have committed, in order, each event flat. The answer stops it. */
  onEvents(listener: (events: readonly RunEvent[]) => void): () => void {
    return this.engine.onEvents((run, events) =>
      listener(
        events.map((logged) => {
          const item = eventItem(logged, namesIn(run, logged.event));
          return { run_id: run.id, workflow: run.workflow, ...item } as unknown as RunEvent;
        }),
      ),
    );
  }

  /** Hears, in a sentence, what steps wait for that the machine lacks: room for logs, processes, memory. */
  onShortage(listener: (text: string) => void): void {
    this.shortageListeners.add(listener);
  }

  /** For the parts of Daruma itself: with the run as it stands after the events. */
  onCommitted(listener: RunListener): () => void {
    return this.engine.onEvents(listener);
  }

  /** For the parts of Daruma itself: with the log so far of a run that others have run before. */
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
    const { store, outputDir, customActions } = this;
    return {
      store,
      outputDir,
      principal: { name: "program", role: "admin" },
      now: systemClock.now,
      operate: (runId, command) => this.operate(runId, command),
      runner: {
        start: async (workflow, options) => (await this.start(workflow, options)).runId,
        resume: async (runId, reason, key) => void (await this.resume(runId, reason, key)),
        listWorkers: () => [],
        whyNot: () => "it waits for a free place of this program",
      },
      customActions,
    };
  }

  /** Ends what runs and leaves its runs resumable. */
  async close(): Promise<void> {
    this.closing = true;
    this.inbox.stop();
    await this.engine.stop();
    await Promise.all([this.processes.close(), this.sandbox.close(), this.worker.close()]);
    await this.store.close();
  }

  private follow(runId: number, ended: Promise<unknown>): RunHandle {
    const result = ended.then(() => reportRun(this.store, runId));
    // The caller may look at it later; a loss is no unhandled rejection meanwhile.
    result.catch(() => {});
    return { runId, result };
  }
}

function notOwnedIfLost(error: unknown): "not_owned" {
  if (error instanceof DarumaError && error.code === "LEASE_LOST") return "not_owned";
  throw error;
}
