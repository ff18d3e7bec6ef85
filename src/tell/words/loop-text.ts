import { describeCount, loopCount } from "../../core/decide/loop-budget.js";
import { type Job, jobById, type Run } from "../../core/model/run.js";

/** A transition other than a retry: `loop 3 of 10`. */
export function loopText(loop: number, { maxLoops }: Run): string {
  return `loop ${loop} of ${maxLoops}`;
}

/** The last loop of the job's scope: `loop 3 of 10`, within a fan-out `loop 3 of 10 of root/list[2]`. */
export function loopsOf(run: Run, id: number): string {
  const { scope } = jobById(run, id);
  return `${loopText(scope.loops, run)}${inScope(scope)}`;
}

/** The scope that most runs have alone is not named. */
export function inScope({ id }: { readonly id: string }): string {
  return id === "root" ? "" : ` of ${id}`;
}

/** After a retry, which its job's other retries count for as well: `2 retries + 3 loops of 10`. */
export function retryLoopText(run: Run, job: Job): string {
  return `${describeCount("retry", loopCount(run, job, "retry"))} of ${run.maxLoops}`;
}

/** A goto: `goto 1 of 2, loop 3 of 10`, or the loop alone where it has no bound. */
export function gotoText(
  event: { readonly goto?: number; readonly max?: number | null; readonly loop: number },
  run: Run,
): string {
  const bound = event.max == null ? "" : `goto ${event.goto} of ${event.max}, `;
  return `${bound}${loopText(event.loop, run)}`;
}
