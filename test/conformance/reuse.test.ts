import { mkdirSync, unlinkSync, utimesSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DarumaError } from "../../src/core/errors/errors.js";
import { CHAIN, ReuseBench, says } from "../support/reuse-bench.js";

process.env.REUSE_TEST_SECRET = "sesame-open-now";
const bench = new ReuseBench();

describe("a run that reuses", () => {
  it("takes everything over where nothing has changed, in one decision, with exactly these events", {
    tags: ["R1"],
  }, async () => {
    await bench.run(CHAIN);
    bench.ran();
    const again = await bench.run(CHAIN, { reuse: "last_ended" });
    expect(bench.ran()).toEqual([]);
    expect(await bench.log(again)).toEqual([
      "run.created",
      "run.forked",
      "run.started",
      "job.reused a",
      "job.reused b",
      "job.reused c",
      "job.reused side",
      "run.completed",
    ]);
    expect(await again.events("run.forked")).toMatchObject([{ from: 1, reason: "" }]);
    expect((await again.events("run.forked"))[0]).not.toHaveProperty("step");
    expect((await again.events("job.reused")).map(({ origin }) => origin)).toEqual(
      Array.from({ length: 4 }, () => ({ run: 1, attempt: 1 })),
    );
    expect(again.report.taken_over).toEqual({ run_id: 1, jobs: 4 });
    expect(again.report.jobs.map(({ taken_over, attempts }) => [taken_over, attempts])).toEqual(
      Array.from({ length: 4 }, () => [true, 0]),
    );
  });

  it("runs a changed step and its descendants, and nothing else", { tags: ["R1"] }, async () => {
    await bench.run(CHAIN);
    bench.ran();
    const changed = CHAIN.replace("echo b >> ran;", "echo b >> ran; true;");
    expect(await bench.why(changed)).toEqual([
      "b: its definition has changed: exec",
      "c: it depends on b, which runs",
    ]);
    const again = await bench.run(changed, { reuse: "last_ended" });
    expect(bench.ran()).toEqual(["b", "c"]);
    expect(await bench.log(again)).toEqual([
      "run.created",
      "run.forked",
      "run.started",
      "job.reused a",
      "jobs.ready b",
      "job.reused side",
      "attempt.started b",
      "attempt.succeeded b",
      "jobs.ready c",
      "attempt.started c",
      "attempt.succeeded c",
      "run.completed",
    ]);
  });

  it("is on record with all that it takes over in one commit, or not at all", { tags: ["R1"] }, async () => {
    await bench.run(CHAIN);
    const commit = vi.spyOn(bench.daruma.store, "commit");
    commit.mockRejectedValueOnce(new DarumaError("STORE_FAILED", "killed"));
    await expect(bench.run(CHAIN, { reuse: "last_ended" })).rejects.toMatchObject({
      code: "STORE_FAILED",
    });
    expect(await bench.daruma.store.listRuns({})).toHaveLength(1);
    commit.mockClear();
    await bench.run(CHAIN, { reuse: "last_ended" });
    const [first] = commit.mock.calls.flatMap(([appends]) => appends);
    expect(first!.events.filter(({ type }) => type === "job.reused")).toHaveLength(4);
  });

  it("goes on from a run that took over itself, and remembers where each job really ran", async () => {
    await bench.run(CHAIN);
    await bench.run(`${CHAIN}\n  more: ${says("more")}`, { reuse: "last_ended" });
    const third = await bench.run(`${CHAIN}\n  more: ${says("more")}`, { reuse: "last_ended" });
    expect((await third.events("job.reused")).map(({ origin }) => origin!.run)).toEqual([1, 1, 1, 1, 2]);
    const shown = await bench.daruma.call("get_job", { job_id: third.job("more").id });
    expect(shown.taken_over_from).toEqual({ run_id: 2, attempt: 1 });
  });

  it("says so where there is no run to take over from, and runs everything", async () => {
    const first = await bench.run(CHAIN, { reuse: "last_ended" });
    expect(bench.ran()).toEqual(["a", "b", "c", "side"]);
    expect(await first.events("run.forked")).toEqual([]);
    expect((await first.events("run.created"))[0]!.options.reused).toEqual({ from: null, jobs: 0 });
    expect(first.report.taken_over).toBeNull();
    expect(await bench.difference(`name: other\n${CHAIN}`)).toMatchObject({
      from_run: null,
      run: 4,
      take_over: 0,
    });
  });

  it("takes over what completed in a run that failed, if that run is named", async () => {
    const text = CHAIN.replace("echo b >> ran;", "echo b >> ran; test -e ok &&");
    expect((await bench.run(text)).report.status).toBe("failed");
    bench.write("ok", "");
    bench.ran();
    expect(await bench.why(text, { reuse: 1 })).toEqual([
      "b: it did not complete: failed",
      "c: it did not complete: canceled",
    ]);
    const again = await bench.run(text, { reuse: 1 });
    expect(again.report.status).toBe("completed");
    expect(bench.ran()).toEqual(["b", "c"]);
  });

  it("refuses `only` and `fork` beside it, and a run that is not there", async () => {
    await bench.run(CHAIN);
    await expect(bench.run(CHAIN, { reuse: "last_ended", only: "a" })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    await expect(
      bench.run(CHAIN, { reuse: "last_ended", fork: { run: 1, step: "a" } }),
    ).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    await expect(bench.run(CHAIN, { reuse: 99 })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  it("does not take over from a run of one step alone", async () => {
    await bench.run(CHAIN, { only: "a" });
    expect((await bench.difference(CHAIN)).from_run).toBeNull();
    expect((await bench.why(CHAIN, { reuse: 1 }))[0]).toBe("b: it did not complete: skipped");
  });
});

describe("what counts as a change", () => {
  const TEXT = `inputs: { target: { default: staging }, other: { default: 1 } }
env: { SHARED: "1" }
steps:
  a: { exec: "echo a", env: { MODE: x } }
  b: { exec: "echo {{ inputs.target | sh }}" }
  d: { type: script, content: "return inputs.other" }`;

  it.each([
    ["a key of the step's environment", ["MODE: x", "MODE: y"], ["a: its definition has changed: env"]],
    [
      "a key of the workflow's environment",
      ['SHARED: "1"', 'SHARED: "2"'],
      ["a", "b", "d"].map((step) => `${step}: its definition has changed: env`),
    ],
    [
      "a working folder",
      ["env: { MODE: x }", "env: { MODE: x }, cwd: ."],
      ["a: its definition has changed: cwd"],
    ],
    [
      "a condition",
      ["env: { MODE: x }", "env: { MODE: x }, if: 'true'"],
      ["a: its definition has changed: if"],
    ],
    [
      "what must not come out",
      ["env: { MODE: x }", "env: { MODE: x }, fail_if: 'output === 1'"],
      ["a: its definition has changed: fail_if"],
    ],
    [
      "another type",
      ['type: script, content: "return inputs.other"', "exec: 'true'"],
      ["d: its definition has changed: exec, type, shell, content"],
    ],
  ])("%s", async (_what, [from, to], why) => {
    await bench.run(TEXT);
    expect(await bench.why(TEXT.replace(from!, to!))).toEqual(why);
  });

  it("an input makes exactly those steps run that read it", { tags: ["R2"] }, async () => {
    await bench.run(TEXT);
    expect(await bench.why(TEXT, { inputs: { target: "production" } })).toEqual([
      "b: inputs have changed: target",
    ]);
    expect(await bench.why(TEXT, { inputs: { other: 2 } })).toEqual(["d: inputs have changed: other"]);
  });

  it("the context makes exactly those steps run that read it", async () => {
    const text = `steps:\n  a: { exec: "echo {{ pr.number }}" }\n  b: { exec: "true" }`;
    await bench.run(text, { context: { pr: { number: 1 } } });
    expect(await bench.why(text, { context: { pr: { number: 2 } } } as never)).toEqual([
      "a: the context has changed: pr",
    ]);
    expect(await bench.why(text, { context: { pr: { number: 1 }, files: [] } } as never)).toEqual([]);
  });

  it("descriptions, labels, time limits, budgets and what answers failures do not count", {
    tags: ["R2"],
  }, async () => {
    await bench.run(TEXT);
    const mild = TEXT.replace(
      "env: { MODE: x } }",
      "env: { MODE: x }, description: new, tags: [t], group: g, timeout_ms: 1000, continue_on_failure: true, on_fail: { retry: { max: 3 } }, resource_requirements: { num_cpus: 2 } }",
    );
    expect(await bench.why(`routing: { max_loops: 3 }\ndescription: new\n${mild}`)).toEqual([]);
  });

  it("labels count where a text of the step reads them", async () => {
    const text = `steps: { a: { exec: "echo {{ step.group | sh }}", group: one } }`;
    await bench.run(text);
    expect(await bench.why(text.replace("one", "two"))).toEqual(["a: its definition has changed: group"]);
  });

  it("the order of dependencies does not count, another one does", async () => {
    const text = `steps:
  a: { exec: "true" }
  b: { exec: "true" }
  c: { exec: "true", depends_on: [a, b] }`;
    await bench.run(text);
    expect(await bench.why(text.replace("[a, b]", "[b, a]"))).toEqual([]);
    expect(await bench.why(text.replace("[a, b]", "[a]"))).toEqual([
      "c: its definition has changed: depends_on",
    ]);
  });

  it("a new secret makes everything run: what was recorded may hold it in plain text", {
    tags: ["R2"],
  }, async () => {
    const text = `steps: { a: { exec: "echo \\"$REUSE_TEST_SECRET\\"" } }`;
    const plain = await bench.run(text);
    expect(plain.job("a").output).toBe("sesame-open-now");
    const secret = `secrets: [REUSE_TEST_SECRET]\n${text}`;
    expect(await bench.why(secret)).toEqual(["a: the list of secrets has changed"]);
    const redacted = await bench.run(secret, { reuse: "last_ended" });
    expect(redacted.job("a")).toMatchObject({ taken_over: false, output: "[redacted:REUSE_TEST_SECRET]" });
    const third = await bench.run(secret, { reuse: "last_ended" });
    expect(third.job("a")).toMatchObject({ taken_over: true, output: "[redacted:REUSE_TEST_SECRET]" });
  });

  it("a step that reads the output of one that it does not depend on runs with it", async () => {
    const text = `steps:
  a: { exec: "echo 1" }
  b: { exec: "echo {{ outputs.a | default: 0 }}" }`;
    await bench.run(text);
    expect(await bench.why(text.replace("echo 1", "echo 2"))).toEqual([
      "a: its definition has changed: exec",
      "b: it depends on a, which runs",
    ]);
  });

  it("user data that a job reads counts, and what it wrote is taken over", async () => {
    const text = (rate: number, ephemeral = "") => `cwd: workflow_file
user_data:
  - { name: rate, data: ${rate} }
  - { name: found${ephemeral} }
jobs:
  - name: find
    command: echo find >> ran; echo '{"found":7}' > "$DARUMA_USER_DATA_OUT"
    output_user_data: [found]
  - { name: use, command: 'cat "$DARUMA_USER_DATA_IN"', input_user_data: [rate, found] }`;
    await bench.run(text(1));
    bench.ran();
    expect(await bench.why(text(1))).toEqual([]);
    expect(await bench.why(text(2))).toEqual(["use: its definition has changed: user_data"]);
    const again = await bench.run(text(2), { reuse: "last_ended" });
    expect([again.job("use").output, bench.ran()]).toEqual([{ rate: 2, found: 7 }, []]);
    expect(await bench.why(text(2, ", is_ephemeral: true"))).toEqual([
      "find: it writes user data that starts again in each run",
      "use: it depends on find, which runs",
    ]);
  });

  it("`reuse: false` makes a step run every time, and what depends on it", async () => {
    const text = `steps:\n  a: ${says("a", ", reuse: false")}\n  b: ${says("b", ", depends_on: a")}\n  c: ${says("c")}`;
    await bench.run(text);
    bench.ran();
    expect(await bench.why(text)).toEqual(["a: the step has reuse: false", "b: it depends on a, which runs"]);
    await bench.run(text, { reuse: "last_ended" });
    expect(bench.ran()).toEqual(["a", "b"]);
  });
});

describe("declared files", () => {
  const TEXT = `steps:
  copy: { exec: "echo copy >> ran; cp in.txt mid.txt", files: { inputs: [in.txt], outputs: [mid.txt] } }
  end: { exec: "echo end >> ran; cp mid.txt end.txt", files: { inputs: [mid.txt], outputs: [end.txt] } }
  other: ${says("other")}`;

  beforeEach(() => {
    bench.write("in.txt", "one");
  });

  it("with another time but the same content count as the same", { tags: ["R3"] }, async () => {
    await bench.run(TEXT);
    bench.ran();
    for (const name of ["in.txt", "mid.txt", "end.txt"]) utimesSync(bench.path(name), 1, 1);
    expect(await bench.why(TEXT)).toEqual([]);
    const again = await bench.run(TEXT, { reuse: "last_ended" });
    expect([again.report.taken_over?.jobs, bench.ran()]).toEqual([3, []]);
  });

  it.each([
    ["in.txt", "copy: the input file in.txt has changed", ["copy", "end"]],
    ["mid.txt", "copy: the output file mid.txt has changed", ["copy", "end"]],
    ["end.txt", "end: the output file end.txt has changed", ["end"]],
  ])("%s with another content makes its step and the descendants run", async (name, why, expected) => {
    await bench.run(TEXT);
    bench.ran();
    bench.write(name, "another");
    expect((await bench.why(TEXT))[0]).toBe(why);
    await bench.run(TEXT, { reuse: "last_ended" });
    expect(bench.ran()).toEqual(expected);
  });

  it("a missing output makes its step run, a missing input is the step's failure", {
    tags: ["R3"],
  }, async () => {
    await bench.run(TEXT);
    bench.ran();
    unlinkSync(bench.path("end.txt"));
    expect(await bench.why(TEXT)).toEqual(["end: the output file end.txt is missing"]);
    unlinkSync(bench.path("in.txt"));
    expect((await bench.why(TEXT))[0]).toBe("copy: the input file in.txt is missing");
    const again = await bench.run(TEXT, { reuse: "last_ended" });
    expect(again.job("copy").error?.code).toBe("INPUT_MISSING");
  });

  it("are still known after a run that took them over", async () => {
    await bench.run(TEXT);
    await bench.run(TEXT, { reuse: "last_ended" });
    bench.ran();
    bench.write("mid.txt", "another");
    expect((await bench.why(TEXT))[0]).toBe("copy: the output file mid.txt has changed");
    bench.write("mid.txt", "one");
    expect(await bench.why(TEXT)).toEqual([]);
  });

  it("a folder cannot be compared by its content, so its step runs", async () => {
    mkdirSync(bench.path("dir"));
    const text = `steps: { a: { exec: "true", files: { inputs: [dir] } } }`;
    await bench.run(text);
    expect(await bench.why(text)).toEqual([
      "a: the input file dir is not a plain file, so its content is not compared",
    ]);
  });

  it("a step that changes its own input never counts as the same", async () => {
    const text = `steps: { a: { exec: "echo more >> in.txt", files: { inputs: [in.txt] } } }`;
    await bench.run(text);
    expect(await bench.why(text)).toEqual(["a: the input file in.txt has changed"]);
  });
});
