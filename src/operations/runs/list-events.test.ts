import { describe, expect, it } from "vitest";
import {
  appendTo,
  newWorkflow,
  runRow,
  type TakenRun,
  takeRun,
} from "../../../test/contract/store-fixtures.js";
import { createMemoryStore } from "../../store/memory/memory-store.js";
import type { Store } from "../../store/store.js";
import type { StreamItem } from "../operation.js";
import type { RunEventItem } from "./event-item.js";
import { eventsSince, followEvents } from "./list-events.js";

/** Far more than stand on every item of a stream. */
const MANY = 450;

async function runsUnderWay(store: Store, count: number): Promise<TakenRun[]> {
  await store.registerWorkflow(newWorkflow());
  const runs: TakenRun[] = [];
  for (let n = 0; n < count; n += 1) {
    const run = await takeRun(store);
    await store.commit([appendTo(run, 1)]);
    runs.push(run);
  }
  return runs;
}

async function taken(stream: AsyncIterable<StreamItem>, count: number): Promise<StreamItem[]> {
  const items: StreamItem[] = [];
  for await (const item of stream) if (items.push(item) === count) break;
  return items;
}

const told = (items: readonly { data: unknown }[]): string[] =>
  items.map(({ data }) => `${(data as RunEventItem).run_id}:${(data as RunEventItem).seq}`);

const never = new AbortController().signal;

describe("the events of many runs under way", () => {
  it("are none of them lost, and none told twice, from page to page", async () => {
    const store = createMemoryStore();
    const runs = await runsUnderWay(store, MANY);
    let { next } = await eventsSince(store, { limit: 1 });
    await store.commit(runs.map((run) => appendTo(run, 2)));
    const got: string[] = [];
    for (let page = 0; page < 3; page += 1) {
      const answer = await eventsSince(store, { after: next, limit: 200 });
      got.push(...answer.items.map(({ run_id, seq }) => `${run_id}:${seq}`));
      next = answer.next;
    }
    expect(got).toEqual(runs.map(({ runId }) => `${runId}:2`));
  });

  it("are followed and resumed without a gap, the newest among them", async () => {
    const store = createMemoryStore();
    const runs = await runsUnderWay(store, MANY);
    const { next } = await eventsSince(store, { limit: 1 });
    await store.commit(runs.map((run) => appendTo(run, 2)));
    const first = await taken(followEvents(store, next, never), 400);
    const rest = await taken(followEvents(store, first.at(-1)!.id!, never), MANY - 400);
    expect(told([...first, ...rest])).toEqual(runs.map(({ runId }) => `${runId}:2`));
  });

  it("have an id only where a run's piece of the log ends; going on from there repeats no more than the piece", async () => {
    const store = createMemoryStore();
    const [run] = await runsUnderWay(store, MANY);
    const { next } = await eventsSince(store, { limit: 1 });
    for (let seq = 2; seq <= 21; seq += 1) await store.commit([appendTo(run!, seq)]);
    const items = await taken(followEvents(store, next, never), 20);
    expect(items.filter(({ id }) => id !== null)).toEqual([items.at(-1)]);
    await store.commit([appendTo(run!, 22)]);
    expect(told(await taken(followEvents(store, items.at(-1)!.id!, never), 1))).toEqual([`${run!.runId}:22`]);
  });

  it("have ids of a few characters a run at most", async () => {
    const store = createMemoryStore();
    await runsUnderWay(store, MANY);
    expect((await eventsSince(store, { limit: 1 })).next.length).toBeLessThan(MANY);
  });
});

describe("the events of all runs", () => {
  it("tell of a run whose first event came after those of a run with a higher number", async () => {
    const store = createMemoryStore();
    await store.registerWorkflow(newWorkflow());
    const [late, early] = [await takeRun(store), await takeRun(store)];
    const { next } = await eventsSince(store, { limit: 1 });
    await store.commit([appendTo(early, 1)]);
    const seen = await eventsSince(store, { after: next, limit: 10 });
    await store.commit([appendTo(late, 1, { run: runRow(late.runId) })]);
    const after = await eventsSince(store, { after: seen.next, limit: 10 });
    expect(after.items.map(({ run_id, seq }) => `${run_id}:${seq}`)).toEqual([`${late.runId}:1`]);
  });
});
