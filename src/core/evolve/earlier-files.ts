import type { Barrier } from "../model/barrier.js";
import type { EventOf, KeptLeftover } from "../model/events.js";
import { traitsOf } from "../model/failure.js";
import type { EarlierFiles, KnownBefore, LeftBehind } from "../model/files-policy.js";
import type { Job, Run } from "../model/run.js";
import type { Leftover, RunCheckpoint } from "../model/workspace-state.js";

/** More than a prompt has room for. */
const MAX_NAMED_FILES = 50;
const MAX_TOLD = 50;
const NOTHING: LeftBehind = { attempts: [], files: [], patch: null };

/**
 * The job's next attempt hears this, too. What a later attempt did stands behind: a round of the queue leaves the fresh
 * workspace of the round before first, and begins another instead of the tree in which older work lies only then.
 */
function tell(job: Job, news: Omit<EarlierFiles, "step">, step: string | null = null): void {
  const said = job.earlierFiles;
  const last = said.at(-1);
  const told = { ...news, step };
  const goesOn = news.attempts.length > 0 && last?.state === news.state && last.patch === news.patch;
  if (goesOn) {
    job.earlierFiles = [...said.slice(0, -1), { ...told, ...joined(last, news) }];
    return;
  }
  const newer = said.findIndex((each) => isOlder(news, each));
  job.earlierFiles = said.toSpliced(newer === -1 ? said.length : newer, 0, told).slice(-MAX_TOLD);
}

function isOlder(one: Pick<EarlierFiles, "attempts">, other: Pick<EarlierFiles, "attempts">): boolean {
  return one.attempts.length > 0 && Math.max(...other.attempts) > Math.max(...one.attempts);
}

function joined(
  one: Pick<EarlierFiles, "attempts" | "files">,
  other: Pick<EarlierFiles, "attempts" | "files">,
): Pick<EarlierFiles, "attempts" | "files"> {
  return {
    attempts: inOrder([...one.attempts, ...other.attempts]),
    files: [...new Set([...one.files, ...other.files])].slice(0, MAX_NAMED_FILES),
  };
}

/** What is in the tree once the attempt has failed; a lost one tells nothing of it. */
export function leftBehindBy(
  job: Job,
  { attempt, error, patch }: EventOf<"attempt.failed">,
): LeftBehind | null {
  if (error.diff_hash === null) return traitsOf(error.class).lost ? job.leftBehind : null;
  const attempts = [...(job.leftBehind?.attempts ?? []), attempt];
  return { attempts, files: error.changed_files, patch: patch ?? null };
}

/** A lost or interrupted attempt of the job goes on in what it left: it stays in the tree. */
export function goOnUnfinished(job: Job): void {
  const { attempts, files, patch } = job.leftBehind ?? NOTHING;
  job.leftBehind = { attempts: [...attempts, job.attempt], files, patch };
  tell(job, { state: "unfinished", attempts: [job.attempt], files: [], patch: null });
}

/** What was kept of what this attempt had left, if it was. */
export function keptOf(
  { workspace }: Run,
  of: { readonly job: Pick<Job, "id">; readonly attempt: number },
): KeptLeftover | undefined {
  return workspace.partials.findLast(({ job, attempt }) => job === of.job.id && attempt === of.attempt);
}

/** What the job has left in its present visit, also where it does not lie in the tree any more. */
export function leftInVisit(run: Run, job: Job): LeftBehind {
  const left = job.leftBehind ?? NOTHING;
  const { leftover } = run.workspace;
  if (leftover?.job === job) return withLast(left, { attempt: leftover.attempt, patch: left.patch });
  const kept = keptOf(run, { job, attempt: job.attempt });
  return kept === undefined ? left : withLast(left, kept);
}

/** The barrier has closed: what its target had completed is there, or was taken back. `left`: what it had not. */
export function tellWayBack(
  { workspace }: Run,
  job: Job,
  { files, restored }: Pick<Barrier, "files" | "restored">,
  cutOff: readonly RunCheckpoint[],
  left: LeftBehind,
): void {
  // What is still in the tree is recorded when it is set aside.
  if (workspace.leftover?.job === job) job.leftBehind = left;
  else if (left.attempts.length > 0) tell(job, { state: "set_back", ...left });
  const kept = files === "keep";
  const own = kept ? workspace.checkpoints.filter((each) => each.job === job && !each.superseded) : cutOff;
  const patch = restored?.previous ?? null;
  if (own.length === 0 && patch === null && (!kept || left.attempts.length > 0)) return;
  tell(job, { state: kept ? "kept" : "taken_back", files: namesIn(own), attempts: [], patch });
}

function withLast(
  { attempts, files }: LeftBehind,
  { attempt, patch }: Pick<LeftBehind, "patch"> & Pick<KeptLeftover, "attempt">,
): LeftBehind {
  return { attempts: inOrder([...attempts, attempt]), files, patch };
}

function inOrder(attempts: readonly number[]): number[] {
  return [...new Set(attempts)].sort((one, other) => one - other);
}

/** The job goes on in a fresh workspace: what it had left is not there. */
export function beginAfresh(job: Job, partial: KeptLeftover | null): void {
  const left = job.leftBehind ?? NOTHING;
  const news = partial?.job === job.id ? withLast(left, partial) : left;
  job.leftBehind = null;
  // The changes were already recorded when they were removed.
  if (news.attempts.length === 0 && job.earlierFiles.some(({ attempts }) => attempts.length > 0)) return;
  tell(job, { state: "fresh", ...news });
}

export function knownBefore({ earlierFiles, leftBehind }: Job): KnownBefore {
  return { told: earlierFiles.length, leftBehind };
}

/** The job has let go of its fresh workspace: it is back where it was, and what it left meanwhile is not there. */
export function leaveFresh(job: Job, { told, leftBehind }: KnownBefore): void {
  const meanwhile = job.leftBehind;
  const lost = job.earlierFiles.slice(told).filter(({ state }) => state === "lost");
  job.earlierFiles = [...job.earlierFiles.slice(0, told), ...lost];
  job.leftBehind = leftBehind;
  if (meanwhile !== null) tell(job, { state: "set_back", ...meanwhile });
}

/** Whose changes lie in the tree: those of who left something there last, and of the failures that it was to mend. */
export function ownersOf({ workspace }: Run, leftover: Leftover): Job[] {
  return [...new Set([leftover.job, ...workspace.mending.map(({ job }) => job)])];
}

/** What they had left is not in the tree any more: they hear where it is. */
export function takeAway(
  owners: readonly Job[],
  leftover: Leftover,
  gone: Pick<EarlierFiles, "state" | "patch">,
): void {
  for (const job of owners) {
    const left = job.leftBehind ?? NOTHING;
    const isLast = leftover.job === job && leftover.takenBack !== true && job.step.atEnd === null;
    const { attempts } = isLast ? withLast(left, { attempt: leftover.attempt, patch: null }) : left;
    job.leftBehind = null;
    if (attempts.length > 0)
      tell(job, { state: gone.state, attempts, files: left.files, patch: gone.patch ?? left.patch });
  }
}

/** What another step had left is not there for the job, which goes on in files that were kept. */
export function tellSetAside(
  job: Job,
  step: string,
  { attempt, patch }: Pick<KeptLeftover, "attempt" | "patch">,
): void {
  if (job.earlierFiles.some(({ state }) => state === "kept"))
    tell(job, { state: "set_aside", attempts: [attempt], files: [], patch }, step);
}

/** What was kept of files that are not there any more lies in the other output folder. */
export function leavePatchesBehind(job: Job): void {
  if (job.earlierFiles.length > 0)
    job.earlierFiles = job.earlierFiles.map((told) => ({ ...told, patch: null }));
  if (job.leftBehind !== null) job.leftBehind = { ...job.leftBehind, patch: null };
}

function namesIn(checkpoints: readonly RunCheckpoint[]): string[] {
  return [...new Set(checkpoints.flatMap(({ changed_files: names }) => names))].slice(0, MAX_NAMED_FILES);
}
