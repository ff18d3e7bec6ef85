import { codeOfStop } from "../../model/jobs.js";
import { isOver } from "../../model/run.js";
import { pass, type Rung } from "./rung.js";

/** The run is canceled, over, or has given this job up: the failure is recorded and nothing else. */
export const stopRung: Rung = {
  name: "stop",
  triesAgain: false,
  turnedOffBy: "nothing",
  consider({ run, job, decision }) {
    const givenUp = job.stopping !== null && job.stopping !== "superseded";
    // The end of the run is what undo and finally steps are for.
    const isAtEnd = job.step.atEnd !== null && !isOver(run);
    if (!givenUp && isAtEnd) return pass("does_not_concern", "the step runs when the run ends");
    if (run.cancelRequested === null && !isOver(run) && !givenUp)
      return pass("does_not_concern", "the run was not stopped");
    const reason =
      run.cancelRequested !== null
        ? "the run is canceled"
        : isOver(run)
          ? "the run is over"
          : "the job was given up";
    return {
      kind: "act",
      reason,
      act() {
        decision.emit({ type: "jobs.canceled", jobs: [job.id], code: codeOfStop(job.stopping), reason });
        decision.add({ kind: "settled", jobs: [job] });
      },
    };
  },
};
