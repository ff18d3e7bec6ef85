import { describe, expect, it } from "vitest";
import type { LoggedEvent } from "../../src/core/model/events.js";
import { GroupBench } from "../support/group-bench.js";
import type { Outcome } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What the run went through from its first hold on, with the minute since its start. */
function story(log: readonly LoggedEvent[]): string[] {
  const start = log[0]!.at;
  const shown =
    /^(job\.(held|failed)|hold\.|human\.|jobs\.(retried|skipped)|run\.(held|paused|unpaused|completed|failed|canceled)|time\.)/;
  return log
    .filter(({ event: { type } }) => shown.test(type))
    .map(
      ({ event, at }) =>
        `${Math.floor((at - start) / MINUTE)} ${event.type}${event.type === "hold.resolved" ? ` ${event.action}` : ""}`,
    );
}

const held = (then: string, more = ""): string =>
  `{ unhandled: hold, hold: { expires: 4h, then: ${then} }, ${more} steps: { a: { exec: make }, b: { type: noop, depends_on: [a] } } }`;

/** Nobody decides; hours later somebody goes on with the run. */
async function afterwards(stage: Stage, hours: number) {
  await stage.rest();
  stage.clock.advance(hours * HOUR);
  await stage.resume();
  return stage.rest();
}

describe("a hold that nobody decides", () => {
  it("fails at its moment: attempts, events and the end are exact", { tags: ["C4"] }, async () => {
    const stage = await Stage.begin(held("fail"), { a: ["fail"] });
    const { run, log, job } = await afterwards(stage, 5);
    expect(story(log)).toEqual([
      "0 job.held",
      "0 run.held",
      "300 hold.resolved fail",
      "300 job.failed",
      "300 run.failed",
    ]);
    expect(stage.worker.order).toEqual(["a"]);
    expect([run.status, run.error?.code, job("b").status]).toEqual(["failed", "EXIT_1", "canceled"]);
    const [resolved] = (await stage.view()).events("hold.resolved");
    expect(resolved).toMatchObject({ reason: "nobody decided within 4 h", expired: true, key: null });
  });

  it("stays while its time is not up, and its due time stands in the log and in its row", async () => {
    const stage = await Stage.begin(held("fail"), { a: ["fail"] });
    const { run, log, job } = await afterwards(stage, 3);
    const [event] = (await stage.view()).events("job.held");
    expect(event).toMatchObject({ due_at: log[0]!.at + 4 * HOUR, due_action: "fail" });
    expect([run.status, job("a").due_at]).toEqual(["held", log[0]!.at + 4 * HOUR]);
  });

  it("is skipped, and what depends on it runs", async () => {
    const stage = await Stage.begin(held("skip"), { a: ["fail"] });
    const { run, job } = await afterwards(stage, 4);
    expect([run.status, job("a").status, job("b").status]).toEqual(["completed", "skipped", "completed"]);
  });

  it("completes with the output of the file", async () => {
    const text = held("{ complete: { tag: v1 } }").replace("type: noop", 'exec: "echo {{ outputs.a.tag }}"');
    const stage = await Stage.begin(text, { a: ["fail"] });
    const { run, job } = await afterwards(stage, 4);
    expect([run.status, job("a").output]).toEqual(["completed", { kind: "value", value: { tag: "v1" } }]);
    expect(stage.worker.order).toEqual(["a", "b"]);
  });

  it("completes a forEach step with its items", async () => {
    const text = held("{ complete: [x, y] }").replace(
      "a: { exec: make }",
      "a: { exec: make, forEach: true }",
    );
    const stage = await Stage.begin(text, { a: ["fail"] });
    const { run, job } = await afterwards(stage, 4);
    expect(run.status).toBe("completed");
    expect(["root/a[0]", "root/a[1]"].map((scope) => job("b", scope).status)).toEqual([
      "completed",
      "completed",
    ]);
  });

  it("is retried once; held again, it fails", { tags: ["C4"] }, async () => {
    const stage = await Stage.begin(held("retry"), { a: ["fail", "fail", "fail"] });
    await afterwards(stage, 4);
    const { run, log } = await afterwards(stage, 4);
    expect(story(log)).toEqual([
      "0 job.held",
      "0 run.held",
      "240 hold.resolved retry",
      "240 jobs.retried",
      "240 job.held",
      "240 run.held",
      "480 hold.resolved fail",
      "480 job.failed",
      "480 run.failed",
    ]);
    expect((await stage.view()).events("job.held").map(({ due_action: dueAction }) => dueAction)).toEqual([
      "retry",
      "fail",
    ]);
    expect([stage.worker.order, run.status]).toEqual([["a", "a"], "failed"]);
  });

  it("is not retried again after a person has retried it in between", async () => {
    const stage = await Stage.begin(held("retry"), { a: ["fail", "fail", "fail"] });
    await afterwards(stage, 4);
    const item = { job: await stage.id("a"), action: "retry", output: null, items: null } as const;
    await stage.operate({ type: "holds.resolve", items: [item] });
    await stage.resume();
    const { run } = await afterwards(stage, 4);
    expect([stage.worker.order, run.status]).toEqual([["a", "a", "a"], "failed"]);
  });

  it("ends while other steps still run, by a timer", async () => {
    const text = `{ unhandled: hold, hold: { expires: 10m }, steps: { a: { exec: make }, c: { exec: wait } } }`;
    const stage = await Stage.begin(text, { a: ["fail"], c: [{ output: null, takesMs: HOUR }] });
    const { log } = await stage.rest();
    expect(story(log)).toEqual(["0 job.held", "10 hold.resolved fail", "10 job.failed", "60 run.failed"]);
  });

  it("has the step's own time and ending before the workflow's", async () => {
    const text = `{ unhandled: hold, hold: { expires: 4h }, steps: { a: { exec: make, hold: { expires: 1h, then: skip } }, c: { exec: make } } }`;
    const stage = await Stage.begin(text, { a: ["fail"], c: ["fail"] });
    await afterwards(stage, 2);
    expect(await stage.statuses("a", "c")).toEqual(["skipped", "held"]);
    const { run } = await afterwards(stage, 3);
    expect(run.status).toBe("failed");
  });

  it("is a person's as long as nobody has gone on with the run", async () => {
    const stage = await Stage.begin(held("fail"), { a: ["fail"] });
    await stage.rest();
    stage.clock.advance(9 * HOUR);
    const item = { job: await stage.id("a"), action: "skip", output: null, items: null } as const;
    expect(await stage.operate({ type: "holds.resolve", items: [item] })).toBeNull();
    await stage.resume();
    const { run, events } = await stage.rest();
    expect([run.status, events("hold.resolved").map(({ action }) => action)]).toEqual([
      "completed",
      ["skip"],
    ]);
  });

  it("is the same after kill -9, at the recorded moment", async () => {
    const text = `{ unhandled: hold, hold: { expires: 10m }, steps: { a: { exec: make }, c: { exec: wait } } }`;
    const stage = await Stage.begin(text, {
      a: ["fail"],
      c: [
        { output: null, takesMs: HOUR },
        { output: null, takesMs: HOUR },
      ],
    });
    await stage.turn(1);
    stage.kill();
    stage.clock.advance(4 * MINUTE);
    await stage.resume();
    const { log } = await stage.rest();
    expect(story(log).slice(0, 3)).toEqual(["0 job.held", "10 hold.resolved fail", "10 job.failed"]);
  });

  it("of a paused run waits until the run goes on, and is then decided at once", async () => {
    const text = `{ unhandled: hold, hold: { expires: 10m }, steps: { a: { exec: make }, c: { exec: wait } } }`;
    const stage = await Stage.begin(text, { a: ["fail"], c: [{ output: null, takesMs: 20 * MINUTE }] });
    await stage.turn(1);
    await stage.operate({ type: "run.pause", takeover: false });
    await stage.rest();
    expect(await stage.statuses("a", "c")).toEqual(["held", "completed"]);
    stage.clock.advance(10 * MINUTE);
    await stage.resume();
    expect(story((await stage.rest()).log)).toEqual([
      "0 job.held",
      "0 run.paused",
      "30 run.unpaused",
      "30 hold.resolved fail",
      "30 job.failed",
      "30 run.failed",
    ]);
  });

  it("does not count against the deadline, and a retry counts on where it stopped", async () => {
    const stage = await Stage.begin(held("retry", "deadline: 10m,"), {
      a: [
        { exit: 1, takesMs: 4 * MINUTE },
        { output: null, takesMs: 20 * MINUTE },
      ],
    });
    const { run, log } = await afterwards(stage, 4);
    expect(run.error?.code).toBe("DEADLINE");
    expect(story(log)).toEqual([
      "0 time.counted",
      "4 job.held",
      "4 run.held",
      "4 time.stopped",
      "244 hold.resolved retry",
      "244 jobs.retried",
      "244 time.counted",
      "250 run.canceled",
    ]);
  });

  it("goes with a cancel", async () => {
    const stage = await Stage.begin(held("skip"), { a: ["fail"] });
    await stage.rest();
    await stage.operate({ type: "run.cancel" });
    stage.clock.advance(9 * HOUR);
    const { run, events } = await stage.view();
    expect([run.status, events("hold.resolved")]).toEqual(["canceled", []]);
  });
});

describe("a question that nobody answers", () => {
  const asking = (more: string, rest = ""): string =>
    `{ ${rest} steps: { ask: { type: human, prompt: Ship?, choices: [now, later, never], reject: [never], ${more} }, ship: { exec: ship, depends_on: [ask] } } }`;

  it("is answered with the choice of the file at its moment", { tags: ["C5"] }, async () => {
    const stage = await Stage.begin(asking("expires: 20m, then: { choose: later }"));
    const { run, log, job } = await stage.rest();
    expect(story(log)).toEqual(["0 human.asked", "20 human.answered", "20 run.completed"]);
    expect(job("ask").output).toEqual({ kind: "value", value: { choice: "later", text: "" } });
    expect((await stage.view()).events("human.answered")).toMatchObject([
      { choice: "later", expired: true, key: null, reason: "nobody answered within 20 min" },
    ]);
    expect([stage.worker.order, run.status]).toEqual([["ship"], "completed"]);
  });

  it("is rejected where the choice of the file rejects", async () => {
    const stage = await Stage.begin(asking("expires: 20m, then: { choose: never }"));
    const { run } = await stage.rest();
    expect([stage.worker.order, run.error?.code]).toEqual([[], "REJECTED"]);
  });

  it("fails with TIMEOUT without a choice, and climbs", async () => {
    const stage = await Stage.begin(asking("expires: 20m, on_fail: { retry: { max: 1 } }"));
    const { run, log } = await stage.rest();
    expect(story(log)).toEqual(["0 human.asked", "20 human.asked", "40 job.failed", "40 run.failed"]);
    expect(run.error?.code).toBe("TIMEOUT");
  });

  it("of a paused run waits until the run goes on, and is then decided at once", async () => {
    const stage = await Stage.begin(asking("expires: 20m, then: { choose: now }"));
    await stage.operate({ type: "run.pause", takeover: false });
    stage.clock.advance(5 * HOUR);
    await stage.resume();
    const { log } = await stage.rest();
    expect(story(log)).toEqual([
      "0 human.asked",
      "0 run.paused",
      "300 run.unpaused",
      "300 human.answered",
      "300 run.completed",
    ]);
  });

  it("and whose process was killed is decided when somebody goes on with the run", async () => {
    const stage = await Stage.begin(asking("expires: 20m, then: { choose: now }"));
    stage.kill();
    stage.clock.advance(9 * HOUR);
    await stage.resume();
    const { log } = await stage.rest();
    expect(story(log)).toEqual(["0 human.asked", "540 human.answered", "540 run.completed"]);
  });
});

describe("a hold of a run that two servers could go on with", () => {
  const HELD = (then: string, more = ""): string =>
    `unhandled: hold\nhold: { expires: 2m, then: ${then} }\n${more}steps: { work: { exec: make } }`;
  /** The first run fails once, then takes as long. */
  const benchOf = (takesMs: number): GroupBench =>
    new GroupBench({
      work: ({ jobId, attempt }): Outcome =>
        jobId < 20_000_000 && attempt === 1 ? "fail" : { output: null, takesMs },
    });
  const storyOf = async (bench: GroupBench, run: number) => story(await bench.store.readEvents(run));

  it("is decided once, whoever is killed, and the run that waits for its place begins", {
    tags: ["C4", "G1"],
  }, async () => {
    const bench = benchOf(1_000);
    const [one, _two] = [await bench.server(), await bench.server()];
    const first = await bench.start(one, { text: HELD("fail") });
    const second = await bench.start(one);
    expect(await bench.statuses(first, second)).toEqual(["held", "pending"]);
    await bench.kill(one);
    await bench.pass(MINUTE);
    expect(await bench.statuses(first, second)).toEqual(["held", "pending"]);
    await bench.until([first, second], ["failed", "running"]);
    expect(await storyOf(bench, first)).toEqual([
      "0 job.held",
      "0 run.held",
      "2 hold.resolved fail",
      "2 job.failed",
      "2 run.failed",
    ]);
    await bench.until([first, second], ["failed", "completed"]);
    await bench.stop();
  });

  it("that is paused meanwhile stays, and is decided once when it goes on", { tags: ["C4"] }, async () => {
    const bench = benchOf(1_000);
    const [one, two] = [await bench.server(), await bench.server()];
    const first = await bench.start(one, { text: HELD("skip") });
    await bench.operate(first, { type: "run.pause", reason: "lunch", key: null, takeover: false });
    await bench.kill(one);
    await bench.pass(5 * MINUTE);
    expect(await bench.statuses(first)).toEqual(["paused"]);
    await bench.operate(first, { type: "run.unpause", reason: "back", key: null });
    await bench.until([first], ["completed"]);
    expect(await storyOf(bench, first)).toEqual([
      ...["0 job.held", "0 run.held", "0 run.paused", "5 run.unpaused"],
      ...["5 hold.resolved skip", "5 run.completed"],
    ]);
    expect(two.worker.order).toEqual([]);
    await bench.stop();
  });

  it("does not use up the deadline, which the other server goes on counting", {
    tags: ["C1", "C4"],
  }, async () => {
    const bench = benchOf(20 * MINUTE);
    const [one, two] = [await bench.server(), await bench.server()];
    const first = await bench.start(one, { text: HELD("retry", "deadline: 1m\n") });
    await bench.kill(one);
    await bench.until([first], ["canceled"]);
    expect(await storyOf(bench, first)).toEqual([
      ...["0 time.counted", "0 job.held", "0 run.held", "0 time.stopped"],
      ...["2 hold.resolved retry", "2 jobs.retried", "2 time.counted", "3 run.canceled"],
    ]);
    expect([two.worker.order, (await bench.store.readRun(first))!.error?.code]).toEqual([
      ["work"],
      "DEADLINE",
    ]);
    await bench.stop();
  });
});
