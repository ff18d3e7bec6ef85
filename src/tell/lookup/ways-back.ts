import type { Definition, StepDefinition } from "../../core/model/definition.js";
import { workExaminer } from "../../core/model/examined-work.js";
import type { FilesPolicy } from "../../core/model/files-policy.js";
import type { JobStatus } from "../../core/model/rows.js";
import { nameOf } from "./job-name.js";

/** A completed step whose work a failed or held job examined: the work can be sent back to it. */
export interface WayBack {
  /** The step as it is typed. */
  readonly name: string;
  /** What happens to its files. An agent goes on in what it has made; null: as it is without a word. */
  readonly files: FilesPolicy | null;
}

interface SeenJob {
  readonly step: string;
  readonly scope: string;
  readonly status: JobStatus;
}

/** `jobs`: all of the run. */
export function waysBackIn(
  definition: Pick<Definition, "steps" | "transitions">,
  jobs: readonly SeenJob[],
): (job: Pick<SeenJob, "step" | "scope">) => WayBack[] {
  const examined = workExaminer(definition);
  return ({ step, scope }) => examined(step).flatMap((each) => wayBackTo(each, scope, jobs) ?? []);
}

/** Null where the step that a job of `scope` sees has not completed. */
export function wayBackTo(
  { id, action, usesWorkspace }: StepDefinition,
  scope: string,
  jobs: readonly SeenJob[],
): WayBack | null {
  const seen = jobs.filter((job) => job.step === id && `${scope}/`.startsWith(`${job.scope}/`));
  const [nearest] = seen.sort((one, other) => other.scope.length - one.scope.length);
  if (nearest?.status !== "completed") return null;
  const files = usesWorkspace && action.type === "agent" ? "keep" : null;
  return { name: nameOf(id, nearest.scope), files };
}

/** The words after `daruma`. What the step is to do differently goes into the hint, which only a person can add. */
export function wayBackWords(run: number, { name, files }: WayBack): string[] {
  return ["resume-from", String(run), name, ...(files === null ? [] : ["--files", files])];
}

/** The same as the input of `control_run`. */
export function wayBackInput(run_id: number, { name, files }: WayBack) {
  return { run_id, action: "resume_from_step", step_id: name, ...(files === null ? {} : { files }) } as const;
}
