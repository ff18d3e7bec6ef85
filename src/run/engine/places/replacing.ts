import { DarumaError } from "../../../core/errors/errors.js";
import type { OperatorCommand } from "../../../core/model/commands.js";
import type { GroupMember } from "../../../store/places.js";

/** Cancels a run, whichever process runs it. */
export type CancelRun = (
  runId: number,
  command: Extract<OperatorCommand, { type: "run.cancel" }>,
) => Promise<unknown>;

/**
 * Cancels the runs that ones with `policy: cancel_running` replace. The command's key ensures that it is executed once,
 * however many processes send it.
 */
export class Replacing {
  private readonly underWay = new Set<string>();

  constructor(private readonly cancel: CancelRun) {}

  /** Cancels, for each of these waiting runs, all earlier runs of its group. */
  cancelBefore(waiting: readonly GroupMember[], members: readonly GroupMember[]): void {
    for (const { runId, concurrency, place, status } of waiting) {
      if (concurrency.policy !== "cancel_running" || place !== null || status !== "pending") continue;
      for (const other of members)
        if (other.concurrency.group === concurrency.group && other.runId < runId)
          void this.cancelOne(other.runId, runId, concurrency.group);
    }
  }

  private async cancelOne(runId: number, by: number, group: string): Promise<void> {
    const key = `replaced-by/${by}`;
    const mark = `${runId} ${key}`;
    if (this.underWay.has(mark)) return;
    this.underWay.add(mark);
    try {
      await this.cancel(runId, {
        type: "run.cancel",
        reason: `run ${by} of the group ${group} replaces it`,
        key,
      });
    } catch (error) {
      // It is over by now. After any other error it is tried again in the next round.
      if (!(error instanceof DarumaError && error.code === "RUN_OVER")) this.underWay.delete(mark);
    }
  }
}
