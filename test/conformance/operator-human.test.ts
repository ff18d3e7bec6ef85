import { describe, expect, it } from "vitest";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const flow = (more = "", transitions = "") => `steps:
  build: { exec: "true" }
  ask: { type: human, prompt: "Ship {{ outputs.build }}?", depends_on: build${more} }
  ship: { exec: "ship {{ outputs.ask.choice }} {{ outputs.ask.text }}", depends_on: ask }
  back: { exec: "true", start: routed }
  beside: { exec: "true", start: routed }
transitions: [${transitions}]`;
const script = { build: [{ output: "v1" }] } as const;

describe("human steps", () => {
  it("ask, wait without a worker, and go on with the answer as output", async () => {
    const used: unknown[] = [];
    const stage = await Stage.begin(
      flow(),
      {
        ...script,
        ship: ({ action }) => {
          used.push(action.exec);
          return "ok";
        },
      },
      { capacity: 1 },
    );
    const waiting = await stage.view();
    expect(waiting.job("ask").status).toBe("waiting");
    expect(waiting.events("human.asked")).toMatchObject([
      { prompt: "Ship v1?", choices: ["approve", "reject"], due_at: null, attempt: 1 },
    ]);
    expect(
      await stage.operate({
        type: "human.answer",
        job: await stage.id("ask"),
        choice: "approve",
        text: "go",
      }),
    ).toBeNull();
    const run = await stage.rest();
    expect(run.order).toEqual(["build", "ship"]);
    expect(used).toEqual(["ship approve go"]);
    expect(run.job("ask").output).toEqual({ kind: "value", value: { choice: "approve", text: "go" } });
    expect(run.run.status).toBe("completed");
  });

  it("a rejection is a failure REJECTED that climbs the ladder: here along an edge", async () => {
    const stage = await Stage.begin(flow("", "{ from: ask, to: back, on: failure }"), script);
    await stage.operate({
      type: "human.answer",
      job: await stage.id("ask"),
      choice: "reject",
      text: "not yet",
    });
    const run = await stage.rest();
    expect(run.events("attempt.failed")).toMatchObject([
      { error: { code: "REJECTED", message: "reject: not yet" } },
    ]);
    expect(run.order).toEqual(["build", "back"]);
    expect(run.job("ship").status).toBe("skipped");
    expect(run.run.status).toBe("completed");
  });

  it("nobody answers in time: TIMEOUT, classified, and asked again where a retry says so", async () => {
    const stage = await Stage.begin(flow(", timeout_ms: 1000, on_fail: { retry: { max: 1 } }"), script);
    const run = await stage.rest();
    expect(run.events("attempt.failed").map(({ error }) => [error.code, error.class])).toEqual([
      ["TIMEOUT", "transient_runtime"],
      ["TIMEOUT", "transient_runtime"],
    ]);
    expect(run.events("human.asked").map(({ due_at: dueAt }) => dueAt! - run.log[0]!.at)).toEqual([
      1000, 2000,
    ]);
    expect(run.run).toMatchObject({ status: "failed", error: { code: "TIMEOUT" } });
  });

  it("a timer is set again after a crash, at its recorded time, and the question stands", async () => {
    const stage = await Stage.begin(flow(", timeout_ms: 1000"), script);
    stage.clock.advance(400);
    stage.kill();
    await stage.resume();
    expect((await stage.view()).job("ask")).toMatchObject({ status: "waiting", attempt_id: 1 });
    const run = await stage.rest();
    expect(run.run.finished_at! - run.run.created_at).toBe(1000);
    expect(run.events("human.asked")).toHaveLength(1);
  });

  it("answers are refused by code: an unknown choice, a step that asks nothing, an answer too late", async () => {
    const stage = await Stage.begin(flow(), script);
    const answer = async (step: string, choice: string) =>
      stage.operate({ type: "human.answer", job: await stage.id(step), choice, text: "" });
    expect(await answer("ask", "perhaps")).toBe("INVALID_VALUE");
    expect(await answer("build", "approve")).toBe("NOT_ASKED");
    expect(await answer("ask", "approve")).toBeNull();
    expect(await answer("ask", "reject")).toBe("NOT_ASKED");
    expect((await stage.rest()).run.status).toBe("completed");
  });

  it("own choices, of which some reject", async () => {
    const more = ", choices: [now, later, never], reject: [never]";
    const stage = await Stage.begin(flow(more), script);
    await stage.operate({
      type: "human.answer",
      job: await stage.id("ask"),
      choice: "later",
      text: "",
    });
    expect((await stage.rest()).job("ask").output).toMatchObject({ value: { choice: "later" } });
    const other = await Stage.begin(flow(more), script);
    await other.operate({
      type: "human.answer",
      job: await other.id("ask"),
      choice: "never",
      text: "",
    });
    expect((await other.rest()).run.error?.code).toBe("REJECTED");
  });

  it("a paused run asks nothing new", async () => {
    const stage = await Stage.begin(flow(), { build: [{ output: "v1", takesMs: 10 }] });
    await stage.operate({ type: "run.pause", takeover: false });
    const paused = await stage.rest();
    expect(paused.events("human.asked")).toEqual([]);
    expect(paused.job("ask").status).toBe("ready");
  });

  it("a cancel and a goto end the question, and its attempt", async () => {
    const canceled = await Stage.begin(flow(), script);
    await canceled.operate({ type: "run.cancel" });
    const run = await canceled.rest();
    expect(trace(run)).toContain("stopped ask canceled");
    expect(run.job("ask").status).toBe("canceled");
    const back = await Stage.begin(flow(), script);
    await back.operate({ type: "step.resume_from", job: await back.id("build") });
    const again = await back.view();
    expect(trace(again)).toContain("stopped ask superseded");
    expect(again.job("ask")).toMatchObject({ status: "waiting", attempt_id: 2, visit: 2 });
    expect(
      (await back.store.readAttempts(back.runId))
        .filter(({ job_id }) => job_id === again.job("ask").id)
        .map(({ status }) => status),
    ).toEqual(["stopped", "running"]);
  });
});
