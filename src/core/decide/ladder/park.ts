import { concernsBreaker } from "../../failure/judge.js";
import type { OpenBreaker } from "../../model/commands.js";
import type { Failure } from "../../model/failure.js";
import type { Job, Run } from "../../model/run.js";
import { pass, type Rung, turnedOff } from "./rung.js";

/** What the step uses is broken for everybody: it waits for the breaker, and the attempt costs nothing. */
export const parkRung: Rung = {
  name: "park",
  triesAgain: false,
  turnedOffBy: "routing",
  unconcerned: ({ job }) =>
    job.step.definition.uses === undefined ? pass("not_configured", "the step uses no breaker") : null,
  consider({ job, failure, decision }) {
    const breakers = failure.attempt === null ? [] : job.openBreakers;
    if (breakers.length === 0)
      return pass("breaker_not_open", `no breaker of this step was open for ${failure.class}`);
    const open = breakers.length === 1 ? "whose breaker is open" : "whose breakers are open";
    return {
      kind: "act",
      reason: `${failure.code}: waits for ${breakers.join(" and ")}, ${open}`,
      act: () => decision.emit({ type: "job.parked", job: job.id, attempt: job.attempt, breakers }),
    };
  },
};

/** The open breakers that are meant for this failure. */
export function breakersFor(
  run: Run,
  { step, stopping }: Job,
  failure: Pick<Failure, "code" | "class">,
  open: readonly OpenBreaker[] = [],
): readonly string[] {
  if (stopping !== null || turnedOff(parkRung, run) !== null) return [];
  const { uses = [] } = step.definition;
  return open.flatMap(({ name, classes }) =>
    uses.includes(name) && concernsBreaker(failure, classes) ? [name] : [],
  );
}
