import { JOB_STATUSES, type JobStatus } from "../model/rows.js";
import type { Job, Run } from "../model/run.js";
import { checkpointsToCut } from "../model/workspace-state.js";
import { list, noted, nullable, number, type OfFields, object, text, word } from "../text/shape.js";
import { descendants } from "./goto.js";

const FILES_OF = { step: text, scope: text, files: list(text) } as const;

/** What an operator's way back to a step comes to. */
export const GOES_BACK = {
  again: noted(
    list(object({ job_id: number, step: text, scope: text, status: word(JOB_STATUSES) })),
    "Jobs that begin again, the step first, with their status before. Items of what begins again are made again.",
  ),
  taken_back: noted(
    list(object(FILES_OF)),
    "Completed work that is taken out of the workspace and kept as a patch.",
  ),
  set_aside: noted(
    nullable(object({ step: text, scope: text, attempt: number })),
    "The attempt whose unfinished work is set aside as a patch; null: none left any.",
  ),
  stays: noted(list(object(FILES_OF)), "Completed work that stays in the workspace."),
} as const;
export type GoesBack = OfFields<typeof GOES_BACK>;

/** Call it before the command is decided; what it returns, after that. */
export function goingBack(run: Run, target: Job): () => GoesBack {
  const members = new Set(descendants(run, target));
  const again = [...members]
    .filter((job) => job.scope.open && !isMadeAgain(job, members))
    .map((job) => ({ ...placeOf(job), status: job.status as JobStatus }));
  return () => {
    const { barrier } = target;
    const { checkpoints, leftover } = run.workspace;
    const cut = new Set(barrier === null ? [] : checkpointsToCut(run, barrier));
    const counting = checkpoints.filter(({ superseded }) => !superseded);
    const filesOf = (isCut: boolean) =>
      counting
        .filter((checkpoint) => cut.has(checkpoint) === isCut && checkpoint.changed_files.length > 0)
        .map(({ job, changed_files }) => {
          const { step, scope } = placeOf(job);
          return { step, scope, files: [...changed_files] };
        });
    return {
      again,
      taken_back: filesOf(true),
      set_aside: leftover?.takenBack === true ? leftOf(leftover) : null,
      stays: filesOf(false),
    };
  };
}

function leftOf({ job, attempt }: { readonly job: Job; readonly attempt: number }) {
  const { step, scope } = placeOf(job);
  return { step, scope, attempt };
}

function placeOf({ id, step, scope }: Job) {
  return { job_id: id, step: step.definition.id, scope: scope.id };
}

/** It belongs to an item that a member has made: the item goes with the member's output. */
function isMadeAgain({ scope }: Job, members: ReadonlySet<Job>): boolean {
  for (let at: Job["scope"] | null = scope; at !== null; at = at.parent)
    if (at.opener !== null && members.has(at.opener)) return true;
  return false;
}
