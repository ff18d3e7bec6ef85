import { expect, it } from "vitest";
import { replayedTrial } from "../../../test/support/replayed-trial.js";
import type { Script } from "../../../test/support/scripted-worker.js";
import type { LoggedEvent } from "../../core/model/events.js";
import type { Store } from "../../store/store.js";
import { Meter } from "../../tell/metrics/measure.js";
import { SpanMaker } from "../../tell/metrics/otlp.js";
import { readRecalledLog } from "./load-run.js";

const TEXT = `routing: { max_loops: 4 }
steps:
  setup: { exec: make }
  flaky: { exec: make, depends_on: setup, on_fail: { retry: { max: 2, backoff: { mode: fixed, delay_ms: 1000 } } } }
  build: { exec: make, depends_on: setup, on_fail: { goto: { step: setup, max: 2 } } }
  last: { exec: make, depends_on: [build, flaky] }`;
/** While flaky waits for its retry, build goes back to setup, and takes flaky with it. */
const SCRIPT: Script = {
  flaky: ["fail", "ok", "fail", "fail", "ok"],
  build: [{ exit: 1, takesMs: 50 }, "ok"],
};

/** A store that holds no more than this log. */
function storeOf(log: readonly LoggedEvent[]): Pick<Store, "readEvents"> {
  return {
    readEvents: async (_run, { afterSeq = 0, limit, job, types } = {}) =>
      log
        .filter(({ seq }) => seq > afterSeq)
        .filter(({ event }) => job === undefined || ("job" in event && event.job === job))
        .filter(({ event }) => types === undefined || types.includes(event.type))
        .slice(0, limit),
  };
}

it("is enough to count on from any point as if the whole log had been recalled, and is less than that", async () => {
  const { log, states } = await replayedTrial(TEXT, SCRIPT);
  let less = 0;
  for (const { run, logged } of states()) {
    const before = log.slice(0, logged.seq);
    const recalled = await readRecalledLog(storeOf(before) as Store, run);
    if (recalled.length < before.length) less += 1;
    const count = (from: readonly LoggedEvent[]) => {
      const [meter, spans] = [new Meter(), new SpanMaker()];
      meter.recall(run.id, from);
      spans.recall(from);
      const after = log.slice(logged.seq);
      const measured = after.map(({ event }) => meter.measure(run.id, event));
      return [
        measured,
        after.map((each) => spans.spansOf(run, each).map(({ name, startAt }) => [name, startAt])),
      ];
    };
    expect(count(recalled)).toEqual(count(before));
  }
  expect(less).toBeGreaterThan(log.length / 2);
});
