import { createHash } from "node:crypto";
import { isOneOfSeveral, writtenStep } from "../../core/model/written-step.js";
import type { UnansweredJob } from "../../store/unanswered.js";

export const PROBLEM_KINDS = ["hold", "dead_letter", "question", "failed"] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

/** Jobs of one workflow and step that failed alike, in however many runs. */
export interface Cause {
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
export function groupByCause(jobs: readonly UnansweredJob[]): ProblemGroup[] {
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
export function mergeSteps(groups: readonly ProblemGroup[]): ProblemGroup[] {
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

export function kindOf({ status, dead_letter }: Pick<UnansweredJob, "status" | "dead_letter">): ProblemKind {
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
