import { DarumaError } from "../../core/errors.js";
import type { Event, LoggedEvent } from "../../core/events.js";
import type { AttemptRow, FailureHandlerRow, JobRow, RouteRow, RunRow } from "../../core/rows.js";
import { type RunPosition, refuseMalformedAppend, refuseStaleAppend } from "../append-rules.js";
import { givesWay } from "../lease-rules.js";
import { toStorableText } from "../storable-text.js";
import type {
  Append,
  InboxCommand,
  Lease,
  LeaseRequest,
  NewInboxCommand,
  NewWorkflow,
  RegisteredWorkflow,
  RunFilter,
  SerialisedEvent,
  Store,
} from "../store.js";
import { refuseMalformedWorkflow } from "../workflow-rules.js";

export interface MemoryStore extends Store {
  /** The next commit fails with `error`. `applied`: it was written all the same, only the answer is lost. */
  failNextCommit(error: Error, how: { readonly applied: boolean }): void;
  /** Another handle on the same data, as a process that opens the same file again. */
  reopen(): MemoryStore;
}

/** The reference store. It has no timers: every answer is a promise that is settled already, so simulations replay. */
export function createMemoryStore(): MemoryStore {
  return new MemoryStoreHandle(new MemoryTables());
}

/** Rows are kept as JSON text, so no caller can reach into the store, and values come back as a database gives them. */
class RunTables {
  run = "";
  readonly events: SerialisedEvent[] = [];
  readonly jobs = new Map<number, string>();
  readonly attempts = new Map<string, string>();
  readonly routes: string[] = [];
}

interface LeaseState {
  readonly fence: number;
  readonly lease: Lease | null;
}

interface WorkflowVersion {
  readonly id: number;
  readonly name: string;
  readonly version: number;
  readonly hash: string;
}

class MemoryTables {
  lastRunId = 0;
  readonly workflows: WorkflowVersion[] = [];
  readonly failureHandlers: FailureHandlerRow[] = [];
  readonly definitions = new Map<string, string>();
  readonly runs = new Map<number, RunTables>();
  readonly leases = new Map<number, LeaseState>();
  readonly inbox: (NewInboxCommand & { id: number; answer: string | null })[] = [];

  positionOf(runId: number): RunPosition {
    const lease = this.leases.get(runId)?.lease ?? null;
    return { fence: lease?.fence ?? null, lastSeq: this.runs.get(runId)?.events.length ?? 0 };
  }

  /** As a foreign key does it in a database. */
  refuseUnknownHandlers(jobs: readonly JobRow[]): void {
    for (const { id, failure_handler_id } of jobs) {
      if (failure_handler_id === null || this.failureHandlers[failure_handler_id - 1] !== undefined) continue;
      throw new DarumaError("STORE_FAILED", `job ${id}: there is no failure handler ${failure_handler_id}`);
    }
  }

  apply(append: Append): void {
    let tables = this.runs.get(append.runId);
    if (tables === undefined) {
      tables = new RunTables();
      this.runs.set(append.runId, tables);
    }
    if (append.run !== null) tables.run = JSON.stringify(append.run);
    for (const { at, type, data } of append.events) tables.events.push({ at, type, data });
    for (const job of append.jobs) tables.jobs.set(job.id, JSON.stringify(job));
    for (const attempt of append.attempts) {
      tables.attempts.set(`${attempt.job_id}/${attempt.attempt}`, JSON.stringify(attempt));
    }
    for (const route of append.routes) {
      tables.routes.push(JSON.stringify({ ...route, reason: toStorableText(route.reason) }));
    }
  }
}

class MemoryStoreHandle implements MemoryStore {
  readonly #tables: MemoryTables;
  #plannedFailure: { readonly error: Error; readonly applied: boolean } | null = null;
  #closed = false;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  failNextCommit(error: Error, { applied }: { readonly applied: boolean }): void {
    this.#plannedFailure = { error, applied };
  }

  reopen(): MemoryStore {
    return new MemoryStoreHandle(this.#tables);
  }

  async registerWorkflow(workflow: NewWorkflow): Promise<RegisteredWorkflow> {
    const { workflows, definitions, failureHandlers } = this.#open();
    refuseMalformedWorkflow(workflow);
    if (!definitions.has(workflow.hash)) definitions.set(workflow.hash, workflow.definition);
    const versions = workflows.filter(({ name }) => name === workflow.name);
    let registered = versions.find(({ hash }) => hash === workflow.hash);
    if (registered === undefined) {
      const { name, hash } = workflow;
      registered = { id: workflows.length + 1, name, version: versions.length + 1, hash };
      workflows.push(registered);
      for (const handler of workflow.failureHandlers) {
        const place = { id: failureHandlers.length + 1, workflow_id: registered.id };
        failureHandlers.push({ ...place, name: handler.name, rules: handler.rules });
      }
    }
    const { id: workflowId, version } = registered;
    const handlers = failureHandlers.filter(({ workflow_id }) => workflow_id === workflowId);
    return { workflowId, version, failureHandlers: handlers.map(({ id, name }) => ({ id, name })) };
  }

  async readFailureHandler(id: number): Promise<FailureHandlerRow | null> {
    const handler = this.#open().failureHandlers[id - 1];
    return handler === undefined ? null : { ...handler };
  }

  async listFailureHandlers(workflowId?: number): Promise<FailureHandlerRow[]> {
    return this.#open()
      .failureHandlers.filter(({ workflow_id }) => workflowId === undefined || workflow_id === workflowId)
      .map((handler) => ({ ...handler }));
  }

  async readDefinition(hash: string): Promise<string | null> {
    return this.#open().definitions.get(hash) ?? null;
  }

  async reserveRunId(): Promise<number> {
    const tables = this.#open();
    tables.lastRunId += 1;
    return tables.lastRunId;
  }

  async commit(appends: readonly Append[]): Promise<void> {
    const tables = this.#open();
    const planned = this.#plannedFailure;
    this.#plannedFailure = null;
    if (planned !== null && !planned.applied) throw planned.error;
    for (const append of appends) refuseMalformedAppend(append);
    const ends = new Map<number, number>();
    for (const append of appends) {
      const { fence, lastSeq } = tables.positionOf(append.runId);
      refuseStaleAppend(append, { fence, lastSeq: ends.get(append.runId) ?? lastSeq });
      ends.set(append.runId, append.firstSeq + append.events.length - 1);
      tables.refuseUnknownHandlers(append.jobs);
    }
    for (const append of appends) tables.apply(append);
    if (planned !== null) throw planned.error;
  }

  async readRun(runId: number): Promise<RunRow | null> {
    const run = this.#open().runs.get(runId)?.run;
    return run === undefined ? null : parse<RunRow>(run);
  }

  async listRuns({ status, workflow, parentJob, limit, beforeId }: RunFilter): Promise<RunRow[]> {
    return [...this.#open().runs.values()]
      .map(({ run }) => parse<RunRow>(run))
      .filter((run) => status === undefined || status.includes(run.status))
      .filter((run) => workflow === undefined || run.workflow === workflow)
      .filter((run) => parentJob === undefined || run.parent?.job_id === parentJob)
      .filter((run) => beforeId === undefined || run.id < beforeId)
      .sort((a, b) => b.id - a.id)
      .slice(0, limit);
  }

  async readEvents(runId: number, range: { afterSeq?: number; limit?: number } = {}): Promise<LoggedEvent[]> {
    const events = this.#open().runs.get(runId)?.events ?? [];
    const from = range.afterSeq ?? 0;
    const part = events.slice(from, range.limit === undefined ? undefined : from + range.limit);
    return part.map(({ at, data }, i) => ({ seq: from + i + 1, at, event: parse<Event>(data) }));
  }

  async readJobs(runId: number): Promise<JobRow[]> {
    const jobs = this.#open().runs.get(runId)?.jobs.values() ?? [];
    return Array.from(jobs, (job) => parse<JobRow>(job)).sort((a, b) => a.id - b.id);
  }

  async readAttempts(runId: number): Promise<AttemptRow[]> {
    const attempts = this.#open().runs.get(runId)?.attempts.values() ?? [];
    return Array.from(attempts, (attempt) => parse<AttemptRow>(attempt)).sort(
      (a, b) => a.job_id - b.job_id || a.attempt - b.attempt,
    );
  }

  async readRoutes(runId: number): Promise<RouteRow[]> {
    const routes = this.#open().runs.get(runId)?.routes ?? [];
    return routes.map((route) => parse<RouteRow>(route)).sort((a, b) => a.seq - b.seq);
  }

  async acquireLease(request: LeaseRequest): ReturnType<Store["acquireLease"]> {
    const { leases } = this.#open();
    const state = leases.get(request.runId) ?? { fence: 0, lease: null };
    if (state.lease !== null && !givesWay(state.lease, request)) {
      return { granted: false, lease: structuredClone(state.lease) };
    }
    const fence = state.fence + 1;
    const lease = { owner: { ...request.owner }, fence, expiresAt: request.expiresAt };
    leases.set(request.runId, { fence, lease });
    return { granted: true, fence };
  }

  async renewLease(runId: number, fence: number, expiresAt: number): Promise<boolean> {
    const { leases } = this.#open();
    const lease = leases.get(runId)?.lease ?? null;
    if (lease?.fence !== fence) return false;
    leases.set(runId, { fence, lease: { ...lease, expiresAt } });
    return true;
  }

  async releaseLease(runId: number, fence: number): Promise<void> {
    const { leases } = this.#open();
    if (leases.get(runId)?.fence === fence) leases.set(runId, { fence, lease: null });
  }

  async readLease(runId: number): Promise<Lease | null> {
    return structuredClone(this.#open().leases.get(runId)?.lease ?? null);
  }

  async sendCommand({ runId, key, command, at }: NewInboxCommand): Promise<number> {
    const { inbox } = this.#open();
    const there = inbox.find((entry) => entry.runId === runId && entry.key === key);
    if (there !== undefined) return there.id;
    const id = inbox.length + 1;
    inbox.push({ id, runId, key, command: toStorableText(command), at, answer: null });
    return id;
  }

  async readInbox(runIds: readonly number[]): Promise<InboxCommand[]> {
    return this.#open()
      .inbox.filter((entry) => entry.answer === null && runIds.includes(entry.runId))
      .map(({ id, runId, command }) => ({ id, runId, command }));
  }

  async answerCommand(id: number, answer: string): Promise<void> {
    const entry = this.#open().inbox[id - 1];
    if (entry !== undefined) entry.answer ??= toStorableText(answer);
  }

  async readAnswer(id: number): Promise<string | null> {
    return this.#open().inbox[id - 1]?.answer ?? null;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #open(): MemoryTables {
    if (this.#closed) throw new DarumaError("STORE_FAILED", "the store is closed");
    return this.#tables;
  }
}

function parse<Row>(text: string): Row {
  return JSON.parse(text) as Row;
}
