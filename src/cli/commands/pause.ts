import type { Session } from "../channel.js";
import { type OperatorFlags, operate } from "../operate.js";
import type { RunReference } from "../run-reference.js";

/** Nothing new starts until somebody resumes the run. A takeover is a pause with which the operator claims it. */
export function pause(
  reference: RunReference,
  flags: OperatorFlags & { readonly takeover: boolean },
  session: Session,
): Promise<number> {
  const { takeover } = flags;
  return operate(session, reference, flags, async ({ store, runId, reason, key }) => {
    const running = (await store.readJobs(runId)).filter(({ status }) => status === "running").length;
    return {
      action: takeover ? "takeover" : "pause",
      command: { type: "run.pause", reason, key, takeover },
      sentence: ({ status, owner }) => {
        const what = status === "paused" ? `is paused${takeover ? ", taken over" : ""}` : `is ${status}`;
        const still = running > 0 && owner !== null ? `; what runs (${running}) is let end` : "";
        return `run ${runId} ${what}${still}`;
      },
    };
  });
}
