import { newBookState } from "../book/book.js";
import { DEFAULT_PRIORITY } from "../groups/concurrency.js";
import { newRecoveryCount } from "../tally/run-tally.js";
import type { Barrier } from "./barrier.js";
import { readyJobs } from "./batch/ready-jobs.js";
import type { Definition } from "./definition.js";
import type { Event } from "./events.js";
import { buildGraph } from "./graph.js";
import type { Job, Run, Scope } from "./run.js";
import { NO_TIME_USED } from "./time-used.js";
import { newWorkspaceState } from "./workspace-state.js";

/** Shared: most items have neither fan-outs nor reducers of their own. */
const NO_SCOPES: Scope["children"] = new Map();
export const NO_BRANCH_GATES: Scope["branchGates"] = new Map();

export function newScope(id: string, parent: Scope | null, opener: Job | null): Scope {
  return {
    id,
    parent,
    depth: parent === null ? 0 : parent.depth + 1,
    opener,
    item: null,
    open: true,
    generation: 0,
    abandoned: false,
    loops: 0,
    lastError: null,
    jobs: new Map(),
    children: NO_SCOPES,
    branchGates: NO_BRANCH_GATES,
  };
}

export function newBarrier(id: number): Barrier {
  return {
    id,
    targets: new Map(),
    members: new Set(),
    endingAttempts: new Set(),
    files: "keep",
    rebuild: null,
    restored: null,
  };
}

/** A run before its first event is folded in. */
export function newRun(
  id: number,
  definition: Definition,
  created: Extract<Event, { type: "run.created" }>,
  at: number,
): Run {
  const root = newScope("root", null, null);
  root.generation = 1;
  return {
    id,
    definition,
    graph: buildGraph(definition),
    root,
    workflowId: created.workflow_id,
    workflow: created.workflow,
    definitionHash: created.definition_hash,
    options: created.options,
    inputs: created.inputs,
    context: created.context,
    folder: created.folder,
    file: created.file,
    // Logs of the first builds have none of the three.
    parent: created.parent ?? null,
    managed: created.managed ?? false,
    cause: created.cause?.mark ?? null,
    labels: created.labels ?? {},
    // An imported run is never executed.
    concurrency: created.options.imported === true ? null : (created.concurrency ?? null),
    priority: created.priority ?? DEFAULT_PRIORITY,
    failureHandlerIds: new Map(
      (created.failure_handlers ?? []).map(({ name, id: handlerId }) => [name, handlerId]),
    ),
    maxLoops: created.options.max_loops ?? definition.maxLoops,
    createdAt: at,
    startedAt: null,
    finishedAt: null,
    status: "pending",
    error: null,
    cancelRequested: null,
    ending: null,
    undoable: new Map(),
    timeUsed: NO_TIME_USED,
    paused: null,
    stepRequest: null,
    fatal: null,
    scopes: new Map([[root.id, root]]),
    jobs: [],
    ready: readyJobs(definition.jobsSortMethod),
    running: new Set(),
    failed: new Set(),
    held: new Set(),
    asking: new Set(),
    parked: new Set(),
    routed: new Set(),
    userData: new Map(),
    reuse: new Map(),
    operatorKeys: new Set(),
    busy: 0,
    workspace: newWorkspaceState(),
    barriers: new Map(),
    nextBarrier: 1,
    nextEvaluation: 1,
    book: newBookState(),
    recoveries: newRecoveryCount(),
    outcomes: 0,
    lastAt: at,
    dirty: new Set(),
  };
}
