import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { DarumaError } from "../core/errors/errors.js";
import type { BreakerDefinition, NotifyRule } from "../core/model/definition.js";
import type { AnyFlow } from "../flow/flow.js";
import { FlowHost } from "../flow/flow-host.js";
import { builtInActions } from "../run/action/built-in-actions.js";
import { functionAction, type StepFunction } from "../run/action/function-action.js";
import type { ChildRuns } from "../run/action/workflow.js";
import { systemClock } from "../run/engine/clock.js";
import { Engine } from "../run/engine/engine.js";
import { Inbox } from "../run/engine/inbox.js";
import { createProcessHost } from "../run/process/create-process-host.js";
import { createSandbox } from "../run/sandbox/quickjs-sandbox.js";
import type { Sandbox } from "../run/sandbox/sandbox.js";
import { FailureFiles, SelfHealFiles } from "../run/wiring/failure-files.js";
import { GitWorkspaceKeeper } from "../run/wiring/git-workspace-keeper.js";
import { openStore } from "../run/wiring/open-store.js";
import { DEFAULT_OUTPUT_FOLDER, hideFromGit } from "../run/wiring/output-folder.js";
import { readOutputArtifact } from "../run/worker/attempt-output.js";
import { LocalWorker } from "../run/worker/local-worker.js";
import { LocalStops } from "../run/worker/local-worker-options.js";
import type { Worker } from "../run/worker.js";
import { openWorkspaces } from "../run/workspace/workspaces.js";
import { currentOwner, isDead } from "../store/lease-owner.js";
import type { LeaseOwner, Store } from "../store/store.js";
import { type Operate, operateAnywhere } from "./operate-run.js";

export interface DarumaOptions {
  /** The folder of the database, logs and artifacts. By default `.daruma` in the working folder. */
  readonly outputDir?: string | undefined;
  /** `memory` keeps nothing; else the database file (by default `daruma.db` in the output folder), or an open store. */
  readonly store?: string | Store | undefined;
  /** Attempts at a time; by default the number of cores. */
  readonly maxParallel?: number | undefined;
  /** TypeScript functions as steps, by the `type` that names them. */
  readonly actions?: { readonly [type: string]: StepFunction } | undefined;
  /** Programs whose calls are steps. One that is started need not be here as well. */
  readonly flows?: readonly AnyFlow[] | undefined;
  readonly env?: { readonly [name: string]: string | undefined } | undefined;
  /** How long a run stays with a program that gives no sign of life. */
  readonly leaseMs?: number | undefined;
  /** Breakers that steps of all workflows may use, as the settings have them. */
  readonly breakers?: readonly BreakerDefinition[] | undefined;
  /** Notification rules of the settings. Messages wait in the store for a process that has the channel. */
  readonly notify?: readonly NotifyRule[] | undefined;
  /** The address of the server that this is part of, for $DARUMA_API_URL. */
  readonly apiUrl?: (() => string) | undefined;
}

/** The worker of an engine, made from the one in this process: that one itself, or a pool with those of other machines. */
export type WorkerOf = (
  local: LocalWorker,
  place: {
    readonly store: Store;
    readonly outputDir: string;
    /** Called with a sentence for people. */
    readonly tell: (text: string) => void;
  },
) => Worker;

/** An engine with its store, worker and sandbox, put together and under way. */
export interface Parts {
  readonly store: Store;
  readonly outputDir: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly engine: Engine;
  readonly worker: Worker;
  readonly sandbox: Sandbox;
  readonly owner: LeaseOwner;
  /** Notification rules of the settings. */
  readonly notify: readonly NotifyRule[];
  /** Types of steps that the program itself brings. */
  readonly customActions: readonly string[];
  /** The programs of flows that this process has. */
  readonly flows: FlowHost;
  /** Names of the breakers of the settings. */
  readonly sharedBreakers: readonly string[];
  /** Hears what steps print in this process, redacted, as they print it. */
  readonly onOutput: LocalWorker["onOutput"];
  readonly shortageListeners: Set<(text: string) => void>;
  /** Called when something was committed that people may have to hear. */
  readonly noticeListeners: Set<() => void>;
  /** Gives an operator's command to a run, whichever process runs it. Throws a refusal with its code. */
  readonly operate: Operate;
  /** Ends what runs and leaves its runs resumable. */
  readonly close: () => Promise<void>;
}

export async function openParts(
  options: DarumaOptions,
  children: ChildRuns,
  workerOf: WorkerOf,
): Promise<Parts> {
  if (process.platform === "win32") throw new DarumaError("PLATFORM", "Windows is not supported yet");
  const outputDir = resolve(options.outputDir ?? DEFAULT_OUTPUT_FOLDER);
  hideFromGit(outputDir);
  const env = options.env ?? process.env;
  const store = await openStore(options.store, outputDir);
  const sandbox = createSandbox();
  const processes = createProcessHost();
  const own = Object.entries(options.actions ?? {}).map(([type, run]) => functionAction(type, run));
  const workspaces = openWorkspaces({ outputDir, patches: store });
  const shortageListeners = new Set<(text: string) => void>();
  const tell = (text: string): void => {
    for (const listener of shortageListeners) listener(text);
  };
  const { breakers = [], notify = [] } = options;
  const noticeListeners = new Set<() => void>();
  const actions = new Map(
    [...builtInActions({ processes, sandbox, children }), ...own].map((each) => [each.type, each]),
  );
  const local = new LocalWorker({
    actions,
    outputDir,
    clock: systemClock,
    env,
    workspaces,
    stops: new LocalStops(processes, systemClock, env),
    ...(options.maxParallel === undefined ? {} : { maxParallel: options.maxParallel }),
    ...(options.apiUrl === undefined ? {} : { apiUrl: options.apiUrl }),
    tell,
  });
  const worker = workerOf(local, { store, outputDir, tell });
  const owner = currentOwner(randomUUID());
  const operate: Operate = (runId, command) =>
    operateAnywhere({ store, engine, worker, notify }, runId, command);
  const engine: Engine = new Engine({
    store,
    worker,
    sandbox,
    clock: systemClock,
    isDead,
    owner,
    workspaces: new GitWorkspaceKeeper(workspaces, owner.host),
    readArtifact: readOutputArtifact,
    failures: new FailureFiles(outputDir),
    breakers: new Map(breakers.map((each) => [each.name, each])),
    notify,
    onNotices: () => {
      for (const listener of noticeListeners) listener();
    },
    tell,
    cancelRun: operate,
    // Node makes many UUIDs at a time, but requests random bytes from the system for each call.
    newToken: () => randomUUID().replaceAll("-", ""),
    ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
  });
  const flows = new FlowHost((action) => actions.set(action.type, action), {
    clock: systemClock,
    readArtifact: readOutputArtifact,
    call: (runId, command) => engine.decideNow(runId, command),
    runOf: (runId) => engine.hosts.get(runId)?.run ?? null,
  });
  for (const each of options.flows ?? []) flows.add(each);
  engine.onEvents((run, events) => flows.hear(run, events));
  const healFiles = new SelfHealFiles(outputDir);
  engine.onEvents((run, events) => healFiles.take(run, events));
  const inbox = new Inbox(store, engine, systemClock);
  inbox.start();
  return {
    store,
    outputDir,
    env,
    engine,
    worker,
    sandbox,
    owner,
    notify,
    operate,
    get customActions() {
      return [...own.map(({ type }) => type), ...flows.actions];
    },
    flows,
    sharedBreakers: breakers.map(({ name }) => name),
    onOutput: (listener) => local.onOutput(listener),
    shortageListeners,
    noticeListeners,
    close: async () => {
      inbox.stop();
      await engine.stop();
      // The engine was the last to write, so nothing here waits for anything else.
      const closed = await Promise.allSettled(
        [processes, sandbox, worker, store].map((part) => part.close()),
      );
      for (const each of closed) if (each.status === "rejected") throw each.reason;
    },
  };
}
