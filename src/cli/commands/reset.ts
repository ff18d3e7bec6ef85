import { DarumaError } from "../../core/errors.js";
import type { Session } from "../channel.js";
import { type OperatorFlags, operate } from "../operate.js";
import type { RunReference } from "../run-reference.js";

export interface ResetFlags extends OperatorFlags {
  readonly failedOnly?: boolean;
}

/** Everything that failed unhandled, was canceled or is held begins anew; what completed stays. */
export async function reset(reference: RunReference, flags: ResetFlags, session: Session): Promise<number> {
  if (flags.failedOnly !== true)
    throw new DarumaError("USAGE", "say what to reset: only --failed-only is known", {
      hint: "To begin wholly anew, start a new run; to go back to a step, `daruma retry RUN STEP --force`.",
    });
  return operate(session, reference, flags, async ({ runId, reason, key }) => ({
    action: "reset",
    command: { type: "run.reset", reason, key },
    sentence: ({ changed }) =>
      changed.length === 0
        ? `run ${runId} has nothing that failed unhandled, was canceled or is held: nothing is changed`
        : `run ${runId}: what failed, was canceled or held begins anew`,
  }));
}
