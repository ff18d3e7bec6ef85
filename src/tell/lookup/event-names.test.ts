import { expect, it } from "vitest";
import type { LoggedEvent } from "../../core/model/events.js";
import type { JobNameRange, Store } from "../../store/store.js";
import { JobNames } from "./event-names.js";

const RUN = 1;
const started = (n: number): LoggedEvent => ({
  seq: n,
  at: 0,
  event: { type: "attempt.started", job: 10_000_000 + n, attempt: 1, visit: 1, worker: "w", token: "t" },
});

function names(): { names: JobNames; asked: JobNameRange[] } {
  const asked: JobNameRange[] = [];
  const readJobNames: Store["readJobNames"] = async (_run, range = {}) => {
    asked.push(range);
    const { afterId = 0, limit = 0 } = range;
    return Array.from({ length: limit }, (_, index) => afterId + 1 + index).map((id) => ({
      id,
      step: `s${id % 10_000_000}`,
      scope: "root",
    }));
  };
  return { names: new JobNames({ readJobNames } as Store), asked };
}

it("a page about jobs that were made together is named with one question, for these alone", async () => {
  const { names: known, asked } = names();
  const page = [started(7), started(300), started(5)];
  await known.learnPage(RUN, page);
  expect(page.map(({ event }) => known.known(RUN, event)?.step)).toEqual(["s7", "s300", "s5"]);
  expect(asked).toEqual([{ afterId: 10_000_004, limit: 296 }]);
});

it("a page about jobs far from each other is named one by one, and a page about none asks nothing", async () => {
  const { names: known, asked } = names();
  const [first, second] = [started(1), started(90_000)];
  await known.learnPage(RUN, [first, second]);
  await known.learnPage(RUN, [{ seq: 3, at: 0, event: { type: "run.started" } }]);
  expect(asked).toEqual([]);
  expect(await known.of(RUN, second.event)).toEqual({ step: "s90000", scope: "root" });
  expect(asked).toHaveLength(1);
});
