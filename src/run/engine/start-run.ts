import { evolve } from "../../core/evolve/evolve.js";
import { failureHandlersOf } from "../../core/evolve/projections.js";
import type { RunConcurrency } from "../../core/groups/concurrency.js";
import type { Command } from "../../core/model/commands.js";
import type { Definition, NotifyRule } from "../../core/model/definition.js";
import type { Event, ReusedJob, RunCause, RunOptions } from "../../core/model/events.js";
import { newRun } from "../../core/model/make-run.js";
import type { Json } from "../../core/text/json.js";
import type { Labels } from "../../core/text/labels.js";
import type { RegisteredWorkflow, Store } from "../../store/store.js";
import { RunHost } from "./run-host.js";
import type { WorkspaceKeeper } from "./workspace/workspace-keeper.js";

export interface NewRun {
  readonly definition: Definition;
  readonly hash: string;
  /** The definition as JSON. */
  readonly text: string;
  /** The text it was read from; missing if none is kept. */
  readonly written?: string;
  readonly file: string | null;
  readonly folder: string;
  readonly inputs: { readonly [name: string]: Json };
  readonly context: { readonly [name: string]: Json };
  readonly options: RunOptions;
  /** Set if the run reuses what another run has done. */
  readonly fork?: {
    readonly from: number;
    /** The step where the fork begins. By default wherever something has changed. */
    readonly step?: string;
    readonly reason: string;
    readonly reuse: readonly ReusedJob[];
  };
  /** The job for which this is a child run. */
  readonly parent?: { readonly runId: number; readonly jobId: number };
  /** Whether servers continue it by themselves. */
  readonly managed?: boolean;
  readonly cause?: RunCause;
  readonly labels?: Labels;
  readonly concurrency?: RunConcurrency;
  readonly priority?: number;
}

export function registerWorkflowOf(store: Store, request: NewRun, now: number): Promise<RegisteredWorkflow> {
  const { definition, hash, text, file, written } = request;
  return store.registerWorkflow({
    name: definition.name,
    hash,
    definition: text,
    file,
    ...(written === undefined ? {} : { written }),
    at: now,
    failureHandlers: failureHandlersOf(definition),
  });
}

/** Opens the workspace before the run is on record, so that a run that cannot have one never exists. */
export async function openWorkspaceOf(
  workspaces: WorkspaceKeeper,
  runId: number,
  { definition, folder }: NewRun,
): Promise<Command[]> {
  if (!definition.workspace) return [];
  const opened = await workspaces.open({ runId, folder, ...definition.workspace });
  return [{ type: "workspace.open", ...opened }];
}

/** Makes a run with its first event, which is not committed yet. */
export function createRun(
  request: NewRun,
  { workflowId, failureHandlers }: RegisteredWorkflow,
  {
    runId,
    fence,
    now,
    notify,
  }: {
    readonly runId: number;
    readonly fence: number;
    readonly now: number;
    readonly notify?: readonly NotifyRule[] | undefined;
  },
): RunHost {
  const { parent } = request;
  const created: Extract<Event, { type: "run.created" }> = {
    type: "run.created",
    workflow: request.definition.name,
    workflow_id: workflowId,
    definition_hash: request.hash,
    inputs: request.inputs,
    context: request.context,
    options: request.options,
    folder: request.folder,
    file: request.file,
    parent: parent === undefined ? null : { run_id: parent.runId, job_id: parent.jobId },
    managed: request.managed ?? false,
    ...(request.cause === undefined ? {} : { cause: request.cause }),
    ...(request.labels === undefined ? {} : { labels: request.labels }),
    ...(request.concurrency === undefined ? {} : { concurrency: request.concurrency }),
    ...(request.priority === undefined ? {} : { priority: request.priority }),
    failure_handlers: failureHandlers,
  };
  const run = newRun(runId, request.definition, created, now);
  evolve(run, created, now);
  const host = new RunHost(run, fence, 1, 0, notify);
  host.keep([created], now);
  return host;
}

/** The first commands for a new run. */
export function firstCommands({ fork, concurrency }: NewRun, prepared: readonly Command[]): Command[] {
  const forked: Command[] = fork === undefined ? [] : [{ type: "run.fork", ...fork }];
  // A run that does not wait takes its place with its first commit, or is never created.
  const begins = concurrency === undefined || concurrency.policy === "reject";
  return [...forked, ...prepared, ...(begins ? [{ type: "run.start" } as const] : [])];
}
