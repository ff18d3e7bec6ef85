import { replay } from "../../src/core/decide/decision.js";
import type { Definition } from "../../src/core/model/definition.js";
import type { LoggedEvent } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/make-run.js";
import type { Run } from "../../src/core/model/run.js";
import { JobBook } from "./job-book.js";

const FOLDS = new WeakMap<readonly LoggedEvent[], Run>();

/** The run as its log left it, to be read only: the invariants that ask for it share one. */
export function foldOf(log: readonly LoggedEvent[], definition: Definition): Run {
  const known = FOLDS.get(log);
  if (known?.definition === definition) return known;
  const first = log[0]!;
  if (first.event.type !== "run.created") throw new Error("the log does not begin with run.created");
  const book = JobBook.of(log, definition);
  const someJob = book.jobs.keys().next().value ?? 0;
  const run = newRun(Math.floor(someJob / 10_000_000), definition, first.event, first.at);
  replay(run, log);
  FOLDS.set(log, run);
  return run;
}
