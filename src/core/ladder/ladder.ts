import type { Decision } from "../decision.js";
import type { RungConsidered } from "../events.js";
import type { Job } from "../run.js";
import { failRung } from "./fail.js";
import { gotoRung } from "./goto.js";
import { remediateRung } from "./remediate.js";
import { restartRung } from "./restart.js";
import { retryRung } from "./retry.js";
import type { Rung } from "./rung.js";
import { stopRung } from "./stop.js";

/** In this order, each more invasive than the one before; the first that applies acts. */
export const LADDER: readonly Rung[] = [stopRung, restartRung, retryRung, remediateRung, gotoRung, failRung];

/**
 * Take a failed job up the ladder. `considered` is what an earlier part of the same climb has found, when the climb
 * goes on after an expression was evaluated.
 */
export function climb(decision: Decision, job: Job, considered: readonly RungConsidered[] = []): void {
  const failure = job.error;
  if (failure === null) throw new Error(`job ${job.id} has no failure to climb with`);
  const passed = [...considered];
  for (const rung of LADDER.slice(considered.length)) {
    const verdict = rung.consider({ run: decision.run, job, failure, now: decision.now, decision });
    switch (verdict.kind) {
      case "pass":
        passed.push({ rung: rung.name, applied: false, reason: verdict.reason });
        break;
      case "ask":
        decision.emit({
          type: "evaluation.requested",
          id: decision.run.nextEvaluation,
          job: job.id,
          purpose: verdict.purpose,
          considered: passed,
        });
        return;
      case "act":
        passed.push({ rung: rung.name, applied: true, reason: verdict.reason });
        decision.emit({
          type: "ladder.climbed",
          job: job.id,
          attempt: job.attempt,
          rung: rung.name,
          considered: passed,
        });
        verdict.act();
        return;
    }
  }
}
