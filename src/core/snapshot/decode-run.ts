import { addCalled } from "../model/graph.js";
import { addJob } from "../model/jobs.js";
import { newBarrier, newScope } from "../model/make-run.js";
import { JOB_IDS_PER_RUN, type Job, jobById, type Run } from "../model/run.js";
import { completeStep } from "../model/stored-definition.js";
import {
  AGAIN,
  BARRIER,
  BARRIER_FIELDS,
  type Frame,
  JOB,
  JOB_FIELDS,
  LIST,
  MAP,
  RUN_FIELDS,
  SCOPE,
  SCOPE_FIELDS,
  SET,
  STEP,
} from "./encode-run.js";

type Fields = { [field: string]: unknown };

/** Make a run that is as `newRun` made it what another was when `encodeRun` wrote these lines. */
export function decodeRun(run: Run, lines: Iterable<string>): void {
  const reader = new RecordReader(run, lines);
  const { ready } = run;
  putUp(run, JSON.parse(reader.next()) as Frame);
  reader.read(run, RUN_FIELDS);
  for (const scope of run.scopes.values()) reader.read(scope, SCOPE_FIELDS);
  for (const barrier of run.barriers.values()) reader.read(barrier, BARRIER_FIELDS);
  for (const job of run.jobs) reader.read(job, JOB_FIELDS);
  reader.end();
  // Into what orders them, now that it is known what each asks for.
  for (const job of run.ready) ready.add(job);
  (run as { ready: Run["ready"] }).ready = ready;
  run.dirty.clear();
}

/** All that records speak of, still empty. */
function putUp(run: Run, { scopes, barriers, jobs, called = [] }: Frame): void {
  for (const { definition, path } of called)
    addCalled(
      run.graph,
      completeStep({ ...definition }),
      path.map((index) => must(run.graph.steps[index])),
    );
  for (const id of scopes) if (!run.scopes.has(id)) run.scopes.set(id, newScope(id, null, null));
  for (const id of barriers) run.barriers.set(id, newBarrier(id));
  const places = [...run.scopes.values()];
  for (let place = 0; place < jobs.length; place += 2)
    addJob(run, must(run.graph.steps[jobs[place]!]), must(places[jobs[place + 1]!]));
}

class RecordReader {
  private readonly lines: Iterator<string>;
  /** The lists and objects of this record, in the order in which they began. */
  private readonly begun: unknown[] = [];

  constructor(
    private readonly run: Run,
    lines: Iterable<string>,
  ) {
    this.lines = lines[Symbol.iterator]();
  }

  next(): string {
    const { done, value } = this.lines.next();
    if (done === true) throw new RangeError("the snapshot ends too soon");
    return value;
  }

  end(): void {
    if (this.lines.next().done !== true) throw new RangeError("the snapshot goes on after its end");
  }

  read(into: object, fields: readonly (string | null)[]): void {
    const record = JSON.parse(this.next()) as unknown[];
    for (let place = 0; place < record.length; place += 2)
      (into as Fields)[must(fields[record[place] as number] ?? undefined)] = this.decode(record[place + 1]);
    this.begun.length = 0;
  }

  private decode(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    return Array.isArray(value) ? this.decodeList(value) : this.decodeObject(value as Fields);
  }

  private decodeObject(value: Fields): Fields {
    this.begun.push(value);
    for (const key of Object.keys(value)) {
      const each = value[key];
      // Its own keys are there, even one called `__proto__`.
      if (typeof each === "object" && each !== null) value[key] = this.decode(each);
    }
    return value;
  }

  private decodeList(value: readonly unknown[]): unknown {
    const { run } = this;
    const about = value[1];
    switch (value[0]) {
      case LIST:
        return this.decodeItems(value.slice(1));
      case SET:
        return this.decodeSet(value);
      case MAP:
        return this.decodeMap(value);
      case STEP:
        return must(run.graph.steps[about as number]);
      case JOB:
        return this.jobOf(about as number);
      case SCOPE:
        return must(run.scopes.get(about as string));
      case BARRIER:
        return must(run.barriers.get(about as number));
      case AGAIN:
        return must(this.begun[about as number]);
      default:
        throw new RangeError(`the snapshot has an unknown mark ${String(value[0])}`);
    }
  }

  private jobOf(place: number): Job {
    return jobById(this.run, this.run.id * JOB_IDS_PER_RUN + place);
  }

  private decodeItems(items: unknown[]): unknown[] {
    this.begun.push(items);
    for (let place = 0; place < items.length; place += 1) items[place] = this.decode(items[place]);
    return items;
  }

  private decodeSet(value: readonly unknown[]): Set<unknown> {
    const set = new Set<unknown>();
    this.begun.push(set);
    for (let place = 1; place < value.length; place += 1) set.add(this.decode(value[place]));
    return set;
  }

  private decodeMap(value: readonly unknown[]): Map<unknown, unknown> {
    const map = new Map<unknown, unknown>();
    this.begun.push(map);
    for (let place = 1; place < value.length; place += 2) {
      const key = this.decode(value[place]);
      map.set(key, this.decode(value[place + 1]));
    }
    return map;
  }
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new RangeError("the snapshot speaks of what is not in it");
  return value;
}
