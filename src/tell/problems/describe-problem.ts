import { LADDER } from "../../core/decide/ladder/ladder.js";
import type { RungConsidered } from "../../core/model/events.js";
import { brokeOf, lineBelow } from "../../core/model/excerpt.js";
import { ANY_FAILURE, type ErrorRecord } from "../../core/model/failure.js";
import { JOB_STATUSES, RUN_STATUSES } from "../../core/model/rows.js";
import { EXPIRY, type Expiry, expiryOf } from "../../core/notices/expiry.js";
import { iso } from "../../core/text/iso-time.js";
import { oneLine } from "../../core/text/plain-text.js";
import { list, noted, nullable, number, type OfFields, object, text, word } from "../../core/text/shape.js";
import type { Store } from "../../store/store.js";
import type { UnansweredJob } from "../../store/unanswered.js";
import { jobRecord } from "../job-record.js";
import { BLOCKS, blocksOf } from "../lookup/blocked-steps.js";
import { ItemNames } from "../lookup/event-names.js";
import { type Considered, isSpent, marksOf, RUNG_MARK, type RungMark } from "../words/rung-marks.js";
import { capitalised } from "../words/sentence.js";
import { PROBLEM_KINDS, type ProblemGroup, runsIn } from "./open-problems.js";

/** How many runs are looked at to tell whether the ladder of the newest speaks for all. */
const MAX_COMPARED = 50;
/** How many kinds of failure of one step are listed. */
const MAX_KINDS = 50;
const RUNGS = LADDER.map(({ name }) => name);

const PROBLEM_ITEM = {
  job_id: number,
  run_id: number,
  step: text,
  scope: text,
  item: noted(
    nullable(text),
    "What the item of its fan-out, or the job of its family in the batch form, is called; null: it is of none.",
  ),
  signature: nullable(text),
  attempts: number,
  since: text,
  run: noted(
    nullable(
      object({
        status: word(RUN_STATUSES),
        started_at: text,
        jobs: nullable(object({ done: number, all: number })),
      }),
    ),
    "Of one problem alone; else null.",
  ),
} as const;
type ProblemItem = OfFields<typeof PROBLEM_ITEM>;

/** Jobs of a problem that failed alike. */
const KIND_OF_FAILURE = {
  signature: nullable(text),
  code: nullable(text),
  class: nullable(text),
  title: text,
  runs: number,
  jobs: number,
} as const;
type KindOfFailure = OfFields<typeof KIND_OF_FAILURE>;

/** What somebody should look at, once for all runs with the same cause. Times are ISO 8601. */
export const PROBLEM = {
  id: text,
  kind: word(PROBLEM_KINDS),
  workflow: text,
  step: noted(text, "As its file writes it: of a job with parameters in the batch form, the name with them."),
  signature: noted(nullable(text), "Null: there are several, in `kinds`, or none."),
  status: noted(word(JOB_STATUSES), "Of the newest job."),
  title: noted(text, "What broke, or what is asked."),
  error_line: nullable(text),
  error: noted(nullable(ANY_FAILURE), "Of the newest run."),
  question: nullable(object({ prompt: text, choices: list(text) })),
  expiry: noted(
    nullable(object(EXPIRY)),
    "Of the job that is the first to expire; null: all wait until somebody decides.",
  ),
  first_at: text,
  last_at: text,
  runs: number,
  jobs: number,
  blocks: noted(object(BLOCKS), "The steps that wait for it in the newest run, or never ran."),
  attempts: noted(
    number,
    "Of the newest run, in the present visit and in those before it that ended with a goto of its own.",
  ),
  tried: text,
  ladder: noted(list(object(RUNG_MARK)), "What each rung did in the newest run."),
  kinds: noted(
    list(object(KIND_OF_FAILURE)),
    "Of what its jobs failed, the most frequent first: items of one fan-out step, or of one job with parameters, are one problem.",
  ),
  ladder_differs: noted(
    nullable(object({ runs: number, of: number })),
    "In how many of its runs the ladder did something else; of one problem alone.",
  ),
  items: noted(list(object(PROBLEM_ITEM)), "The jobs, newest first."),
} as const;
export type Problem = OfFields<typeof PROBLEM>;

interface Extent {
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
  const failed = error === null ? "Held" : titleOf(error);
  const kinds = await kindsOf(store, group);
  const [most] = kinds;
  const isMixed = kinds.length > 1;
  const single = question === null ? failed : oneLine(question.prompt);
  const title = isMixed ? `${jobs.length} items failed in ${group.causes.length} ways` : single;
  const line = error === null ? null : lineBelow(error, single);
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
      const { id } = jobs[0]!;
      const error = (await store.readJob(id))?.error ?? null;
      const { code = null, class: failureClass = null } = error ?? {};
      const title = error === null ? "Held" : titleOf(error);
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
  return last?.type === "human.asked" ? { prompt: last.prompt, choices: last.choices } : null;
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

/** Says what broke as a title. A message of the engine begins with a capital letter then. */
function titleOf(error: ErrorRecord): string {
  const broke = brokeOf(error);
  return broke === error.message ? capitalised(broke) : broke;
}

/** "2 attempts, no retries left (1 used)": what the last climb found used up, or else why it did not retry. */
function triedText(attempts: number, lastClimb: readonly Considered[]): string {
  const count = attempts === 0 ? "no attempt" : `${attempts} attempt${attempts === 1 ? "" : "s"}`;
  const spent = lastClimb.filter(isSpent);
  const declined = lastClimb.filter(
    ({ rung, applied, kind }) => rung === "retry" && !applied && kind !== "not_configured",
  );
  return [count, ...(spent.length > 0 ? spent : declined).map(({ reason }) => reason)].join(", ");
}
