import { createHash } from "node:crypto";
import { type BookEntry, bookKey } from "../../core/book/book.js";
import { JOB_IDS_PER_RUN } from "../../core/model/run.js";
import { isOneOfSeveral, writtenStep } from "../../core/model/written-step.js";
import type { Store } from "../../store/store.js";
import type { UnansweredJob } from "../../store/unanswered.js";
import { isImported } from "../lookup/own-runs.js";

export const PROBLEM_KINDS = ["hold", "dead_letter", "question", "failed"] as const;
type ProblemKind = (typeof PROBLEM_KINDS)[number];

/** Jobs of one workflow and step that failed alike, in however many runs. */
interface Cause {
  readonly id: string;
  readonly signature: string | null;
  /** Newest first. */
  readonly jobs: readonly UnansweredJob[];
}

/** What somebody decides at once: one cause, or all causes of which jobs of a run failed that the file writes as one step. */
export interface ProblemGroup {
  /** That of one of its causes; all of theirs lead to it. */
  readonly id: string;
  readonly kind: ProblemKind;
  readonly workflow: string;
  /** The step as the file writes it. */
  readonly step: string;
  /** Null if there are several or none. */
  readonly signature: string | null;
  /** Newest first. */
  readonly jobs: readonly UnansweredJob[];
  /** The one with most jobs first. */
  readonly causes: readonly Cause[];
}

const ID_CHARS = 12;

/** Jobs, newest first, by what they wait for: of one workflow and step, failed alike. Each question is one of its own. */
function groupByCause(jobs: readonly UnansweredJob[]): ProblemGroup[] {
  const groups = new Map<string, { readonly kind: ProblemKind; readonly jobs: UnansweredJob[] }>();
  for (const job of jobs) {
    const kind = kindOf(job);
    const cause = kind === "question" || job.signature === null ? job.id : job.signature;
    const key = JSON.stringify([kind, job.workflow, writtenStep(job), cause]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { kind, jobs: [job] });
    else group.jobs.push(job);
  }
  return Array.from(groups, ([key, { kind, jobs: alike }]) => {
    const first = alike[0]!;
    const { workflow, signature } = first;
    const cause = { id: idOf(key), signature, jobs: alike };
    return { ...cause, kind, workflow, step: writtenStep(first), causes: [cause] };
  });
}

/** Merges groups of one step in the file that occur in the same run: they are one problem with several causes. */
function mergeSteps(groups: readonly ProblemGroup[]): ProblemGroup[] {
  const joined = new Map<ProblemGroup, ProblemGroup>();
  const headOf = (group: ProblemGroup): ProblemGroup => {
    let head = group;
    for (let next = joined.get(head); next !== undefined; next = joined.get(head)) head = next;
    return head;
  };
  const firstIn = new Map<string, ProblemGroup>();
  for (const group of groups) {
    for (const place of placesOf(group)) {
      const head = headOf(firstIn.get(place) ?? group);
      firstIn.set(place, head);
      if (headOf(group) !== head) joined.set(headOf(group), head);
    }
  }
  const members = new Map<ProblemGroup, ProblemGroup[]>();
  for (const group of groups) members.set(headOf(group), [...(members.get(headOf(group)) ?? []), group]);
  return [...members.values()].map(mergedOf);
}

/** The runs in which the step is several jobs. A question is a problem of its own there, too. */
function placesOf({ kind, workflow, step, jobs }: ProblemGroup): Set<string> {
  if (kind === "question") return new Set();
  const runs = jobs.filter(isOneOfSeveral).map(({ run_id }) => run_id);
  return new Set([...new Set(runs)].map((run) => JSON.stringify([kind, workflow, step, run])));
}

function mergedOf(members: readonly ProblemGroup[]): ProblemGroup {
  const [first] = members as [ProblemGroup];
  if (members.length === 1) return first;
  const jobs = members.flatMap((each) => each.jobs).sort((a, b) => b.at - a.at || b.id - a.id);
  const causes = members
    .flatMap((each) => each.causes)
    .sort((a, b) => b.jobs.length - a.jobs.length || (a.id < b.id ? -1 : 1));
  const id = causes.map((cause) => cause.id).sort()[0]!;
  return { ...first, id, signature: null, jobs, causes };
}

function kindOf({ status, dead_letter }: Pick<UnansweredJob, "status" | "dead_letter">): ProblemKind {
  if (dead_letter) return "dead_letter";
  if (status === "waiting") return "question";
  return status === "failed" ? "failed" : "hold";
}

export function runsIn({ jobs }: Pick<ProblemGroup, "jobs">): number {
  return new Set(jobs.map(({ run_id }) => run_id)).size;
}

function idOf(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, ID_CHARS);
}

/** More than a person can look through. */
const MAX_OPEN_JOBS = 50_000;
const KEYS_AT_ONCE = 500;

/**
 * All problems. What failed and has nothing to answer is one until somebody sets it aside, or a later run of the workflow
 * passes that step.
 */
export async function openProblems(store: Store, now: number): Promise<ProblemGroup[]> {
  const jobs = await withSignatures(store, await store.listUnanswered(MAX_OPEN_JOBS));
  const groups = groupByCause(jobs);
  const failed = groups.filter(({ kind }) => kind === "failed");
  const triaged = await readTriage(store, failed);
  const passed = await readPassed(store, failed);
  const open = groups.flatMap((group) => {
    if (group.kind !== "failed") return [group];
    const entry =
      group.signature === null ? undefined : triaged.get(bookKey({ ...group, signature: group.signature }));
    if (entry !== undefined && isMuted(entry, now)) return [];
    const left = group.jobs.filter(
      (job) => job.run_id >= (passed.get(placeOf(job)) ?? 0) && !isSetAside(job, entry),
    );
    const causes = group.causes.map((cause) => ({ ...cause, jobs: left }));
    return left.length === 0 ? [] : [{ ...group, jobs: left, causes }];
  });
  return mergeSteps(open);
}

/** A step whose `if` failed has no attempt that says it. */
async function withSignatures(store: Store, jobs: readonly UnansweredJob[]): Promise<UnansweredJob[]> {
  return Promise.all(
    jobs.map(async (job) => {
      if (job.signature !== null || job.status === "waiting") return job;
      return { ...job, signature: (await store.readJob(job.id))?.error?.signature ?? null };
    }),
  );
}

async function readTriage(store: Store, groups: readonly ProblemGroup[]): Promise<Map<string, BookEntry>> {
  const keys = groups.flatMap(({ workflow, step, signature }) =>
    signature === null ? [] : [{ workflow, step, signature }],
  );
  const entries: BookEntry[] = [];
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE)
    entries.push(...(await store.readEntries(keys.slice(from, from + KEYS_AT_ONCE))));
  return new Map(entries.map((entry) => [bookKey(entry), entry]));
}

function isMuted({ triage, muted_until }: BookEntry, now: number): boolean {
  return triage === "muted" && (muted_until ?? 0) > now;
}

/** What has failed since is not what somebody has looked at. */
function isSetAside({ at }: UnansweredJob, entry: BookEntry | undefined): boolean {
  return entry?.triage === "resolved" && at <= (entry.triaged_at ?? 0);
}

function placeOf({ workflow, step }: Pick<UnansweredJob, "workflow" | "step">): string {
  return JSON.stringify([workflow, step]);
}

/** By workflow and step: the first failed run after which none has passed. Each step of a family counts separately. */
async function readPassed(store: Store, groups: readonly ProblemGroup[]): Promise<Map<string, number>> {
  const places = new Map<string, Set<number>>();
  for (const job of groups.flatMap(({ jobs }) => jobs)) {
    const runs = places.get(placeOf(job)) ?? new Set();
    places.set(placeOf(job), runs);
    runs.add(job.run_id);
  }
  const newest = new Map<string, Promise<number>>();
  const found = new Map<string, number>();
  for (const [place, runs] of places) {
    const [workflow, step] = JSON.parse(place) as [string, string];
    const last = newest.get(workflow) ?? newestRunOf(store, workflow);
    newest.set(workflow, last);
    const inOrder = [...runs].sort((a, b) => a - b);
    found.set(place, await firstUnpassed(store, { workflow, step, newest: await last }, inOrder));
  }
  return found;
}

async function newestRunOf(store: Store, workflow: string): Promise<number> {
  return (await store.listRuns({ workflow, limit: 1 }))[0]?.id ?? 0;
}

interface SoughtStep {
  readonly workflow: string;
  readonly step: string;
  /** The newest run of the workflow. */
  readonly newest: number;
}

/** If a run was passed, so were all before it: the place is found by halves. */
async function firstUnpassed(store: Store, place: SoughtStep, runs: readonly number[]): Promise<number> {
  let [low, high] = [0, runs.length];
  // The newest is the one that was most likely not passed, or all of them were.
  for (let probe = runs.length - 1; low < high; probe = (low + high) >> 1) {
    if (await hasPassedSince(store, place, runs[probe]!)) low = probe + 1;
    else high = probe;
  }
  return runs[low] ?? Number.POSITIVE_INFINITY;
}

async function hasPassedSince(
  store: Store,
  { workflow, step, newest }: SoughtStep,
  runId: number,
): Promise<boolean> {
  if (newest <= runId) return false;
  for (let afterId = (runId + 1) * JOB_IDS_PER_RUN - 1; ; ) {
    const [job] = await store.listJobs({ workflow, step, status: ["completed"], afterId, limit: 1 });
    if (job === undefined) return false;
    const run = await store.readRun(job.run_id);
    if (run !== null && !isImported(run)) return true;
    afterId = (job.run_id + 1) * JOB_IDS_PER_RUN - 1;
  }
}
