import type { components, paths } from "../api/schema.js";
import type { Face } from "../parts/Doll.js";

export type AnswerOf<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { "application/json": infer Data } } } };
}
  ? Data
  : never;

export type RunItem = AnswerOf<"/api/v1/runs">["items"][number];
export type RunDetails = AnswerOf<"/api/v1/runs/{run_id}">;
export type JobItem = AnswerOf<"/api/v1/jobs">["items"][number];
export type JobDetails = AnswerOf<"/api/v1/jobs/{job_id}">;
export type ErrorRecord = components["schemas"]["ErrorRecord"];
export type RunStatus = RunItem["status"];
export type JobStatus = JobItem["status"];

/** The status of a run, including what happened on its way. */
export interface Standing {
  readonly face: Face;
  readonly words: string;
  /** The meaning that determines the colour of its text. */
  readonly tone: "ok" | "gold" | "bad" | "person" | "live" | "dim";
}

const WORDS: { readonly [status in RunStatus]: Standing } = {
  pending: { face: "pending", words: "Pending", tone: "dim" },
  running: { face: "running", words: "Running", tone: "live" },
  paused: { face: "paused", words: "Paused", tone: "dim" },
  held: { face: "held", words: "Held", tone: "person" },
  completed: { face: "completed", words: "Completed", tone: "ok" },
  failed: { face: "failed", words: "Failed", tone: "bad" },
  canceled: { face: "canceled", words: "Canceled", tone: "dim" },
};

const PHASES = { undo: "undoing what it did", finally: "at its finally steps" } as const;

export function standingOf(
  run: Pick<RunItem, "status" | "interrupted"> & Partial<Pick<RunDetails, "phase" | "held_below">>,
  met: {
    readonly recoveries: number;
    readonly handled: number;
    /** What people decided in place of the run, as words; null: nothing. */
    readonly decided: string | null;
  } = { recoveries: 0, handled: 0, decided: null },
): Standing {
  const plain = WORDS[(run.held_below ?? []).length > 0 ? "held" : run.status];
  if (run.phase != null && !run.interrupted)
    return { ...plain, words: `${plain.words}, ${PHASES[run.phase]}` };
  if (run.interrupted) return { ...plain, words: `${plain.words}, interrupted` };
  if (run.status !== "completed") return plain;
  // Not green, because a failure was not repaired.
  if (met.handled > 0)
    return { face: "handled", words: `Completed, ${count(met.handled, "failure")} handled`, tone: "gold" };
  if (met.decided !== null) return { face: "handled", words: `Completed; ${met.decided}`, tone: "person" };
  if (met.recoveries === 0) return plain;
  return {
    ...plain,
    face: "recovered",
    words: `Completed, ${count(met.recoveries, "recovery", "recoveries")}`,
  };
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
