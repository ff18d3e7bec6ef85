import { describe, expect, it } from "vitest";
import { CHAIN, ReuseBench, says } from "../support/reuse-bench.js";

const bench = new ReuseBench();

/** A chain whose middle step fails until the file `ok` is there. */
const FAILING = CHAIN.replace("echo b >> ran;", "echo b >> ran; test -e ok &&");
const from = async (text = CHAIN): Promise<number | null> => (await bench.difference(text)).from_run;

describe("the run that --reuse takes over from", () => {
  it("is the newest ended one, also where it failed: only what it lacks runs", { tags: ["R7"] }, async () => {
    await bench.run(CHAIN);
    expect((await bench.run(FAILING)).report.status).toBe("failed");
    bench.write("ok", "");
    bench.ran();
    const again = await bench.run(FAILING, { reuse: "last_ended" });
    expect(again.report).toMatchObject({ status: "completed", taken_over: { run_id: 2, jobs: 2 } });
    expect((await bench.log(again)).filter((line) => line.startsWith("attempt."))).toEqual([
      "attempt.started b",
      "attempt.succeeded b",
      "attempt.started c",
      "attempt.succeeded c",
    ]);
    expect(bench.ran()).toEqual(["b", "c"]);
  });

  it("may be held, and stays so", { tags: ["R7"] }, async () => {
    const text = `unhandled: hold\n${FAILING}`;
    expect((await bench.run(text)).report.status).toBe("held");
    bench.write("ok", "");
    expect((await bench.run(text, { reuse: "last_ended" })).report.taken_over).toEqual({
      run_id: 1,
      jobs: 2,
    });
    expect((await bench.daruma.store.readRun(1))?.status).toBe("held");
  });

  it("may be canceled; while somebody runs it, or it is paused, it is not chosen", {
    tags: ["R7"],
  }, async () => {
    await bench.run(CHAIN);
    const slow = `${CHAIN}\n  slow: { exec: "sleep 60" }`;
    const { runId, result } = await bench.daruma.start(bench.write("flow.yaml", slow));
    expect(await from()).toBe(1);
    await bench.daruma.call("control_run", { run_id: runId, action: "pause" } as never);
    expect(await from()).toBe(1);
    await bench.daruma.cancel(runId, "enough");
    await result;
    expect(await from()).toBe(runId);
  });

  it("may be interrupted, once nobody runs it", { tags: ["R7"] }, async () => {
    await bench.run(CHAIN);
    const slow = `${CHAIN}\n  slow: { exec: "sleep 60" }`;
    const { runId } = await bench.daruma.start(bench.write("flow.yaml", slow));
    await expect
      .poll(async () => (await bench.daruma.store.readJobs(runId)).map(({ status }) => status))
      .toEqual(["completed", "completed", "completed", "completed", "running"]);
    const { outputDir } = bench.daruma;
    await bench.daruma.close();
    bench.daruma = await bench.real.start({ outputDir });
    expect((await bench.daruma.store.readRun(runId))?.status).toBe("running");
    expect(await from(slow)).toBe(runId);
    expect(await bench.why(slow)).toEqual(["slow: it did not complete: ready"]);
  });

  it("is none that was undone", { tags: ["R7"] }, async () => {
    await bench.run(CHAIN);
    const undone = `steps:
  a: { exec: "echo a >> ran; echo a", undo: back }
  b: { exec: "exit 1", depends_on: a }
  back: ${says("back")}`;
    expect((await bench.run(undone)).report.status).toBe("failed");
    expect(await from()).toBe(1);
    expect((await bench.difference(CHAIN, { reuse: 2 })).from_run).toBe(2);
  });
});
