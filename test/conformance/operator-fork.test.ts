import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RealRun, RealRuns } from "../support/real-run.js";

const real = new RealRuns();

/** Steps that leave a line each time they run. */
const noted = (step: string, more = "") =>
  `{ exec: 'echo ${step} >> ran.txt; echo "${step} $TARGET"'${more} }`;

function linesOf(file: string): string[] {
  const path = join(real.folder, file);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  rmSync(path);
  return lines;
}

describe("fork", () => {
  it("does again only the step and what depends on it, with new inputs and the rest reused", async () => {
    const text = `inputs: { target: { type: string, default: staging } }
env: { TARGET: "{{ inputs.target }}" }
steps:
  fetch: ${noted("fetch")}
  build: ${noted("build", ", depends_on: fetch")}
  deploy: { exec: 'echo deploy >> ran.txt; echo "{{ outputs.build }} to $TARGET"', depends_on: build }
  beside: ${noted("beside")}`;
    const first = await real.run(text);
    expect(linesOf("ran.txt").toSorted()).toEqual(["beside", "build", "deploy", "fetch"]);
    const { result } = await first.daruma.start(join(real.folder, "flow-1.yaml"), {
      inputs: { target: "production" },
      fork: { run: first.report.run_id, step: "deploy" },
    });
    const fork = new RealRun(first.daruma, await result);
    expect(fork.report.status).toBe("completed");
    expect(linesOf("ran.txt")).toEqual(["deploy"]);
    expect(fork.job("deploy").output).toBe("build staging to production");
    expect(fork.job("build")).toMatchObject({ status: "completed", attempts: 0 });
    expect(await fork.events("run.forked")).toMatchObject([{ from: first.report.run_id, step: "deploy" }]);
    expect((await first.daruma.store.readRun(first.report.run_id))!.status).toBe("completed");
  });

  it("of a failed run takes what had completed, items of a fan-out and routed steps too", async () => {
    const text = `steps:
  list: { exec: 'echo list >> ran.txt; echo "[1, 2]"', forEach: true }
  work: { exec: 'echo work{{ outputs.list }} >> ran.txt', depends_on: list }
  sum: ${noted("sum", ", depends_on: work, fanout: reduce")}
  routed: ${noted("routed")}
  last: { exec: 'echo last >> ran.txt; test -e ok', depends_on: [sum, routed] }
transitions: [{ from: list, to: routed }]`;
    const first = await real.run(text);
    expect(first.report.status).toBe("failed");
    linesOf("ran.txt");
    real.write("ok", "");
    const file = join(real.folder, "flow-2.yaml");
    const { result } = await first.daruma.start(file, { fork: { run: first.report.run_id, step: "last" } });
    const fork = new RealRun(first.daruma, await result);
    expect(linesOf("ran.txt")).toEqual(["last"]);
    expect(fork.report.status).toBe("completed");
  });

  it("with a newer file runs what is new, and refuses a step that it does not have", async () => {
    const first = await real.run(`steps:\n  a: ${noted("a")}\n  b: ${noted("b", ", depends_on: a")}`);
    linesOf("ran.txt");
    const newer = real.write(
      "newer.yaml",
      `steps:\n  a: ${noted("a")}\n  extra: ${noted("extra", ", depends_on: a")}\n  b: ${noted("b", ", depends_on: extra")}`,
    );
    const { result } = await first.daruma.start(newer, { fork: { run: first.report.run_id, step: "b" } });
    expect((await result).status).toBe("completed");
    expect(linesOf("ran.txt")).toEqual(["extra", "b"]);
    await expect(
      first.daruma.start(newer, { fork: { run: first.report.run_id, step: "nobody" } }),
    ).rejects.toMatchObject({ code: "STEP_NOT_FOUND" });
  });
});

describe("child workflows", () => {
  const parent = (more = "", transitions = "") => `steps:
  child: { type: workflow, file: child.yaml, inputs: { word: hello }${more} }
  after: { type: script, content: "return outputs.child.outputs.say", depends_on: child }
  fallback: { exec: "true", start: routed }
transitions: [${transitions}]`;

  it("run as runs of their own, named by their parent, and hand their outputs on", async () => {
    real.write(
      "child.yaml",
      `inputs: { word: string }\nsteps: { say: { exec: 'echo "{{ inputs.word }} from below"' } }`,
    );
    const run = await real.run(parent());
    expect(run.report.status).toBe("completed");
    expect(run.job("after").output).toBe("hello from below");
    const { run_id: childId } = run.job("child").output as { run_id: number };
    expect(await run.daruma.store.readRun(childId)).toMatchObject({
      status: "completed",
      parent: { run_id: run.report.run_id, job_id: run.job("child").id },
    });
  });

  it("a child that fails climbs its parent's ladder: CHILD_FAILED, retried with a new child, then routed", async () => {
    real.write("child.yaml", `inputs: { word: string }\nsteps: { say: { exec: "exit 3" } }`);
    const run = await real.run(
      parent(", on_fail: { retry: { max: 1 } }", "{ from: child, to: fallback, on: failure }"),
    );
    expect(run.report.status).toBe("completed");
    expect((await run.events("attempt.failed")).map(({ error }) => [error.code, error.class])).toEqual([
      ["CHILD_FAILED", "application"],
      ["CHILD_FAILED", "application"],
    ]);
    expect(run.job("fallback").status).toBe("completed");
    expect(await run.daruma.store.listRuns({ parentJob: run.job("child").id })).toHaveLength(2);
  });

  it("a held child waits for a decision, and then goes on with its parent", async () => {
    real.write(
      "child.yaml",
      `unhandled: hold\ninputs: { word: string }\nsteps: { say: { exec: "test -e allowed && echo done || exit 3" } }`,
    );
    const daruma = await real.start();
    const held = new Promise<{ runId: number; job: number }>((resolve) => {
      daruma.onCommitted((run, events) => {
        for (const { event } of events)
          if (event.type === "run.held") resolve({ runId: run.id, job: event.jobs[0]! });
      });
    });
    const { result } = await daruma.start(real.write("parent.yaml", parent()));
    const { runId, job } = await held;
    real.write("allowed", "");
    await daruma.operate(runId, {
      type: "holds.resolve",
      items: [{ job, action: "retry", output: null, items: null }],
      reason: "allowed now",
      key: "k",
    });
    const report = await result;
    expect(report.status).toBe("completed");
    expect(report.jobs.find(({ step }) => step === "after")!.output).toBe("done");
  });

  it("a cancel of the parent cancels the child", async () => {
    real.write(
      "child.yaml",
      `inputs: { word: string }\nsteps: { say: { exec: "sleep 600", kill_grace_ms: 100 } }`,
    );
    const daruma = await real.start();
    const begun = new Promise<number>((resolve) => {
      daruma.onCommitted((run, events) => {
        for (const { event } of events)
          if (event.type === "attempt.started" && run.parent !== null) resolve(run.id);
      });
    });
    const { runId, result } = await daruma.start(real.write("parent.yaml", parent()));
    const child = await begun;
    await daruma.cancel(runId, "enough");
    expect((await result).status).toBe("canceled");
    await expect.poll(async () => (await daruma.store.readRun(child))!.status).toBe("canceled");
  });
});

describe("fork of a run in which a person completed a step", () => {
  it("takes it over as that, and so does a fork of the fork", async () => {
    const text = `unhandled: hold
steps:
  train: { exec: exit 7 }
  publish: ${noted("publish", ", depends_on: train")}`;
    const daruma = await real.start();
    const path = real.write("by-hand.yaml", text);
    const held = await daruma.start(path, {});
    expect((await held.result).status).toBe("held");
    const train = (await daruma.store.listJobs({ runId: held.runId }))[0]!.id;
    const items = [{ job: train, action: "complete" as const, output: null, items: null }];
    await daruma.operate(held.runId, { type: "holds.resolve", by: "ann", items, reason: "done", key: "k" });
    expect((await (await daruma.resume(held.runId)).result).status).toBe("completed");
    const decided = { how: "complete", by: "ann", expired: false };
    let from = held.runId;
    for (const _fork of [1, 2]) {
      const forked = await daruma.start(path, { fork: { run: from, step: "publish" } });
      const fork = new RealRun(daruma, await forked.result);
      from = forked.runId;
      expect(await fork.events("job.reused")).toMatchObject([{ decided, origin: { run: held.runId } }]);
      expect(fork.report.decided).toMatchObject([{ step: "train", ...decided }]);
      expect((await daruma.store.readRun(from))!.tally?.decided?.jobs).toBe(1);
    }
    linesOf("ran.txt");
  });
});

describe("fork of a run in which a step stood in for another", () => {
  it("does again what another step stood in for and what consumed it, unless it is to be kept", async () => {
    const text = `steps:
  a: { exec: 'echo a >> ran.txt; exit 3', on_fail: { edge: { to: fallback, then: continue } } }
  fallback: ${noted("fallback")}
  after: ${noted("after", ", depends_on: a")}
  beside: ${noted("beside")}
  end: ${noted("end", ", depends_on: [after, beside]")}`;
    const first = await real.run(text);
    expect(linesOf("ran.txt").toSorted()).toEqual(["a", "after", "beside", "end", "fallback"]);
    const fork = { run: first.report.run_id, step: "end" };
    const path = real.write("stood-in.yaml", text);
    const again = await first.daruma.start(path, { fork });
    await again.result;
    expect(linesOf("ran.txt").toSorted()).toEqual(["a", "after", "end", "fallback"]);
    const kept = await first.daruma.start(path, { fork, keepStoodIn: true });
    expect((await kept.result).status).toBe("completed");
    expect(linesOf("ran.txt")).toEqual(["end"]);
  });

  it("takes over no fallback alone: it is entered anew, or skipped where the step succeeds", async () => {
    const text = `steps:
  a: { exec: 'echo a >> ran.txt; test -e good' }
  b: ${noted("b")}
  beside: ${noted("beside", ", depends_on: b")}
  c: ${noted("c", ", depends_on: a")}
transitions: [{ from: a, to: b, on: failure, then: continue }]`;
    const first = await real.run(text, { start: { maxLoops: 0 } });
    expect(linesOf("ran.txt").toSorted()).toEqual(["a", "b", "beside", "c"]);
    const fork = { run: first.report.run_id, step: "c" };
    const path = real.write("fallback.yaml", text);
    const failed = await first.daruma.start(path, { fork, maxLoops: 0 });
    expect((await failed.result).status).toBe("completed");
    expect(linesOf("ran.txt").toSorted()).toEqual(["a", "b", "beside", "c"]);
    real.write("good", "");
    const mended = await first.daruma.start(path, { fork, maxLoops: 0 });
    const run = new RealRun(first.daruma, await mended.result);
    expect(linesOf("ran.txt").toSorted()).toEqual(["a", "c"]);
    expect([run.job("b").status, run.job("beside").status]).toEqual(["skipped", "skipped"]);
  });

  it("keeps what comes before a step whose failures went back to it", async () => {
    const text = `steps:
  fix: ${noted("fix", ", start: auto")}
  check: { exec: 'echo check >> ran.txt; test -e right', depends_on: fix }
transitions: [{ from: check, to: fix, on: failure }]`;
    const first = await real.run(text, { start: { maxLoops: 1 } });
    expect(first.report.status).toBe("failed");
    linesOf("ran.txt");
    real.write("right", "");
    const fork = { run: first.report.run_id, step: "check" };
    const again = await first.daruma.start(real.write("back.yaml", text), { fork });
    expect((await again.result).status).toBe("completed");
    expect(linesOf("ran.txt")).toEqual(["check"]);
  });
});
