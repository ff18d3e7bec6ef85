import { afterEach, describe, expect, it } from "vitest";
import type { OperatorCommand } from "../../src/core/model/commands.js";
import type { Assignment } from "../../src/run/worker.js";
import { GroupBench } from "../support/group-bench.js";
import type { Outcome } from "../support/scripted-worker.js";

const benches: GroupBench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.stop();
});

function benchOf(...args: ConstructorParameters<typeof GroupBench>): GroupBench {
  const bench = new GroupBench(...args);
  benches.push(bench);
  return bench;
}

/** The first attempt of the first run. */
const firstFails = ({ jobId, attempt }: Assignment): Outcome =>
  jobId < 20_000_000 && attempt === 1 ? "fail" : { output: null, takesMs: 60_000 };

/** Its undo takes a minute. */
const UNDONE =
  "steps: { book: { exec: x, undo: back }, pay: { exec: x, depends_on: book }, back: { exec: x } }";
const UNDOING: NonNullable<ConstructorParameters<typeof GroupBench>[0]> = {
  pay: ["fail"],
  back: [{ output: null, takesMs: 60_000 }],
  work: () => ({ output: null, takesMs: 60_000 }),
};

async function expectOneAfterTheOther(
  bench: GroupBench,
  first: number,
  end: string,
  second: number,
): Promise<void> {
  const at = async (run: number, type: string) =>
    (await bench.store.readEvents(run)).find(({ event }) => event.type === type)!.at;
  expect(await at(second, "run.started")).toBeGreaterThanOrEqual(await at(first, end));
}

const CANCEL: OperatorCommand = { type: "run.cancel", reason: "no", key: null };

describe("runs of a group", () => {
  it("begin one after the other, whichever process they are of; nothing of one that waits has begun", {
    tags: ["G1"],
  }, async () => {
    const bench = benchOf();
    const [server, process] = [await bench.server(), bench.process()];
    const first = await bench.start(server);
    const second = await bench.start(process);
    const third = await bench.start(server);
    expect(await bench.statuses(first, second, third)).toEqual(["running", "pending", "pending"]);
    expect(await bench.events(second)).toEqual(["run.created", "job.created"].slice(0, 1));
    expect(process.said).toEqual([
      `run ${second} has not started: it waits for run ${first}, which has the place in the group deploy-prod`,
    ]);
    expect(server.engine.ownedRuns()).toEqual([first]);
    await bench.until([first, second, third], ["completed", "running", "pending"]);
    await bench.until([first, second, third], ["completed", "completed", "running"]);
    await bench.until([first, second, third], ["completed", "completed", "completed"]);
    expect((await bench.events(third)).slice(0, 2)).toEqual(["run.created", "run.started"]);
    const at = async (run: number, type: string) =>
      (await bench.store.readEvents(run)).find(({ event }) => event.type === type)!.at;
    expect(await at(second, "run.started")).toBeGreaterThanOrEqual(await at(first, "run.completed"));
    expect(await at(third, "run.started")).toBeGreaterThanOrEqual(await at(second, "run.completed"));
  });

  it("of different groups, and runs without one, do not wait for each other", { tags: ["G1"] }, async () => {
    const bench = benchOf();
    const server = await bench.server();
    const runs = [await bench.start(server), await bench.start(server, { group: "deploy-staging" })];
    const { concurrency: _, ...free } = bench.request({});
    runs.push((await server.engine.start({ ...free, managed: true })).runId);
    await bench.settle();
    expect(await bench.statuses(...runs)).toEqual(["running", "running", "running"]);
  });

  it("begin by priority, then by number", { tags: ["G1", "G2"] }, async () => {
    const bench = benchOf();
    const server = await bench.server();
    const first = await bench.start(server);
    const low = await bench.start(server, { priority: -1 });
    const plain = await bench.start(server);
    const high = await bench.start(bench.process(), { priority: 5 });
    const runs = [first, low, plain, high];
    await bench.until(runs, ["completed", "pending", "pending", "running"]);
    await bench.until(runs, ["completed", "pending", "running", "completed"]);
    await bench.until(runs, ["completed", "running", "completed", "completed"]);
  });

  it("keep their place while they are held or paused, and leave it when somebody decides", {
    tags: ["G1"],
  }, async () => {
    const text = "unhandled: hold\nsteps: { work: { exec: make } }";
    const bench = benchOf({ work: firstFails });
    const server = await bench.server();
    const first = await bench.start(server, { text });
    const second = await bench.start(server);
    expect(await bench.statuses(first, second)).toEqual(["held", "pending"]);
    await bench.pass(120_000);
    expect(await bench.statuses(first, second)).toEqual(["held", "pending"]);
    const job = (await bench.store.readJobs(first))[0]!.id;
    const fail = [{ job, action: "fail", output: null, items: null }] as const;
    await bench.operate(first, { type: "holds.resolve", items: fail, reason: "no", key: null });
    await bench.until([first, second], ["failed", "running"]);
    await bench.operate(second, { type: "run.pause", reason: "wait", key: null, takeover: false });
    const third = await bench.start(server);
    await bench.until([second, third], ["paused", "pending"]);
    await bench.operate(second, CANCEL);
    await bench.until([second, third], ["canceled", "running"]);
  });

  it("keep their place while they are undone", { tags: ["G1"] }, async () => {
    const bench = benchOf(UNDOING);
    const server = await bench.server();
    const first = await bench.start(server, { text: UNDONE });
    const second = await bench.start(server);
    await bench.pass(10_000);
    expect((await bench.events(first)).at(-1)).toBe("attempt.started");
    expect(await bench.events(first)).toContain("undo.entered");
    expect(await bench.statuses(first, second)).toEqual(["running", "pending"]);
    await bench.until([first, second], ["failed", "running"]);
    await expectOneAfterTheOther(bench, first, "run.failed", second);
  });

  it("keep their place when their process is killed, until somebody ends them", {
    tags: ["G1"],
  }, async () => {
    const bench = benchOf();
    const gone = bench.process();
    const first = await bench.start(gone);
    const process = bench.process();
    const second = await bench.start(process);
    await bench.kill(gone);
    await bench.pass(120_000);
    expect(await bench.statuses(first, second)).toEqual(["running", "pending"]);
    await bench.operate(first, CANCEL);
    await bench.until([first, second], ["canceled", "running"]);
  });

  it("that wait keep nobody waiting once their process is gone, killed or stopped, and go to the end when resumed", {
    tags: ["G1"],
  }, async () => {
    const bench = benchOf();
    const first = await bench.start(bench.process());
    const [killed, stopped, last] = [bench.process(), bench.process(), bench.process()];
    const [second, third, fourth] = [
      await bench.start(killed),
      await bench.start(stopped),
      await bench.start(last),
    ];
    await bench.kill(killed);
    await stopped.engine.stop();
    await bench.until([first, second, third, fourth], ["completed", "pending", "pending", "running"]);
    const again = bench.process();
    await again.engine.resume(third);
    await bench.settle();
    expect(await bench.statuses(third)).toEqual(["pending"]);
    await bench.until([second, third, fourth], ["pending", "running", "completed"]);
    await bench.until([second, third, fourth], ["pending", "completed", "completed"]);
    await again.engine.resume(second);
    await bench.until([second], ["completed"]);
    expect((await bench.events(second)).filter((type) => type === "run.started")).toHaveLength(1);
  });

  it("go on with their place where a server died between the claim and the start", {
    tags: ["G1"],
  }, async () => {
    const bench = benchOf();
    const gone = await bench.server();
    const first = await bench.start(gone);
    await bench.operate(first, CANCEL);
    await bench.kill(gone);
    const { runId: second } = await bench.process().engine.start({ ...bench.request({}), managed: true });
    await bench.settle();
    const [claimed] = await bench.store.claimRuns({
      ...{ owner: gone.owner, now: bench.clock.now(), expiresAt: bench.clock.now() + 30_000, limit: 1 },
    });
    expect(claimed?.runId).toBe(second);
    const server = await bench.server();
    const third = await bench.start(server);
    await bench.until([first, second, third], ["canceled", "running", "pending"]);
    await bench.until([second, third], ["completed", "running"]);
  });

  it("can be canceled and paused while they wait, and nothing else", { tags: ["G1"] }, async () => {
    const bench = benchOf();
    const server = await bench.server();
    const first = await bench.start(server);
    const [second, third] = [await bench.start(server), await bench.start(server)];
    const job = (await bench.store.readJobs(third))[0]?.id ?? third * 10_000_000 + 1;
    for (const type of ["step.retry", "step.resume_from", "step.hard_reset"] as const)
      await expect(bench.operate(third, { type, job, reason: "x", key: null })).rejects.toMatchObject({
        code: "NOT_STARTED",
      });
    await bench.operate(second, CANCEL);
    expect(await bench.events(second)).toContain("run.canceled");
    await bench.operate(third, { type: "run.pause", reason: "later", key: null, takeover: false });
    const fourth = await bench.start(server);
    await bench.until([first, second, third, fourth], ["completed", "canceled", "paused", "running"]);
    await bench.operate(third, { type: "run.unpause", reason: "now", key: null });
    expect(await bench.statuses(third)).toEqual(["pending"]);
    await bench.until([third, fourth], ["running", "completed"]);
  });
});

describe("a run with `finally` steps that is canceled while it waits", () => {
  it("ends at once: nothing of it has started, so there is nothing to finish", {
    tags: ["G1", "U4"],
  }, async () => {
    const bench = benchOf();
    const [server, process] = [await bench.server(), bench.process()];
    const text = "finally: [tell]\nsteps: { work: { exec: make }, tell: { exec: tell } }";
    const first = await bench.start(server, { text });
    const waiting = [await bench.start(server, { text }), await bench.start(process, { text })];
    for (const run of waiting) await bench.operate(run, CANCEL);
    await bench.until([first, ...waiting], ["running", "canceled", "canceled"]);
    for (const run of waiting) expect(await bench.events(run)).not.toContain("run.ending");
    await bench.until([first], ["completed"]);
    expect(await bench.events(first)).toContain("finally.entered");
  });
});

describe("a run that waits in a process that was killed on this host", () => {
  it("keeps nobody waiting until its lease runs out", { tags: ["G1"] }, async () => {
    const bench = benchOf();
    const first = await bench.start(bench.process());
    const killed = bench.process();
    const second = await bench.start(killed);
    const third = await bench.start(bench.process());
    await bench.pass(55_000);
    await bench.kill(killed);
    await bench.until([first, second, third], ["completed", "pending", "running"]);
    const at = async (run: number, type: string) =>
      (await bench.store.readEvents(run)).find(({ event }) => event.type === type)!.at;
    expect((await at(third, "run.started")) - (await at(first, "run.completed"))).toBeLessThan(2_000);
  });
});

describe("policy: cancel_running", () => {
  const replaces = { policy: "cancel_running" } as const;

  it("cancels what runs and what waits, and begins when all of it is over", { tags: ["G1"] }, async () => {
    const bench = benchOf();
    const [server, process] = [await bench.server(), bench.process()];
    const running = await bench.start(process);
    const waiting = await bench.start(server);
    const late = await bench.start(server, replaces);
    await bench.until([running, waiting, late], ["canceled", "canceled", "running"]);
    expect((await bench.store.readRun(running))!.error).toMatchObject({
      message: `run ${late} of the group deploy-prod replaces it`,
    });
    expect(process.worker.stopped).toEqual(["work"]);
    const last = await bench.start(bench.process(), replaces);
    await bench.until([late, last], ["canceled", "running"]);
  });

  it("waits for a run that takes its time to end", { tags: ["G1"] }, async () => {
    const bench = benchOf();
    const [server, process] = [await bench.server(), bench.process()];
    process.worker.deaf = true;
    // There would be room for both.
    const running = await bench.start(process, { limit: 2 });
    const late = await bench.start(server, { ...replaces, limit: 2 });
    await bench.pass(30_000);
    expect(await bench.statuses(running, late)).toEqual(["running", "pending"]);
    expect(await bench.events(running)).toContain("run.cancel_requested");
    await bench.until([running, late], ["canceled", "running"]);
  });

  it("waits until a run that it replaces is undone", { tags: ["G1"] }, async () => {
    const bench = benchOf({ ...UNDOING, pay: [{ output: null, takesMs: 600_000 }] });
    const server = await bench.server();
    const running = await bench.start(server, { text: UNDONE });
    const late = await bench.start(server, replaces);
    await bench.pass(10_000);
    expect(await bench.events(running)).toContain("undo.entered");
    expect(await bench.statuses(running, late)).toEqual(["running", "pending"]);
    await bench.until([running, late], ["canceled", "running"]);
    await expectOneAfterTheOther(bench, running, "run.canceled", late);
  });

  it("also replaces a run that a dead process has left, and one that waits without anybody", {
    tags: ["G1"],
  }, async () => {
    const bench = benchOf();
    const [one, two] = [bench.process(), bench.process()];
    const running = await bench.start(one);
    const waiting = await bench.start(two);
    await bench.kill(one);
    await bench.kill(two);
    const late = await bench.start(bench.process(), replaces);
    await bench.until([running, waiting, late], ["canceled", "canceled", "running"]);
  });

  it("leaves alone what came later", { tags: ["G1"] }, async () => {
    const bench = benchOf();
    const server = await bench.server();
    const first = await bench.start(server, { text: "steps: { work: { exec: make } }" });
    const urgent = await bench.start(server, { priority: 9 });
    const late = await bench.start(server, { ...replaces, group: "deploy-other" });
    expect(await bench.statuses(first, urgent, late)).toEqual(["running", "pending", "running"]);
  });
});

describe("policy: reject", () => {
  const rejects = { policy: "reject" } as const;

  it("refuses a run while no place is free, and leaves no trace of it", { tags: ["G1"] }, async () => {
    const bench = benchOf();
    const [server, process] = [await bench.server(), bench.process()];
    const first = await bench.start(process, rejects);
    await expect(bench.start(server, rejects)).rejects.toMatchObject({ code: "GROUP_BUSY" });
    await expect(bench.start(process, rejects)).rejects.toMatchObject({ code: "GROUP_BUSY" });
    expect((await bench.store.listRuns({})).map(({ id }) => id)).toEqual([first]);
    await bench.until([first], ["completed"]);
    const next = await bench.start(server, rejects);
    expect(await bench.statuses(next)).toEqual(["running"]);
  });
});

describe("reopening a run that is over", () => {
  it("needs a place, and is refused while there is none", { tags: ["G1"] }, async () => {
    const bench = benchOf({ work: firstFails });
    const server = await bench.server();
    const first = await bench.start(server);
    await bench.until([first], ["failed"]);
    const second = await bench.start(server);
    const job = (await bench.store.readJobs(first))[0]!.id;
    const retry: OperatorCommand = { type: "step.retry", job, reason: "again", key: "k" };
    await expect(bench.operate(first, retry)).rejects.toMatchObject({ code: "GROUP_BUSY" });
    expect(await bench.statuses(first, second)).toEqual(["failed", "running"]);
    await bench.until([second], ["completed"]);
    await bench.operate(first, retry);
    await bench.until([first], ["running"]);
    const third = await bench.start(server);
    expect(await bench.statuses(first, third)).toEqual(["running", "pending"]);
    await bench.until([first, third], ["completed", "running"]);
  });
});

describe("the priority of runs", () => {
  it("says whose jobs get the worker first", {
    tags: ["G2"],
  }, async () => {
    const many = (name: string) =>
      `name: ${name}\nsteps:\n${Array.from({ length: 12 }, (_, n) => `  ${name}${n}: { exec: make }`).join("\n")}`;
    const bench = benchOf({ first: () => ({ output: null, takesMs: 1_000 }) }, 1);
    const process = bench.process();
    const free = (text: string, priority: number) => {
      const { concurrency: _, ...request } = bench.request({ text, priority });
      return process.engine.start(request);
    };
    const blocker = await free("steps: { first: { exec: make } }", 100);
    const low = await free(many("low"), 0);
    const high = await free(many("high"), 7);
    await bench.until([blocker.runId, low.runId, high.runId], ["completed", "completed", "completed"]);
    const order = process.worker.order.slice(1).map((step) => step.replace(/\d+$/, ""));
    expect(order).toEqual([...Array(12).fill("high"), ...Array(12).fill("low")]);
  });
});
