import type { JobStatus } from "../../core/model/rows.js";

/** Why a job is not taken over. */
export type WhyItRuns =
  | { readonly kind: "new_step" }
  /** Keys of the step, as the workflow file has them. */
  | { readonly kind: "definition"; readonly keys: readonly string[] }
  | { readonly kind: "inputs"; readonly names: readonly string[] }
  | { readonly kind: "context"; readonly names: readonly string[] }
  | { readonly kind: "secrets" }
  | { readonly kind: "folder" }
  | { readonly kind: "never"; readonly because: NeverReused }
  | { readonly kind: "not_completed"; readonly status: JobStatus }
  /** It failed, and another step stood in for it. */
  | { readonly kind: "stood_in"; readonly by: string }
  /** Somebody decided how it ended. */
  | { readonly kind: "by_hand" }
  /** The other run has taken its success back. */
  | { readonly kind: "undone" }
  | { readonly kind: "input_file" | "output_file"; readonly path: string; readonly file: FileTrouble }
  /** Its output was too large for the log, and is no longer where it was kept. */
  | { readonly kind: "output_gone" }
  /** A job that it depends on, or whose output it reads, runs. */
  | { readonly kind: "dependency"; readonly job: JobName }
  /** Routing led from one to the other, and the other runs. */
  | { readonly kind: "routing"; readonly job: JobName };

export type NeverReused = "reuse_false" | "ephemeral_data" | "human" | "child_workflow" | "workspace";
export type FileTrouble = "changed" | "missing" | "unreadable" | "not_a_file" | "not_recorded";

export interface JobName {
  readonly step: string;
  readonly scope: string;
}

/** Taken over; run; or skipped in the other run, which is decided again. */
export type Verdict = "take_over" | "run" | "decide";

/** What will become of a job. */
export interface PlannedJob extends JobName {
  readonly verdict: Verdict;
  /** Null unless it runs. */
  readonly why: WhyItRuns | null;
}
