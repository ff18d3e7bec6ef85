import { unlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { makeRepository } from "../support/git-repository.js";
import { CHAIN, ReuseBench, says } from "../support/reuse-bench.js";

const bench = new ReuseBench();

describe("what is not taken over", () => {
  it("a failure that was handled, and what handled it, run again", { tags: ["R4"] }, async () => {
    const text = `steps:
  a: { exec: "echo a >> ran; exit 3" }
  fallback: ${says("fallback")}
  after: ${says("after", ', depends_on: ["a|fallback"]')}
transitions: [{ from: a, to: fallback, on: failure }]`;
    expect((await bench.run(text)).report.status).toBe("completed");
    bench.ran();
    const again = await bench.run(text, { reuse: "last_ended" });
    expect(again.report.status).toBe("completed");
    expect(bench.ran()).toEqual(["a", "after", "fallback"]);
  });

  it("a step that another stood in for runs again with what consumed it, unless it is to be kept", async () => {
    const text = `steps:
  a: { exec: "echo a >> ran; exit 3", on_fail: { edge: { to: fallback, then: continue } } }
  fallback: ${says("fallback")}
  after: ${says("after", ", depends_on: a")}
  last: ${says("last", ", depends_on: after")}
  beside: ${says("beside")}`;
    const first = await bench.run(text);
    expect(first.report.status).toBe("completed");
    bench.ran();
    expect(await bench.why(text)).toContain("a: it failed, and fallback stood in for it");
    const kept = await bench.run(text, { reuse: "last_ended", keepStoodIn: true });
    expect(kept.report.status).toBe("completed");
    expect(bench.ran()).toEqual([]);
    await bench.run(text, { reuse: first.report.run_id });
    expect(bench.ran()).toEqual(["a", "after", "fallback", "last"]);
  });

  it("a step that is kept stays failed and handled, run after run, until it is not kept", async () => {
    const text = (fallback = "fallback"): string => `steps:
  a: { exec: "echo a >> ran; exit 3" }
  fallback: ${says("fallback", `, env: { X: ${fallback} }`)}
  after: ${says("after", ", depends_on: a")}
transitions: [{ from: a, to: fallback, on: failure, then: continue }]`;
    await bench.run(text());
    bench.ran();
    for (let round = 0; round < 2; round += 1) {
      const kept = await bench.run(text(), { reuse: "last_ended", keepStoodIn: true });
      expect(bench.ran()).toEqual([]);
      const id = kept.job("a").id;
      expect(kept.job("a")).toMatchObject({ status: "failed", handled: true, stood_in_by: "fallback" });
      expect(kept.job("a")).toMatchObject({ taken_over: true, error: { code: "EXIT_3", job_id: id } });
      expect(kept.report.handled_failures).toMatchObject([
        { job_id: id, code: "EXIT_3", how: "edge", by: "fallback", then: "continue" },
      ]);
    }
    expect(await bench.why(text("other"))).toContain("a: it failed, and fallback stood in for it");
    await bench.run(text(), { reuse: "last_ended" });
    expect(bench.ran()).toEqual(["a", "after", "fallback"]);
    const changed = await bench.run(text("other"), { reuse: "last_ended", keepStoodIn: true });
    expect(bench.ran()).toEqual(["a", "after", "fallback"]);
    expect(changed.job("a").taken_over).toBe(false);
  });

  it("a tolerated failure runs again, with what depends on it", async () => {
    const text = `steps:\n  a: { exec: "echo a >> ran; exit 3", continue_on_failure: true }\n  b: ${says("b", ", depends_on: a")}`;
    await bench.run(text);
    bench.ran();
    await bench.run(text, { reuse: "last_ended" });
    expect(bench.ran()).toEqual(["a", "b"]);
  });

  it("a skipped step is decided again; of a choice the branch that was taken is taken over", async () => {
    const text = `inputs: { way: { default: left } }
steps:
  left: ${says("left", ", if: \"inputs.way === 'left'\"")}
  right: ${says("right", ", if: \"inputs.way === 'right'\"")}
  end: ${says("end", ', depends_on: ["left|right"]')}`;
    await bench.run(text);
    bench.ran();
    expect(await bench.difference(text)).toMatchObject({ take_over: 2, run: 0, decide: 1 });
    const again = await bench.run(text, { reuse: "last_ended" });
    expect(again.report.jobs.map(({ status }) => status)).toEqual(["completed", "skipped", "completed"]);
    expect(bench.ran()).toEqual([]);
    await bench.run(text, { reuse: "last_ended", inputs: { way: "right" } });
    expect(bench.ran()).toEqual(["end", "right"]);
  });

  it("after a skipped step, who needs only its end waits for the decision and runs", async () => {
    const text = `steps:\n  a: { exec: "true", if: "false" }\n  b: ${says("b", ", depends_on: a, needs: settled")}`;
    await bench.run(text);
    bench.ran();
    expect(await bench.why(text)).toEqual(["b: it depends on a, which runs"]);
    await bench.run(text, { reuse: "last_ended" });
    expect(bench.ran()).toEqual(["b"]);
  });

  it("a hold that somebody completed by hand runs again", { tags: ["R4"] }, async () => {
    const text = `unhandled: hold\nsteps:\n  a: { exec: "test -e ok" }\n  b: ${says("b", ", depends_on: a")}`;
    const held = await bench.run(text);
    expect(held.report.status).toBe("held");
    expect(await bench.why(text, { reuse: 1 })).toEqual([
      "a: it did not complete: held",
      "b: it did not complete: blocked",
    ]);
    await bench.daruma.operate(1, {
      type: "holds.resolve",
      items: [
        { job: held.job("a").id, action: "complete", output: { kind: "value", value: 1 }, items: null },
      ],
      reason: "by hand",
      key: "k",
    });
    await (await bench.daruma.resume(1)).result;
    expect(await bench.why(text)).toEqual([
      "a: its end was decided by hand",
      "b: it depends on a, which runs",
    ]);
  });

  it("child workflows always run", { tags: ["R4"] }, async () => {
    bench.write("child.yaml", `steps: { a: { exec: "true" } }`);
    const text = `steps: { child: { type: workflow, file: child.yaml } }`;
    await bench.run(text);
    expect(await bench.why(text)).toEqual(["child: child workflows always run"]);
  });

  it("an output that was too large for the log and is gone makes its step run", async () => {
    const text = `steps:\n  a: { exec: "head -c 100000 /dev/zero | tr '\\\\0' x" }\n  b: ${says("b", ", depends_on: a")}`;
    const first = await bench.run(text);
    expect(await bench.why(text)).toEqual([]);
    const { artifact } = first.job("a").output as { artifact: string };
    unlinkSync(artifact);
    expect(await bench.why(text)).toEqual([
      "a: its output is no longer stored",
      "b: it depends on a, which runs",
    ]);
  });
});

describe("routing", () => {
  const notified = (more = ""): string => `steps:
  a: ${says("a", ", on_success: { run: [notify] }")}
  notify: ${says("notify", more)}
  b: ${says("b", ", depends_on: a")}
  side: ${says("side")}`;

  it("a step that a success led to is taken over with the step that led there, also twice", {
    tags: ["R5"],
  }, async () => {
    await bench.run(notified());
    bench.ran();
    await bench.run(notified(), { reuse: "last_ended" });
    const third = await bench.run(notified(), { reuse: "last_ended" });
    expect(bench.ran()).toEqual([]);
    expect(third.report.jobs.map(({ status }) => status)).toEqual(Array(4).fill("completed"));
  });

  it("if such a step has changed, the step that leads there runs too, also after a run that took both over", async () => {
    await bench.run(notified());
    await bench.run(notified(), { reuse: "last_ended" });
    bench.ran();
    await bench.run(notified(", env: { X: y }"), { reuse: "last_ended" });
    expect(bench.ran()).toEqual(["a", "b", "notify"]);
  });

  it("a repair is not done again for a step that it has repaired; if the step runs, so may the repair", async () => {
    const text = (more = ""): string => `steps:
  test: { exec: "echo test >> ran; test -e fixed${more}", on_fail: { run: [fix] } }
  fix: { exec: "echo fix >> ran; touch fixed" }`;
    await bench.run(text());
    expect(bench.ran()).toEqual(["fix", "test", "test"]);
    const again = await bench.run(text(), { reuse: "last_ended" });
    expect(bench.ran()).toEqual([]);
    expect(again.report.jobs.map(({ taken_over }) => taken_over)).toEqual([true, true]);
    const third = await bench.run(text(" && true"), { reuse: "last_ended" });
    expect(bench.ran()).toEqual(["test"]);
    expect(third.job("fix").status).toBe("skipped");
  });

  it("a success that nobody could follow up before the run was canceled is not taken over", async () => {
    const text = `steps:\n  a: ${says("a", ", on_success: { run: [slow] }")}\n  slow: { exec: "touch begun; sleep 600", kill_grace_ms: 50 }`;
    const { runId, result } = await bench.daruma.start(bench.write("flow.yaml", text));
    await bench.real.fileAppears(bench.path("begun"));
    await bench.daruma.cancel(runId, "enough");
    await result;
    expect(await bench.why(text, { reuse: runId })).toEqual([
      "a: what follows its success was not finished",
      expect.stringMatching(/^slow: /),
    ]);
  });

  it("a goto leads back to a step that was taken over, which then runs", async () => {
    const text = (more = ""): string => `steps:
  setup: ${says("setup")}
  test: { exec: "echo test >> ran; test $(grep -c test ran) -gt 1${more}", depends_on: setup, on_fail: { goto: { step: setup, max: 1 } } }`;
    await bench.run(text());
    bench.ran();
    await bench.run(text(" && true"), { reuse: "last_ended" });
    expect(bench.ran()).toEqual(["setup", "test", "test"]);
  });
});

describe("fan-outs", () => {
  const text = (more = ""): string => `steps:
  list: { exec: 'echo list >> ran; echo "[1, 2, 3]"', forEach: true }
  work: { exec: "echo work{{ outputs.list }} >> ran; test -e ok || test {{ outputs.list }} != 2", depends_on: list }
  sum: ${says("sum", `, depends_on: work, fanout: reduce${more}`)}`;

  it("items are taken over one by one: only the one that failed runs, and what reduces them", {
    tags: ["R5"],
  }, async () => {
    expect((await bench.run(text())).report.status).toBe("failed");
    bench.ran();
    bench.write("ok", "");
    expect(await bench.difference(text(), { reuse: 1 })).toMatchObject({ take_over: 3, run: 2 });
    const again = await bench.run(text(), { reuse: 1 });
    expect(again.report.status).toBe("completed");
    expect(bench.ran()).toEqual(["sum", "work2"]);
  });

  it("if the list runs, all of its items run", async () => {
    bench.write("ok", "");
    await bench.run(text());
    bench.ran();
    const changed = text().replace("[1, 2, 3]", "[1, 2]");
    const { jobs } = await bench.difference(changed);
    expect(jobs.map(({ step, scope, reason }) => [step, scope, reason])).toEqual([
      ["list", "root", "its definition has changed: exec"],
      ["work", "root/list[]", "it depends on list, which runs"],
      ["sum", "root", expect.stringMatching(/^it depends on /)],
    ]);
    await bench.run(changed, { reuse: "last_ended" });
    expect(bench.ran()).toEqual(["list", "sum", "work1", "work2"]);
  });

  it("tolerated branches run again, and so does the step that tolerated them", async () => {
    expect((await bench.run(text(", join: any"))).report.status).toBe("completed");
    bench.ran();
    await bench.run(text(", join: any"), { reuse: "last_ended" });
    expect(bench.ran()).toEqual(["sum", "work2"]);
  });

  it("routed steps within an item are taken over, and what depends on them", async () => {
    const routed = `steps:
  list: { type: noop, output: [1, 2], forEach: true }
  work: { exec: "echo work >> ran", depends_on: list, on_success: { run: [note] } }
  note: { exec: "echo note >> ran", depends_on: list, start: routed }
  last: { exec: "echo last >> ran", depends_on: [work] }`;
    await bench.run(routed);
    expect(bench.ran()).toHaveLength(6);
    const again = await bench.run(routed, { reuse: "last_ended" });
    expect(bench.ran()).toEqual([]);
    expect(again.report.jobs.map(({ status }) => status)).toEqual(Array(7).fill("completed"));
  });
});

describe("workspaces, people and imported runs", () => {
  it("steps of a workspace run again, since their files are in that of the other run", {
    tags: ["R4"],
  }, async () => {
    makeRepository(bench.path("repo"), { "a.txt": "1" });
    const text = `workspace: { repo: ${bench.path("repo")} }
steps:
  edit: { exec: "echo 2 > a.txt" }
  read: { exec: "cat a.txt", depends_on: edit }
  beside: { exec: "echo beside", workspace: false }`;
    await bench.run(text);
    expect(await bench.why(text)).toEqual([
      "edit: it works in the workspace, and every run has its own",
      "read: it works in the workspace, and every run has its own",
    ]);
    const again = await bench.run(text, { reuse: "last_ended" });
    expect(again.job("read").output).toBe(2);
    expect(again.job("beside").taken_over).toBe(true);
  });

  it("an imported run is refused, and is never the one that is chosen", async () => {
    await bench.run(`name: own\n${CHAIN}`);
    const document = await bench.daruma.call("export_run", { run_id: 1 });
    const { run_id } = await bench.daruma.call("import_run", { document } as never);
    await expect(bench.difference(CHAIN, { reuse: run_id })).rejects.toMatchObject({ code: "IMPORTED_RUN" });
    await expect(bench.run(CHAIN, { reuse: run_id })).rejects.toMatchObject({ code: "IMPORTED_RUN" });
    expect((await bench.difference(`name: own\n${CHAIN}`)).from_run).toBe(1);
  });

  it("a person is asked again", async () => {
    const text = `steps:\n  ask: { type: human, prompt: "go?", choices: [yes] }\n  b: ${says("b", ", depends_on: ask")}`;
    const { runId, result } = await bench.daruma.start(bench.write("flow.yaml", text));
    await expect.poll(async () => (await bench.daruma.store.readJobs(runId))[0]!.status).toBe("waiting");
    await bench.daruma.call("answer_job", { run_id: runId, job_id: "ask", choice: "yes" } as never);
    await result;
    expect(await bench.why(text)).toEqual([
      "ask: people are asked in every run",
      "b: it depends on ask, which runs",
    ]);
  });
});
