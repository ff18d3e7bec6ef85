import { durationText } from "../../../../src/tell/words/duration-text.js";
import { isSpent } from "../../../../src/tell/words/rung-marks.js";
import { reasonBeside } from "../../words/moment.js";
import type { JobDetails } from "../../words/status.js";

/** A line such as "Attempt 2 failed the same way after 144 ms; **retry** 1 of 1 in 600 ms". */
export interface TriedLine {
  readonly attempt: number;
  /** A text such as "failed the same way after 144 ms". */
  readonly words: string;
  readonly rung: string;
  readonly reason: string;
}

type Job = Pick<JobDetails, "attempt_history" | "diagnostics">;

/** The outcomes of the newest `most` attempts, and how the ladder answered each. */
export function triedLines(
  job: Job,
  most: number,
): { readonly lines: readonly TriedLine[]; readonly before: number } {
  const attempts = new Map(job.attempt_history.map((each) => [each.attempt, each]));
  const lines = job.diagnostics.flatMap(({ attempt, rung, considered }, place): TriedLine[] => {
    const tried = attempts.get(attempt);
    if (tried === undefined || tried.finished_at === null) return [];
    const earlier = attempts.get(job.diagnostics[place - 1]?.attempt ?? 0)?.error?.signature ?? null;
    const alike = earlier !== null && earlier === (tried.error?.signature ?? null) ? " the same way" : "";
    const took = durationText(Date.parse(tried.finished_at) - Date.parse(tried.started_at));
    const reason = considered.find(({ applied }) => applied)?.reason ?? "";
    const spent = considered.filter(isSpent).map((each) => each.reason);
    const ends = rung === "hold" || rung === "fail";
    return [
      {
        attempt,
        words: `failed${alike} after ${took}`,
        rung,
        reason: ends && spent.length > 0 ? spent.join(", ") : reasonBeside(rung, reason, tried.error?.code),
      },
    ];
  });
  const shown = lines.slice(-most);
  return { lines: shown, before: lines.length - shown.length };
}
