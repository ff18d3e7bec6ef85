import { LADDER } from "../../core/decide/ladder/ladder.js";
import type { RungConsidered } from "../../core/model/events.js";
import type { ErrorRecord } from "../../core/model/failure.js";
import type { JobStatus, RunStatus } from "../../core/model/rows.js";
import { type Expiry, expiryOf } from "../../core/notify/expiry.js";
import { iso } from "../../core/text/iso-time.js";
import { oneLine } from "../../core/text/plain-text.js";
import type { Store } from "../../store/store.js";
import type { UnansweredJob } from "../../store/unanswered.js";
import { jobRecord } from "../job-record.js";
import { type Blocks, blocksOf } from "../lookup/blocked-steps.js";
import { ItemNames } from "../lookup/item-names.js";
import { errorLineOf, titleOf, triedText } from "../words/problem-words.js";
import { marksOf, type RungMark } from "../words/rung-marks.js";
import { type ProblemGroup, type ProblemKind, runsIn } from "./group-problems.js";

/** How many runs are looked at to tell whether the ladder of the newest speaks for all. */
const MAX_COMPARED = 50;
/** How many kinds of failure of one step are listed. */
const MAX_KINDS = 50;
const RUNGS = LADDER.map(({ name }) => name);

/** What somebody should look at, once for all runs with the same cause. Times are ISO 8601. */
export interface Problem {
  readonly id: string;
  readonly kind: ProblemKind;
  readonly workflow: string;
  readonly step: string;
  readonly signature: string | null;
  /** The status of the newest job. */
  readonly status: JobStatus;
  readonly title: string;
  readonly error_line: string | null;
  readonly error: ErrorRecord | null;
  readonly question: { readonly prompt: string; readonly choices: readonly string[] } | null;
  /** The expiry of the job that expires first; null if none does. */
  readonly expiry: Expiry | null;
  readonly first_at: string;
  readonly last_at: string;
  readonly runs: number;
  readonly jobs: number;
  readonly blocks: Blocks;
  readonly attempts: number;
  readonly tried: string;
  readonly ladder: readonly RungMark[];
  /** The kinds of failure of its jobs, the most frequent first. There is one if all failed alike. */
  readonly kinds: readonly KindOfFailure[];
  /** Null if it was not determined. */
  readonly ladder_differs: { readonly runs: number; readonly of: number } | null;
  readonly items: readonly ProblemItem[];
}

/** Jobs of a problem that failed alike. */
export interface KindOfFailure {
  readonly signature: string | null;
  readonly code: string | null;
  readonly class: string | null;
  readonly title: string;
  readonly runs: number;
  readonly jobs: number;
}

export interface ProblemItem {
  readonly job_id: number;
  readonly run_id: number;
  readonly step: string;
  readonly scope: string;
  /** The name of the item in its fan-out, or of the step in its family; null if it belongs to neither. */
  readonly item: string | null;
  readonly signature: string | null;
  readonly attempts: number;
  readonly since: string;
  readonly run: RunOfItem | null;
}

interface RunOfItem {
  readonly status: RunStatus;
  readonly started_at: string;
  readonly jobs: { readonly done: number; readonly all: number } | null;
}

export interface Extent {
  /** How many of its jobs are listed, newest first. */
  readonly items: number;
  /** Also describes its runs, and whether their ladders differ. Only for a single problem. */
  readonly whole: boolean;
}

export async function describeProblem(store: Store, group: ProblemGroup, extent: Extent): Promise<Problem> {
  const newest = group.jobs[0]!;
  const { id, kind, workflow, step, signature, jobs } = group;
  const [run, job] = [await store.readRun(newest.run_id), await store.readJob(newest.id)];
  const error = run === null || job === null ? null : jobRecord(run, job).error;
  const question = kind === "question" ? await questionOf(store, newest) : null;
  const climbs = kind === "question" ? NO_CLIMBS : await climbsOf(store, newest);
  const ladder = marksOf(RUNGS, climbs.considered);
  const times = jobs.map(({ at }) => at);
  const failed = error === null ? "Held" : titleOf(error, newest.step);
  const kinds = await kindsOf(store, group);
  const [most] = kinds;
  const isMixed = kinds.length > 1;
  const single = question === null ? failed : oneLine(question.prompt);
  const title = isMixed ? `${jobs.length} items failed in ${group.causes.length} ways` : single;
  const line = error === null ? null : errorLineOf(error, single);
  const told = extent.items === 0 ? [] : jobs.slice(0, extent.items);
  const names = new ItemNames(store);
  return {
    ...{ id, kind, workflow, step, signature, status: newest.status },
    title,
    error_line: isMixed ? most!.title : line,
    error,
    question,
    expiry: await firstExpiry(store, group),
    first_at: iso(times.reduce((a, b) => Math.min(a, b))),
    last_at: iso(times.reduce((a, b) => Math.max(a, b))),
    runs: runsIn(group),
    jobs: jobs.length,
    blocks: await blocksOf(store, newest),
    attempts: climbs.attempts,
    tried:
      kind === "question"
        ? "waits for an answer"
        : triedText(climbs.attempts, climbs.considered.at(-1) ?? []),
    ladder,
    ladder_differs: extent.whole && kind !== "question" ? await differences(store, group, ladder) : null,
    kinds,
    items: await Promise.all(
      told.map(async (each) => ({
        ...(await describeItem(store, each, extent.whole)),
        item: each.family === null ? await names.nameOf(each.run_id, each.scope) : each.step,
      })),
    ),
  };
}

async function kindsOf(store: Store, { kind, causes }: ProblemGroup): Promise<KindOfFailure[]> {
  if (kind === "question") return [];
  return Promise.all(
    causes.slice(0, MAX_KINDS).map(async ({ signature, jobs }) => {
      const { id, step } = jobs[0]!;
      const error = (await store.readJob(id))?.error ?? null;
      const { code = null, class: failureClass = null } = error ?? {};
      const title = error === null ? "Held" : titleOf(error, step);
      return { signature, code, class: failureClass, title, runs: runsIn({ jobs }), jobs: jobs.length };
    }),
  );
}

async function describeItem(
  store: Store,
  job: UnansweredJob,
  withRun: boolean,
): Promise<Omit<ProblemItem, "item">> {
  const { id: job_id, run_id, step, scope, signature, attempt_id: attempts, at } = job;
  const item = { job_id, run_id, step, scope, signature, attempts, since: iso(at), run: null };
  const run = withRun ? await store.readRun(run_id) : null;
  if (run === null) return item;
  const { status, started_at, created_at, tally } = run;
  const counts = tally === null ? null : Object.values(tally.jobs).reduce((sum, count) => sum + count, 0);
  const jobs = counts === null ? null : { done: tally!.jobs.completed ?? 0, all: counts };
  return { ...item, run: { status, started_at: iso(started_at ?? created_at), jobs } };
}

async function questionOf(store: Store, { id, run_id }: UnansweredJob): Promise<Problem["question"]> {
  const asked = await store.readEvents(run_id, { job: id, types: ["human.asked"] });
  const last = asked.at(-1)?.event;
  return last?.type === "human.asked" ? { prompt: last.prompt, choices: [...last.choices] } : null;
}

async function firstExpiry(store: Store, { jobs }: ProblemGroup): Promise<Expiry | null> {
  const due = jobs.filter(({ due_at }) => due_at !== null);
  if (due.length === 0) return null;
  const { id, run_id } = due.reduce((first, each) => (each.due_at! < first.due_at! ? each : first));
  const events = await store.readEvents(run_id, { job: id, types: ["job.held", "human.asked"] });
  const last = events.at(-1)?.event;
  return last?.type === "job.held" || last?.type === "human.asked" ? expiryOf(last) : null;
}

interface Climbs {
  readonly attempts: number;
  readonly considered: readonly (readonly RungConsidered[])[];
}

const NO_CLIMBS: Climbs = { attempts: 0, considered: [] };

/** What the ladder did in the job's present visit, and in those before it that ended with the job's own goto. Oldest first. */
async function climbsOf(store: Store, { id, run_id, visit }: UnansweredJob): Promise<Climbs> {
  const all = await store.readAttempts(run_id, id);
  const visitOf = new Map(all.map(({ attempt, visit }) => [attempt, visit]));
  const events = await store.readEvents(run_id, { job: id, types: ["ladder.climbed"] });
  const climbs = events.flatMap(({ event }) => (event.type === "ladder.climbed" ? [event] : []));
  const wentBack = new Set(
    climbs.filter(({ rung }) => rung === "goto").map(({ attempt }) => visitOf.get(attempt)),
  );
  let first = visit;
  while (wentBack.has(first - 1)) first -= 1;
  const attempts = all.filter((attempt) => attempt.visit >= first);
  const counted = new Set(attempts.map(({ attempt }) => attempt));
  const considered = climbs.filter(({ attempt }) => attempt === 0 || counted.has(attempt));
  return { attempts: attempts.length, considered: considered.map((climb) => climb.considered) };
}

/** In how many of its runs the ladder acted differently than in the newest. */
async function differences(
  store: Store,
  { jobs }: ProblemGroup,
  newest: readonly RungMark[],
): Promise<NonNullable<Problem["ladder_differs"]>> {
  const compared = jobs.slice(0, MAX_COMPARED);
  const same = looksOf(newest);
  const others = new Set<number>();
  for (const job of compared.slice(1))
    if (looksOf(marksOf(RUNGS, (await climbsOf(store, job)).considered)) !== same) others.add(job.run_id);
  return { runs: others.size, of: runsIn({ jobs: compared }) };
}

function looksOf(marks: readonly RungMark[]): string {
  return marks.map(({ mark, times }) => `${mark} ${times}`).join();
}
