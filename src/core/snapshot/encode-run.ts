import { newJob } from "../model/jobs.js";
import { newBarrier, newRun, newScope } from "../model/make-run.js";
import { findJob, JOB_IDS_PER_RUN, type Job, type Run, type Scope } from "../model/run.js";
import { withoutUsual } from "../model/stored-definition.js";
import { sha256Hex } from "../text/sha256.js";

/** The hash of everything in `src/core`, inserted by `scripts/bundle.mjs`. Undefined when the sources run directly. */
declare const DARUMA_CORE: string | undefined;
const BUILD = typeof DARUMA_CORE === "undefined" ? "sources" : DARUMA_CORE;

/** What stands first in a list says what the rest of it is. Objects stand for themselves. */
export const LIST = 0;
export const MAP = 1;
export const SET = 2;
export const STEP = 3;
export const JOB = 4;
export const SCOPE = 5;
export const BARRIER = 6;
/** The nth list or object of the same record once more. */
export const AGAIN = 7;

/** A record leaves out what these have too. */
const FRESH_JOB: Job = newJob(0, null as never, null as never);
const FRESH_SCOPE: Scope = newScope("", null, null);
const FRESH_RUN: Run = newRun(0, { steps: [], transitions: [] } as never, { options: {} } as never, 0);

/**
 * The fields in the order that every run, scope, barrier and job has. Null for one that is made otherwise, or comes
 * from the frame.
 */
export const RUN_FIELDS = fieldsOf(FRESH_RUN, [
  ...(["definition", "graph", "root", "scopes", "jobs", "barriers", "dirty"] as const),
]);
export const SCOPE_FIELDS = fieldsOf(FRESH_SCOPE, ["id", "jobs"]);
export const BARRIER_FIELDS = fieldsOf(newBarrier(0), []);
export const JOB_FIELDS = fieldsOf(FRESH_JOB, ["id", "step", "scope"]);

function fieldsOf<T extends object>(fresh: T, leftOut: readonly (keyof T)[]): readonly (string | null)[] {
  return Object.keys(fresh).map((name) => ((leftOut as readonly string[]).includes(name) ? null : name));
}

/** How many jobs, and where each belongs: all that the records of a snapshot speak of. */
export interface Frame {
  /** Their ids, the root first. */
  readonly scopes: readonly string[];
  readonly barriers: readonly number[];
  /** For each job: the number of its step, then that of its scope. */
  readonly jobs: readonly number[];
  /** Steps beyond those of the definition, in order, each with the numbers of the steps in whose items it lies. */
  readonly called?: readonly { readonly definition: object; readonly path: readonly number[] }[];
}

/**
 * The version of snapshots. Other rules of folding, or other fields, give another version, which never reads this one's
 * snapshots and so needs no conversion.
 */
export function snapshotVersion(): string {
  version ??= sha256Hex(
    [BUILD, ...[FRESH_RUN, FRESH_SCOPE, newBarrier(0), FRESH_JOB].map(shapeOf)].join(" "),
  );
  return version;
}

/** Few runs have a snapshot. */
let version: string | null = null;

function shapeOf(value: unknown): string {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return "";
  if (value instanceof Map || value instanceof Set) return "";
  return `{${Object.entries(value).map(([name, each]) => `${name}${shapeOf(each)}`)}}`;
}

type Fields = { readonly [field: string]: unknown };

/**
 * A run as lines of text from which `decodeRun` makes it again: the frame, the run, then its scopes, barriers and jobs.
 * A record has the fields that differ from a fresh one's. Whatever it holds is found by walking it, so a new field needs
 * nothing here.
 */
export function* encodeRun(run: Run): Generator<string> {
  const writer = new RecordWriter(run);
  yield JSON.stringify(frameOf(run));
  yield writer.write(run, RUN_FIELDS, []);
  const [freshScope, freshJob] = [Object.values(FRESH_SCOPE), Object.values(FRESH_JOB)];
  for (const scope of run.scopes.values()) yield writer.write(scope, SCOPE_FIELDS, freshScope);
  for (const barrier of run.barriers.values()) yield writer.write(barrier, BARRIER_FIELDS, []);
  for (const job of run.jobs) yield writer.write(job, JOB_FIELDS, freshJob);
}

function frameOf(run: Run): Frame {
  const scopes = [...run.scopes.keys()];
  const places = new Map(scopes.map((id, place) => [id, place]));
  const jobs = run.jobs.flatMap(({ step, scope }) => [step.index, places.get(scope.id)!]);
  const called = run.graph.steps.slice(run.definition.steps.length).map(({ definition, path }) => ({
    definition: withoutUsual(definition),
    path: path.map(({ index }) => index),
  }));
  return { scopes, barriers: [...run.barriers.keys()], jobs, ...(called.length === 0 ? {} : { called }) };
}

class RecordWriter {
  /** What this record holds already: a value that stands in it twice is one value again afterwards. */
  private readonly places = new Map<object, number>();

  constructor(private readonly run: Run) {}

  /** All values at once: asking for each field by its name takes five times as long. */
  write(from: object, fields: readonly (string | null)[], fresh: readonly unknown[]): string {
    const record: unknown[] = [];
    const values: readonly unknown[] = Object.values(from);
    for (let place = 0; place < fields.length; place += 1) {
      const value = values[place];
      if (value !== fresh[place] && fields[place] !== null) record.push(place, this.encode(value));
    }
    if (this.places.size > 0) this.places.clear();
    return JSON.stringify(record);
  }

  private encode(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    const known = this.reference(value);
    if (known !== null) return known;
    this.places.set(value, this.places.size);
    if (Array.isArray(value)) return this.encodeItems([LIST], value);
    if (value instanceof Map) return this.encodeItems([MAP], [...value].flat());
    // A set, or jobs in an order of their own.
    if (Symbol.iterator in value) return this.encodeItems([SET], value as Iterable<unknown>);
    return this.encodeObject(value);
  }

  private encodeItems(encoded: unknown[], items: Iterable<unknown>): unknown[] {
    for (const each of items) encoded.push(this.encode(each));
    return encoded;
  }

  private encodeObject(value: object): object {
    const encoded: { [key: string]: unknown } = {};
    for (const key of Object.keys(value)) {
      const each = this.encode((value as Fields)[key]);
      // An assignment would change the prototype; users' data may have such a key.
      if (key === "__proto__") Object.defineProperty(encoded, key, { value: each, enumerable: true });
      else encoded[key] = each;
    }
    return encoded;
  }

  /** What has its own record, or stood in this one before. */
  private reference(value: object): readonly unknown[] | null {
    const { run } = this;
    const { id, index } = value as { readonly id?: unknown; readonly index?: unknown };
    if (typeof index === "number" && run.graph.steps[index] === value) return [STEP, index];
    if (typeof id === "number") {
      if (findJob(run, id) === value) return [JOB, id - run.id * JOB_IDS_PER_RUN];
      if (run.barriers.get(id) === value) return [BARRIER, id];
    }
    if (typeof id === "string" && run.scopes.get(id) === value) return [SCOPE, id];
    const place = this.places.get(value);
    return place === undefined ? null : [AGAIN, place];
  }
}
