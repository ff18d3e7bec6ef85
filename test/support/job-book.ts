import type { Definition } from "../../src/core/model/definition.js";
import type { LoggedEvent } from "../../src/core/model/events.js";
import { buildGraph, type Graph, type GraphStep } from "../../src/core/model/graph.js";
import { JOB_IDS_PER_RUN } from "../../src/core/model/run.js";

export interface BookedJob {
  readonly id: number;
  readonly step: GraphStep;
  readonly scope: string;
}

const BOOKS = new WeakMap<readonly LoggedEvent[], JobBook>();

/** Which step and scope each job id of a log stands for, found from the log alone: no state of the core is read. */
export class JobBook {
  readonly graph: Graph;
  readonly jobs = new Map<number, BookedJob>();
  private readonly scopes = new Map<string, Map<string, BookedJob>>();

  /** Every invariant asks for the book of its log, which is made once. */
  static of(log: readonly LoggedEvent[], definition: Definition): JobBook {
    const known = BOOKS.get(log);
    if (known?.definition === definition) return known;
    const book = new JobBook(log, definition);
    BOOKS.set(log, book);
    return book;
  }

  private constructor(
    log: readonly LoggedEvent[],
    private readonly definition: Definition,
  ) {
    this.graph = buildGraph(definition);
    const base = baseOf(log);
    for (const step of this.graph.inRoot) this.add(base, step, "root");
    for (const { event } of log) {
      if (event.type === "job.created") this.add(base, this.graph.byId.get(event.step)!, event.scope);
      if (event.type === "scopes.opened") this.open(base, this.of(event.job), event.items.length);
    }
  }

  of(id: number): BookedJob {
    const job = this.jobs.get(id);
    if (job === undefined) throw new RangeError(`the log does not create job ${id}`);
    return job;
  }

  name(id: number): string {
    const job = this.of(id);
    return job.scope === "root" ? job.step.definition.id : `${job.step.definition.id}@${job.scope}`;
  }

  /** Whether the job's completion is followed by on_success routing before its dependents hear of it. */
  followsUp(id: number): boolean {
    const { definition, successEdges } = this.of(id).step;
    const { run, runJs, goto, gotoJs } = definition.onSuccess;
    return run.length > 0 || runJs !== null || goto !== null || gotoJs !== null || successEdges.length > 0;
  }

  /** The job that a step's name means in a scope: the nearest one outward. */
  resolve(step: GraphStep, scope: string): BookedJob | null {
    for (let at: string | null = scope; at !== null; at = parentOf(at)) {
      const job = this.scopes.get(at)?.get(step.definition.id);
      if (job !== undefined) return job;
    }
    return null;
  }

  private open(base: number, opener: BookedJob, items: number): void {
    for (let index = 0; index < items; index += 1) {
      const scope = itemScope(opener, index);
      if (this.scopes.has(scope)) continue;
      this.scopes.set(scope, new Map());
      for (const step of this.graph.inItemsOf.get(opener.step) ?? []) this.add(base, step, scope);
    }
  }

  private add(base: number, step: GraphStep, scope: string): void {
    const job: BookedJob = { id: base + this.jobs.size + 1, step, scope };
    this.jobs.set(job.id, job);
    const inScope = this.scopes.get(scope) ?? new Map<string, BookedJob>();
    this.scopes.set(scope, inScope);
    inScope.set(step.definition.id, job);
  }
}

function itemScope(opener: BookedJob, index: number): string {
  return `${opener.scope}/${opener.step.definition.id}[${index}]`;
}

/** The scopes of every item that a forEach job has ever had. */
export function itemsPrefix(opener: BookedJob): string {
  return `${opener.scope}/${opener.step.definition.id}[`;
}

function parentOf(scope: string): string | null {
  const cut = scope.lastIndexOf("/");
  return cut < 0 ? null : scope.slice(0, cut);
}

/** The run's part of its job ids, from the first event that names a job. */
function baseOf(log: readonly LoggedEvent[]): number {
  for (const { event } of log) {
    const id = "job" in event ? event.job : "jobs" in event ? event.jobs[0] : undefined;
    if (id !== undefined) return Math.floor(id / JOB_IDS_PER_RUN) * JOB_IDS_PER_RUN;
  }
  return 0;
}
