import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

const CHAIN = `
name: chain
steps:
  a: { type: command, exec: "echo first words >&2; exit 3" }
  b: { type: command, exec: "cat $DARUMA_FAILURE_CONTEXT > b-context; exit 4" }
  c: { type: command, exec: "echo handled" }
  after: { type: command, exec: "true", depends_on: [a] }
transitions:
  - { from: a, to: b, on: failure }
  - { from: b, to: c, on: failure }
`;

describe("failure edges", () => {
  it("a=>b=>c completes with exit 0, and both failures are listed as handled", async () => {
    const { exitCode, stdout, stderr } = await cli.daruma("run", cli.write("chain.yaml", CHAIN));
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^! run \d+ of chain completed, 2 failures handled: a, by c; b, by c; skipped: after\n {2}in .*: 1 completed, 2 failed \(handled\), 1 skipped$/m,
    );
    expect(stdout).toMatch(
      /^handled failures:\n {2}a: exit code 3: first words \(EXIT_3\)\n {2}b: exit code 4 \(EXIT_4\)$/m,
    );
    expect(stderr).toContain("— transition 1 takes the failure to b\n");
    expect(stderr).toContain("a, b: handled by the step it was routed to\n");
  });

  it("takes the failure along as a bounded envelope, which `logs --context` shows", async () => {
    const { report } = await cli.runJson(CHAIN);
    const id = String(report.run_id);
    const { stdout } = await cli.daruma("logs", id, "b", "--context");
    expect(stdout).toMatch(/^DARUMA_FAILURE_ROUTE_CONTEXT v1\n/);
    expect(stdout).toContain("untrusted_data: true\n");
    expect(stdout).toContain("target_node_key: b\nsource_node_key: a\n");
    expect(stdout).toContain("code: EXIT_3\n");
    expect(stdout).toContain("first words");
    const nonce = /<<<BEGIN (\w+)>>>/.exec(stdout)?.[1];
    expect(stdout).toContain(`<<<END ${nonce}>>>`);
    const { value } = await cli.json<{ text: string; attempt: number; manifest: unknown }>(
      "logs",
      id,
      "b",
      "--context",
    );
    expect(value).toMatchObject({ text: stdout, attempt: 1, manifest: expect.any(Object) });
    expect(readFileSync(`${cli.path}/b-context`, "utf8")).toBe(stdout);
    expect((await cli.daruma("logs", id, "a", "--summary")).stdout).toMatch(
      /^Attempt 1 failed: EXIT_3 \(application\)/,
    );
    const none = await cli.daruma("logs", id, "a", "--context");
    expect(none.exitCode).toBe(2);
    expect(none.stderr).toMatch(/^error ATTEMPT_NOT_FOUND: a: no failure was routed to it\n/);
  });

  it("takes the first by priority whose condition holds, and says of each why", async () => {
    const flow = `
steps:
  a: { type: command, exec: "exit 3" }
  last: { type: command, exec: "echo last" }
  guarded: { type: command, exec: "echo guarded" }
  second: { type: command, exec: "echo second" }
transitions:
  - { from: a, to: last, on: failure, priority: 30 }
  - { from: a, to: second, on: failure, priority: 20 }
  - { from: a, to: guarded, on: failure, priority: 10, when: "error.code === 'EXIT_9'" }
`;
    const { exitCode, report } = await cli.runJson(flow);
    expect(exitCode).toBe(0);
    expect(report.jobs.map(({ step, status }) => [step, status])).toEqual([
      ["a", "failed"],
      ["last", "skipped"],
      ["guarded", "skipped"],
      ["second", "completed"],
    ]);
    const id = String(report.run_id);
    const { value } = await cli.json<{ diagnostics: unknown[] }>("show", id);
    expect(value.diagnostics).toMatchObject([
      {
        step: "a",
        attempt: 1,
        rung: "edge",
        recovery: "NoHandler",
        failure_route: {
          attempted: true,
          selected_edge_id: 2,
          target_node_key: "second",
          status: "selected",
        },
      },
    ]);
    const { stdout } = await cli.daruma("explain", id, "--full");
    expect(stdout).toContain("- transition 3 to guarded: no, ");
    expect(stdout).toContain("- transition 2 to second: yes, unconditional.");
    expect(stdout).toContain("- edge: yes, transition 2 to second.");
    expect(stdout).toContain("Transition 2 brought the failure of a here.");
    expect(stdout).toContain("The failure is handled: the step it was routed to completed.");
  });

  it("a route that leads to another failure handles nothing: exit 1", async () => {
    const flow = `
steps: { a: { type: command, exec: "exit 3" }, b: { type: command, exec: "exit 4" } }
transitions: [{ from: a, to: b, on: failure }]
`;
    const { exitCode, report } = await cli.runJson(flow);
    expect(exitCode).toBe(1);
    expect(report.handled_failures).toEqual([]);
    const { stdout } = await cli.daruma("explain", String(report.run_id), "a");
    expect(stdout).toContain("The failure is not handled: the step it was routed to did not complete.");
  });

  it("fix, then back to the step by an edge: the step completes and its dependents run", async () => {
    const flow = `
steps:
  a: { type: command, start: auto, exec: "test -f fixed || exit 3" }
  fix: { type: command, exec: "touch fixed" }
  after: { type: command, exec: "echo after", depends_on: [a] }
transitions:
  - { from: a, to: fix, on: failure }
  - { from: fix, to: a, on: success }
`;
    const { exitCode, report } = await cli.runJson(flow);
    expect(exitCode).toBe(0);
    expect(report.jobs.map(({ step, status, visits }) => [step, status, visits])).toEqual([
      ["a", "completed", 2],
      ["fix", "completed", 1],
      ["after", "completed", 1],
    ]);
    expect(report.handled_failures).toEqual([]);
  });

  it("then: the steps behind go on with the output of the step that stood in, are skipped, or the run fails", async () => {
    const flow = (then: string) => `
steps:
  a: { type: command, exec: "exit 3", on_fail: { edge: { to: b${then} } } }
  b: { type: command, exec: "echo 7" }
  after: { type: command, exec: "echo got {{ outputs.a }}", depends_on: [a] }
`;
    const statuses = (report: { jobs: { step: string; status: string }[] }) =>
      Object.fromEntries(report.jobs.map(({ step, status }) => [step, status]));
    const goesOn = await cli.runJson(flow(", then: continue"));
    expect(goesOn.exitCode).toBe(0);
    expect(goesOn.report).toMatchObject({
      handled_failures: [{ step: "a", code: "EXIT_3", how: "edge", by: "b", then: "continue" }],
      skipped_by_failure: [],
    });
    expect(goesOn.report.jobs).toMatchObject([
      { step: "a", status: "failed", handled: true, stood_in_by: "b", output: 7 },
      { step: "b", status: "completed", stood_in_by: null },
      { step: "after", status: "completed", output: "got 7" },
    ]);
    const id = String(goesOn.report.run_id);
    const refused = await cli.daruma("retry", id, "a");
    expect(refused.stderr).toContain("a failed, b stood in for it, and what depends on it has gone on");
    const kept = await cli.runJson(flow(", then: continue"), "--reuse", "--keep-stood-in", "--strict");
    expect(kept.exitCode).toBe(1);
    expect(kept.report.handled_failures).toMatchObject([{ step: "a", code: "EXIT_3", by: "b" }]);
    expect((await cli.daruma("show", "last")).stdout).toMatch(/a +failed \(handled, taken over\)/);
    const skips = await cli.runJson(flow(""));
    expect(skips.exitCode).toBe(0);
    expect(skips.report).toMatchObject({
      handled_failures: [{ step: "a", by: "b", then: "skip" }],
      skipped_by_failure: [{ step: "after", failure: "a" }],
    });
    const fails = await cli.runJson(flow(", then: fail"));
    expect(fails.exitCode).toBe(1);
    expect(statuses(fails.report)).toEqual({ a: "failed", b: "completed", after: "canceled" });
    expect(fails.report.handled_failures).toEqual([]);
  });
});
