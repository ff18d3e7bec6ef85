import { createHash } from "node:crypto";
import type { UnansweredJob } from "../../store/unanswered.js";

export const PROBLEM_KINDS = ["hold", "dead_letter", "question", "failed"] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

/** One cause, in however many runs. */
export interface ProblemGroup {
  /** Stays the same as long as the problem does. */
  readonly id: string;
  readonly kind: ProblemKind;
  readonly workflow: string;
  readonly step: string;
  readonly signature: string | null;
  /** Newest first. */
  readonly jobs: readonly UnansweredJob[];
}

const ID_CHARS = 12;

/** Jobs, newest first, by what they wait for: of one workflow and step, failed alike. Each question is one of its own. */
export function groupProblems(jobs: readonly UnansweredJob[]): ProblemGroup[] {
  const groups = new Map<string, { readonly kind: ProblemKind; readonly jobs: UnansweredJob[] }>();
  for (const job of jobs) {
    const kind = kindOf(job);
    const cause = kind === "question" || job.signature === null ? job.id : job.signature;
    const key = JSON.stringify([kind, job.workflow, job.step, cause]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { kind, jobs: [job] });
    else group.jobs.push(job);
  }
  return Array.from(groups, ([key, { kind, jobs: alike }]) => {
    const { workflow, step, signature } = alike[0]!;
    return { id: idOf(key), kind, workflow, step, signature, jobs: alike };
  });
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
