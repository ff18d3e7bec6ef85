import { describe, expect, it } from "vitest";
import { DarumaError } from "../../src/core/errors/errors.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const source = "name: once\ninputs: { n: { type: number, default: 1 } }\nsteps: { a: { type: noop } }";

async function runCount(): Promise<number> {
  return (await bench.context.store.listRuns({})).length;
}

describe("a run that is started with a key", () => {
  it("is started once: the same key answers with it, while it runs and when it is over", async () => {
    const before = await runCount();
    const first = await bench.call("start_run", { source, key: "k1" });
    await bench.settled(first.run_id);
    const again = await bench.call("start_run", { source, key: "k1" });
    expect(again).toEqual({ ...first, status: "completed" });
    expect(await runCount()).toBe(before + 1);
    const [created] = await bench.context.store.readEvents(first.run_id, { limit: 1 });
    expect(created!.event).toMatchObject({
      cause: { mark: "key/k1", request: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });

  it("is started once by many who ask at once", async () => {
    const before = await runCount();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => bench.call("start_run", { source, key: "k2", inputs: { n: 2 } })),
    );
    expect(new Set(answers.map(({ run_id }) => run_id)).size).toBe(1);
    expect(await runCount()).toBe(before + 1);
    expect((await bench.settled(answers[0]!.run_id)).status).toBe("completed");
  });

  it("cannot be another: other inputs, another text or a fork under the same key are refused", async () => {
    const { run_id } = await bench.call("start_run", { source, key: "k3", inputs: { n: 1 } });
    await bench.settled(run_id);
    const before = await runCount();
    const others = [
      bench.call("start_run", { source, key: "k3", inputs: { n: 2 } }),
      bench.call("start_run", { source, key: "k3" }),
      bench.call("start_run", { source: `${source}\n`, key: "k3", inputs: { n: 1 } }),
      bench.call("start_run", { source, key: "k3", inputs: { n: 1 }, retry_max: 1 }),
      bench.call("fork_run", { run_id, step: "a", key: "k3" }),
    ];
    for (const other of others) expect(await refusalOf(other)).toBe("KEY_REUSED");
    expect(await runCount()).toBe(before);
  });

  it("by name stays the same run though the workflow has a newer version since", async () => {
    const publish = async (text: string) => {
      await bench.call("save_draft", { name: "named", source: text });
      await bench.call("publish_workflow", { name: "named" });
    };
    await publish("name: named\nsteps: { a: { type: noop } }");
    const first = await bench.call("start_run", { workflow: "named", key: "k4" });
    await publish("name: named\nsteps: { b: { type: noop } }");
    expect(await bench.call("start_run", { workflow: "named", key: "k4" })).toMatchObject({
      run_id: first.run_id,
      version: 1,
    });
    expect((await bench.call("start_run", { workflow: "named", key: "k5" })).version).toBe(2);
  });

  it("as a fork is started once too", async () => {
    const { run_id } = await bench.run("steps: { a: { type: noop }, b: { type: noop, depends_on: a } }");
    const fork = () => bench.call("fork_run", { run_id, step: "b", key: "k6", reason: "again" });
    const first = await fork();
    await bench.settled(first.run_id);
    expect(await fork()).toEqual({ ...first, status: "completed" });
  });
});

describe("a start that is answered with an error of the store", () => {
  /** The next commit of a new run fails: before anything is written, or only its answer. */
  function failing(applied: boolean) {
    const { context } = bench;
    const { store } = context;
    const commit = store.commit.bind(store);
    store.commit = async (appends) => {
      store.commit = commit;
      if (applied) await commit(appends);
      throw new DarumaError("STORE_FAILED", "the disk went away");
    };
    return context;
  }

  it.each([
    ["was not recorded: the same key starts it", false],
    ["was recorded: the same key finds it, and it goes on by itself", true],
  ])("%s", async (_, applied) => {
    const before = await runCount();
    const request = { source, key: `lost-${applied}` };
    expect(await refusalOf(callIn(failing(applied), "start_run", request))).toBe("STORE_FAILED");
    expect(await runCount()).toBe(before + (applied ? 1 : 0));
    const { run_id } = await bench.call("start_run", request);
    expect(await runCount()).toBe(before + 1);
    expect((await bench.settled(run_id)).status).toBe("completed");
  });
});
