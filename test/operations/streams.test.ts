import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { StreamItem } from "../../src/operations/operation.js";
import type { RunEventItem } from "../../src/operations/runs/event-item.js";
import { OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const OK = "name: ok\nsteps: { a: { type: noop } }";

async function waitingRun(name: string): Promise<{ run_id: number; go: () => void }> {
  const file = join(bench.folder, name);
  const exec = `while [ ! -e ${file} ]; do sleep 0.02; done`;
  const { run_id } = await bench.call("start_run", {
    source: `name: ${name}\nsteps: { a: { type: command, exec: "${exec}" } }`,
  });
  return { run_id, go: () => writeFileSync(file, "") };
}

async function collected(items: AsyncIterable<StreamItem>): Promise<StreamItem[]> {
  const all: StreamItem[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe("the events of a run", () => {
  it("are followed until it is over, each once and in order", async () => {
    const { run_id, go } = await waitingRun("followed");
    const reading = collected(bench.stream("list_run_events", { run_id }));
    await bench.until(run_id, ({ jobs }) => jobs[0]?.status === "running");
    go();
    const items = await reading;
    const { items: log } = await bench.call("list_run_events", { run_id, limit: 1_000 });
    expect(items.map(({ data }) => data)).toEqual(log);
    expect(items.map(({ id }) => id)).toEqual(log.map(({ seq }) => String(seq)));
    expect(items.at(-1)!.event).toBe("run.completed");
  });

  it("carry the step and scope of the job they are about, also of jobs that a fan-out has made since", async () => {
    const source = `name: fan
steps:
  list: { type: script, content: "return ['a', 'b']", forEach: true }
  each: { type: noop, depends_on: [list] }`;
    const { run_id } = await bench.run(source);
    const items = await collected(bench.stream("list_run_events", { run_id }));
    const named = items
      .map(({ data }) => data as RunEventItem)
      .filter(({ type }) => type === "attempt.started");
    expect(named.map(({ step, scope }) => [step, scope])).toEqual([
      ["list", "root"],
      ["each", "root/list[0]"],
      ["each", "root/list[1]"],
    ]);
    expect(items.find(({ event }) => event === "run.started")!.data).not.toHaveProperty("step");
    const { items: page } = await bench.call("list_run_events", { run_id, limit: 1_000 });
    expect(page).toEqual(items.map(({ data }) => data));
  });

  it("of a run that is over end at once, also after the last one", async () => {
    const { run_id } = await bench.run(OK);
    const all = await collected(bench.stream("list_run_events", { run_id }));
    const after = Number(all.at(-3)!.id);
    const rest = await collected(bench.stream("list_run_events", { run_id, after }));
    expect(rest).toEqual(all.slice(-2));
    expect(await collected(bench.stream("list_run_events", { run_id, after: all.length }))).toEqual([]);
  });

  it("are let go of when the reader leaves", async () => {
    const { run_id, go } = await waitingRun("left");
    const leave = new AbortController();
    const reading = collected(bench.stream("list_run_events", { run_id }, leave.signal));
    await bench.until(run_id, ({ jobs }) => jobs[0]?.status === "running");
    leave.abort();
    expect((await reading).length).toBeGreaterThan(0);
    go();
    await bench.settled(run_id);
  });
});

describe("the events of all runs", () => {
  it("are asked for from a cursor on, page by page, none missed and none twice", async () => {
    const { next: start } = await bench.call("list_events", {});
    const [first, second] = [await bench.run(OK), await bench.run(OK)];
    const got: RunEventItem[] = [];
    let cursor = start;
    for (;;) {
      const page = await bench.call("list_events", { after: cursor, limit: 3 });
      if (page.items.length === 0) break;
      got.push(...(page.items as RunEventItem[]));
      cursor = page.next;
    }
    for (const { run_id } of [first, second]) {
      const { items } = await bench.call("list_run_events", { run_id, limit: 1_000 });
      expect(got.filter((event) => event.run_id === run_id)).toEqual(
        items.map((item) => ({ run_id, workflow: "ok", ...item })),
      );
    }
    expect(got.every(({ run_id }) => run_id >= first.run_id)).toBe(true);
  });

  it("go on after a cursor in the middle of a run, and tell of a run that was opened again", async () => {
    const [second, end] = [join(bench.folder, "second"), join(bench.folder, "end")];
    const exec = `[ -e ${second} ] && while [ ! -e ${end} ]; do sleep 0.02; done; exit 3`;
    const failing = await bench.run(`name: broken\nsteps: { a: { type: command, exec: "${exec}" } }`);
    const { run_id, go } = await waitingRun("middle");
    await bench.until(run_id, ({ jobs }) => jobs[0]?.status === "running");
    const { next } = await bench.call("list_events", {});
    writeFileSync(second, "");
    await bench.call("control_run", { run_id: failing.run_id, action: "retry_step", step_id: "a" });
    go();
    await bench.settled(run_id);
    const { items } = await bench.call("list_events", { after: next, limit: 1_000 });
    const of = (id: number): string[] => items.filter((event) => event.run_id === id).map(({ type }) => type);
    expect(of(run_id)[0]).toBe("attempt.succeeded");
    expect(of(failing.run_id)[0]).toBe("run.reopened");
    writeFileSync(end, "");
    await bench.settled(failing.run_id);
  });

  it("are followed live and resumed by the id of the last item", async () => {
    const leave = new AbortController();
    const stream = bench.stream("list_events", {}, leave.signal)[Symbol.asyncIterator]();
    const firstItem = stream.next();
    const { run_id, go } = await waitingRun("live");
    const first = (await firstItem).value as StreamItem;
    expect(first.data).toMatchObject({ run_id, seq: 1, type: "run.created" });
    leave.abort();
    await stream.return?.();
    go();
    await bench.settled(run_id);
    const again = new AbortController();
    const seqs: number[] = [];
    for await (const { data } of bench.stream("list_events", { after: first.id! }, again.signal)) {
      const event = data as RunEventItem;
      if (event.run_id === run_id) seqs.push(event.seq);
      if (event.run_id === run_id && event.type === "run.completed") break;
    }
    expect(seqs).toEqual(seqs.map((_, index) => index + 2));
  });

  it("are followed also where a run was over, is opened again and is over soon after", async () => {
    const { run_id } = await bench.run("name: broken\nsteps: { a: { type: command, exec: 'exit 3' } }");
    const { next } = await bench.call("list_events", {});
    const leave = new AbortController();
    const types: string[] = [];
    const reading = (async () => {
      for await (const { event } of bench.stream("list_events", { after: next }, leave.signal)) {
        types.push(event);
        if (event === "run.failed") return;
      }
    })();
    await bench.call("control_run", { run_id, action: "retry_step", step_id: "a" });
    await reading;
    expect(types[0]).toBe("run.reopened");
  });

  it("take only cursors", async () => {
    expect(await refusalOf(bench.call("list_events", { after: "yesterday" }))).toBe("INVALID_INPUT");
  });
});
