import { newJob } from "../model/jobs.js";
import { newBarrier, newRun, newScope } from "../model/new-run.js";
import type { Job, Run, Scope } from "../model/run.js";
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
export const FRESH_JOB: Job = newJob(0, null as never, null as never);
export const FRESH_SCOPE: Scope = newScope("", null, null);
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
