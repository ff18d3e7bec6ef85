import type { JobStatus } from "../../core/model/rows.js";
import { isInRecovery, type Job, type Run } from "../../core/model/run.js";
import { mayStart, treeKeeper } from "../../core/model/workspace-turn.js";
import type { WaitingRun } from "../../store/store.js";
import type { Needs, Worker } from "../worker.js";
import { isHumanStep } from "./human-step.js";
import { type KeyedNeeds, needsOf } from "./needs.js";
import type { RunHost } from "./run-host.js";

/** What another server must have to continue a waiting run. */
export interface RunAsks {
  /** Room for one of these. */
  readonly needs: readonly Needs[];
  /** Access to all of these files and folders: the run's own folder, and outputs kept as files. */
  readonly paths: readonly string[];
}

/** How many runs with the same needs are listed at a time. No server takes more of them at once than it has slots. */
const MAX_ALIKE = 50;
const MAX_NAMED = 2_000;
/** They are in one output folder, so a server that has these has the rest. */
const MAX_PATHS = 20;

/**
 * The runs that could continue if this engine had a place for any of their ready jobs. Runs with work in progress are
 * left out, because that work reports here.
 */
export function findWaiting(hosts: Iterable<RunHost>, worker: Worker): WaitingRun[] {
  const places = new Map<string, boolean>();
  const hasPlace = ({ key, needs }: KeyedNeeds): boolean => {
    const known = places.get(key);
    if (known !== undefined) return known;
    const place = worker.place(needs);
    const isThere = place !== null && place !== "full";
    if (isThere) worker.release(place);
    places.set(key, isThere);
    return isThere;
  };
  const alike = new Map<string, number>();
  const waiting: WaitingRun[] = [];
  for (const host of hosts) {
    const needs = unmetNeeds(host, hasPlace);
    if (needs.length === 0 || hasWorkHalfDone(host.run, worker)) continue;
    const kind = needs.map(({ key }) => key).join();
    const count = (alike.get(kind) ?? 0) + 1;
    alike.set(kind, count);
    if (count > MAX_ALIKE) continue;
    const { run, fence, lastSeq: seq } = host;
    const asks: RunAsks = { needs: needs.map((keyed) => keyed.needs), paths: pathsOf(run) };
    waiting.push({ runId: run.id, fence, seq, asks: JSON.stringify(asks) });
    if (waiting.length === MAX_NAMED) break;
  }
  return waiting;
}

interface WaitingJob {
  readonly run: Run;
  readonly job: Job;
}

/** Ready jobs that wait only for a worker: not for a breaker or a turn in the workspace. */
export function findWaitingJobs(
  hosts: Iterable<RunHost>,
  breakers: { keepsBack(host: RunHost, job: Job): boolean },
  limit: number,
): WaitingJob[] {
  const found: WaitingJob[] = [];
  for (const host of hosts) {
    const { run } = host;
    const isKeptBack = (job: Job): boolean => breakers.keepsBack(host, job);
    for (const job of run.ready) {
      if (isHumanStep(job) || isKeptBack(job) || !mayStart(run, job, isKeptBack)) continue;
      if (found.push({ run, job }) === limit) return found;
    }
  }
  return found;
}

/** The needs of its ready jobs, each once. Empty if the run does not wait for a worker. */
function unmetNeeds({ run, hasPending }: RunHost, hasPlace: (needs: KeyedNeeds) => boolean): KeyedNeeds[] {
  if (hasPending || run.ready.size === 0 || isAtWork(run)) return [];
  const unmet = new Map<string, KeyedNeeds>();
  for (const job of run.ready) {
    if (!mayStart(run, job) || isHumanStep(job)) continue;
    const keyed = needsOf(job, run.definition);
    if (hasPlace(keyed)) return [];
    unmet.set(keyed.key, keyed);
  }
  return [...unmet.values()];
}

function isAtWork(run: Run): boolean {
  const { rebuild, aside } = run.workspace;
  return run.running.size > 0 || rebuild !== null || aside !== null || run.jobs.some(isInRecovery);
}

/**
 * Whether a step of the workspace must continue in what its last attempt, or one that it repairs, has left. Moving the
 * run would lose that, and here the step will get its turn.
 */
function hasWorkHalfDone(run: Run, worker: Worker): boolean {
  if (run.workspace.path === null) return false;
  const mender = treeKeeper(run);
  return run.jobs.some((job) => {
    const { needs } = needsOf(job, run.definition);
    const findsWork = job.attempt > 0 || job === mender;
    return needs.usesWorkspace && findsWork && GOES_ON.has(job.status) && worker.hasTurnFor?.(needs) === true;
  });
}

const GOES_ON: ReadonlySet<JobStatus> = new Set(["blocked", "ready", "waiting", "recovering", "held"]);

function pathsOf({ folder, jobs }: Run): string[] {
  const paths = folder === "" ? [] : [folder];
  for (const job of jobs) {
    const path = outputPath(job);
    if (path !== null && paths.push(path) === MAX_PATHS) break;
  }
  return paths;
}

function outputPath({ output }: Job): string | null {
  return output?.kind === "artifact" ? output.path : null;
}
