import type { LoggedEvent } from "../../src/core/model/events.js";
import type { Run } from "../../src/core/model/run.js";
import { ReplayedRun } from "../../src/tell/lookup/replayed-log.js";
import { type Trial, type TrialOptions, trial, workflow } from "./harness.js";
import type { Script } from "./scripted-worker.js";

export interface ReplayedTrial extends Trial {
  /** The run as it was just after each event of the log. Each walk starts anew. */
  states(): Generator<{ readonly run: Run; readonly logged: LoggedEvent }>;
  /** The run just after the first event that `stop` accepts, or after the last one. */
  runAt(stop?: (logged: LoggedEvent) => boolean): Run;
}

/** A trial that can be looked at from any point of its log. */
export async function replayedTrial(
  text: string,
  script: Script = {},
  options: TrialOptions = {},
): Promise<ReplayedTrial> {
  const done = await trial(text, script, options);
  const { definition } = workflow(text);
  function* states(): ReturnType<ReplayedTrial["states"]> {
    const replay = new ReplayedRun(done.run.id, () => definition);
    for (const logged of done.log) yield { run: replay.fold(logged), logged };
  }
  return {
    ...done,
    states,
    runAt(stop = () => false) {
      let last: Run | null = null;
      for (const { run, logged } of states()) {
        last = run;
        if (stop(logged)) break;
      }
      return last!;
    },
  };
}
