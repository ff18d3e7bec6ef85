import { describe, expect, it } from "vitest";
import { OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const flow = (name: string, exec: string, more = ""): string => `name: ${name}
inputs: { target: { type: string, default: staging } }
${more}
steps:
  list: { exec: "echo '[1,2]'", forEach: true }
  visit: { exec: "echo visiting; ${exec}", depends_on: [list] }
  after: { type: noop }
`;

describe("comparing two runs", () => {
  it("tells what differs, with the ends of the logs of the first job that ended otherwise", {
    tags: ["S4"],
  }, async () => {
    const good = await bench.run(flow("visits", "true"));
    await bench.run(flow("other", "true"));
    const source = flow("visits", "echo no route >&2; test {{ foreach.index }} = 0", "max_recoveries: 3");
    const bad = await bench.run(source.replace("  after: { type: noop }", "  extra: { type: noop }"), {
      inputs: { target: "prod" },
    });
    const found = await bench.call("compare_runs", { run_id: bad.run_id });
    expect(found).toMatchObject({
      run: { run_id: bad.run_id, status: "failed" },
      other: { run_id: good.run_id, status: "completed" },
      definition: {
        keys: ["max_recoveries"],
        steps: [
          { step: "visit", change: "changed", keys: ["exec"] },
          { step: "extra", change: "added", keys: [] },
          { step: "after", change: "removed", keys: [] },
        ],
      },
      inputs: [{ name: "target", run: "prod", other: "staging" }],
      secrets: [],
    });
    expect(
      found.outcomes.jobs.map(({ step, scope, run, other }) => [step, scope, run?.status, other?.status]),
    ).toEqual(
      expect.arrayContaining([
        ["visit", "root/list[1]", "failed", "completed"],
        ["extra", "root", "completed", undefined],
        ["after", "root", undefined, "completed"],
      ]),
    );
    expect(found.times.map(({ step }) => step).sort()).toEqual(["after", "extra", "list", "visit"]);
    const failed = found.outcomes.jobs.find(({ step }) => step === "visit");
    expect(failed?.scope).toBe("root/list[1]");
    const self = await bench.call("compare_runs", { run_id: good.run_id, other: good.run_id });
    expect([self.definition, self.inputs, self.outcomes.jobs, self.logs]).toEqual([
      ...[{ keys: [], steps: [], left_off: 0 }, [], [], null],
    ]);
  });

  it("shows the logs of both side by side, of the step that failed", { tags: ["S4"] }, async () => {
    const one = (exec: string): string =>
      `name: logs\nsteps: { a: { type: noop }, b: { exec: "${exec}", depends_on: [a] } }`;
    const good = await bench.run(one("echo fine"));
    const bad = await bench.run(one("echo broken >&2; exit 3"));
    const { logs, outcomes } = await bench.call("compare_runs", { run_id: bad.run_id });
    expect(outcomes.jobs.map(({ step }) => step)).toEqual(["b"]);
    expect(logs).toEqual({
      run: { job_id: bad.jobs[1]!.id, attempt: 1, stream: "stderr", lines: ["broken"] },
      other: { job_id: good.jobs[1]!.id, attempt: 1, stream: "stdout", lines: ["fine"] },
    });
  });

  it("needs a run to compare with", { tags: ["S4"] }, async () => {
    const { run_id } = await bench.run("name: alone\nsteps: { a: { type: noop } }");
    const asked = bench.call("compare_runs", { run_id });
    await expect(asked).rejects.toThrow(`no run of alone completed before run ${run_id}`);
    expect(await refusalOf(bench.call("compare_runs", { run_id, other: 99_999 }))).toBe("RUN_NOT_FOUND");
  });
});
