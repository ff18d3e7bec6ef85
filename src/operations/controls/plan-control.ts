import { DarumaError } from "../../core/errors/errors.js";
import type { OperatorCommand } from "../../core/model/commands.js";
import type { FilesPolicy } from "../../core/model/files-policy.js";
import type { RunRow } from "../../core/model/rows.js";
import { ownerOf } from "../../tell/lookup/run-owner.js";
import type { Context } from "../context.js";
import { absentProgram } from "../require-program.js";

export const CONTROL_ACTIONS = [
  "pause",
  "resume",
  "cancel",
  "takeover",
  "retry_step",
  "hard_reset_step",
  "resume_from_step",
  "reset_failed",
] as const;

export type ControlAction = (typeof CONTROL_ACTIONS)[number];

/** What an action says beside what it is. */
interface Said {
  readonly reason: string;
  readonly key: string | null;
  readonly force: boolean;
  /** A hint for the step that runs again. */
  readonly hint?: string;
  /** For a retry: other jobs that run again with it. */
  readonly also?: readonly number[] | undefined;
  /** For a cancel: skips undo and finally steps. */
  readonly now?: boolean;
  /** For going back to a step: what happens to the workspace's files. */
  readonly files?: FilesPolicy | undefined;
}

const WITHOUT_HINT: readonly ControlAction[] = ["cancel", "pause", "resume"];

export function takesHint(action: ControlAction): boolean {
  return !WITHOUT_HINT.includes(action);
}

/** Only who goes back to a step leaves files behind it. */
export function refuseFiles(files: FilesPolicy | undefined, action: string, goesBack: boolean): void {
  if (files !== undefined && !goesBack)
    throw new DarumaError("INVALID_INPUT", `files: ${action} takes none; it is for going back to a step`);
}

const ON_STEP = ["retry_step", "hard_reset_step", "resume_from_step"] as const;

export function isOnStep(action: ControlAction): action is (typeof ON_STEP)[number] {
  return ON_STEP.some((each) => each === action);
}

/** The command that an action is. `job` is the one that an action on a step is about. */
export function commandOf(
  action: ControlAction,
  { reason, key, force, also, now, hint, files }: Said,
  job: number | null,
): OperatorCommand {
  const told = hint === undefined ? {} : { hint };
  switch (action) {
    case "cancel":
      return { type: "run.cancel", reason, key, ...(now === true ? { now } : {}) };
    case "pause":
      return { type: "run.pause", reason, key };
    case "takeover": {
      const forJob = hint === undefined ? {} : { job: stepOf("a hint", job), hint };
      return { type: "run.pause", reason, key, takeover: true, ...forJob };
    }
    case "resume":
      return { type: "run.unpause", reason, key };
    case "reset_failed":
      return { type: "run.reset", reason, key, ...told };
    case "retry_step":
      return {
        type: "step.retry",
        job: stepOf(action, job),
        ...(also === undefined ? {} : { also }),
        ...{ reason, key, force },
        ...told,
      };
    case "resume_from_step": {
      const policy = files === undefined ? {} : { files };
      return { type: "step.resume_from", job: stepOf(action, job), reason, key, force, ...policy, ...told };
    }
    case "hard_reset_step":
      return { type: "step.hard_reset", job: stepOf(action, job), reason, key, force, ...told };
  }
}

function stepOf(action: string, job: number | null): number {
  if (job === null) throw new DarumaError("INVALID_INPUT", `${action} needs step_id: which step?`);
  return job;
}

/** How a run is resumed: its pause is lifted, somebody takes it up, or there is nothing to do. */
export type ResumePlan =
  | { readonly how: "unpause" }
  | { readonly how: "take_up" }
  | { readonly how: "nothing"; readonly why: string };

/** A run that is over, or that somebody runs, is left as it is. */
export async function planResume(
  { store, runner, customActions }: Context,
  run: RunRow,
): Promise<ResumePlan> {
  const { id, status, finished_at } = run;
  const isOwned = (await ownerOf(store, id)) !== null;
  // That its program goes on with it is no reason to keep it paused until then.
  const isElsewhere = async () => (await absentProgram(store, run, customActions)) !== null;
  if (status === "paused" && (isOwned || runner === null || (await isElsewhere()))) return { how: "unpause" };
  if (finished_at !== null) return { how: "nothing", why: `run ${id} is ${status}` };
  if (isOwned) return { how: "nothing", why: `run ${id} is ${status}, and not paused` };
  if (runner === null)
    throw new DarumaError("NO_RUNNER", `this process cannot continue run ${id}`, {
      hint: { typed: `Type \`daruma resume ${id}\`.`, asked: "Send it to a server, which continues it." },
    });
  return { how: "take_up" };
}
