import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";
import { fileAppears } from "../support/file-appears.js";

const cli = new CliFolder();

interface EventLine {
  readonly type: string;
  readonly rung?: string;
  readonly error?: { readonly code: string };
  readonly failure_route?: { readonly [key: string]: unknown } | null;
}

/** The whole log, one event a line. */
async function eventsOf(run: string | number): Promise<EventLine[]> {
  const { stdout } = await cli.daruma("events", String(run), "--json");
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as EventLine);
}

describe("an if that cannot be evaluated", () => {
  const FLOW = `
name: gate
steps:
  build: { exec: "echo '{}'" }
  deploy: { exec: "true", depends_on: build, if: "outputs.build.report.ok", on_fail: { retry: { max: 2 } } }
  fallback: { exec: 'cat "$DARUMA_FAILURE_CONTEXT"' }
transitions: [{ from: deploy, to: fallback, on: failure }]`;

  it("takes the failure edge, is handled, and says so in every place", async () => {
    const run = await cli.daruma("run", cli.write("gate.yaml", FLOW));
    expect(run.exitCode).toBe(0);
    expect(run.stderr).toMatch(
      /deploy did not start: if: .* \(IF_FAILED, deterministic_contract\) — transition 1 takes the failure to fallback\n/,
    );
    const { stdout } = await cli.daruma("explain", "last", "deploy", "--full");
    expect(stdout).toContain(
      [
        "  It did not start (IF_FAILED).",
        "  Its class is deterministic_contract: what was asked for is wrong, so asking again cannot help.",
        "  - stop: no, the run was not stopped.",
      ].join("\n"),
    );
    expect(stdout).toContain("  - retry: no, there is no attempt to repeat.\n");
    expect(stdout).toContain("  - edge: yes, transition 1 to fallback.\n");
    const context = (await cli.daruma("logs", "last", "fallback", "--context")).stdout;
    expect(context).toContain("source_node_key: deploy\n");
    expect(context).toMatch(
      /source_attempt: 0\nfailure_artifact_id: run-\d+\/failures\/j\d+_a0\.json\nretry_summary_artifact_id: null\n/,
    );
    expect(context).toContain("code: IF_FAILED\nclass: deterministic_contract\n");
  });
});

describe("daruma cancel", () => {
  it("records the failure that it meets, and that no route was tried for it", {
    tags: ["A16", "A23"],
  }, async () => {
    const ready = join(cli.path, "ready");
    const onTerm = `trap 'echo "cannot roll back" >&2; exit 7' TERM`;
    const file = cli.write(
      "cancel.yaml",
      `name: cancel
steps:
  deploy: { exec: ${JSON.stringify(`${onTerm}; echo > ${ready}; while :; do sleep 0.02; done`)} }
  fallback: { exec: "true" }
transitions: [{ from: deploy, to: fallback, on: failure }]`,
    );
    const run = cli.start("run", file);
    const [, id] = await run.until(/run (\d+) of cancel started/);
    await fileAppears(ready);
    const canceled = await cli.daruma("cancel", id!, "--reason", "wrong branch");
    expect(canceled).toMatchObject({ exitCode: 0, stdout: `run ${id} is canceled\n` });
    expect(await run.ended).toBe(4);
    expect(run.text).toContain(
      "deploy attempt 1 failed: exit code 7: cannot roll back (EXIT_7, application) — the run is canceled",
    );
    const events = await eventsOf(id!);
    const after = events.slice(events.findIndex(({ type }) => type === "run.cancel_requested"));
    expect(after.map(({ type }) => type)).toEqual([
      "run.cancel_requested",
      "scope.abandoned",
      "attempt.failed",
      "ladder.climbed",
      "jobs.canceled",
      "run.canceled",
    ]);
    expect(after[2]!.error).toMatchObject({ code: "EXIT_7" });
    expect(after[3]).toMatchObject({
      rung: "stop",
      failure_route: { attempted: false, selected_edge_id: null, status: "skipped_terminal", considered: [] },
    });
    const { stdout } = await cli.daruma("explain", id!, "deploy");
    expect(stdout).toContain("Attempt 1 failed");
    expect(stdout).toContain("- stop: yes, the run is canceled.");
  });
});

describe("the failure artifact", () => {
  const FLOW = `
name: record
steps:
  deploy: { exec: "echo refused >&2; exit 4" }
  fallback: { exec: "true" }
transitions: [{ from: deploy, to: fallback, on: failure }]`;

  it("is listed and printed by the command line, and says which edges were considered", {
    tags: ["A16"],
  }, async () => {
    const { report } = await cli.runJson(FLOW);
    const [deploy] = report.jobs;
    const name = `failures/j${deploy!.id}_a1.json`;
    const run = String(report.run_id);
    const listed = await cli.json<{ name: string }[]>("artifacts", run);
    expect(listed.value.map((artifact) => artifact.name)).toContain(name);
    const { stdout } = await cli.daruma("artifact", run, name);
    expect(JSON.parse(stdout)).toMatchObject({
      step: "deploy",
      error: { code: "EXIT_4" },
      rung: "edge",
      failure_route: {
        status: "selected",
        target_node_key: "fallback",
        considered: [{ edge: 1, matched: true }],
      },
    });
  });

  it("of --only says that no edge was tried", { tags: ["A16"] }, async () => {
    const { exitCode, report } = await cli.runJson(FLOW, "--only", "deploy");
    expect(exitCode).toBe(1);
    const climbs = (await eventsOf(report.run_id)).filter(({ type }) => type === "ladder.climbed");
    const failure_route = {
      attempted: false,
      selected_edge_id: null,
      target_node_id: null,
      target_node_key: null,
      status: "no_route",
      considered: [],
    };
    expect(climbs).toMatchObject([{ rung: "fail", failure_route }]);
    const name = `failures/j${report.jobs[0]!.id}_a1.json`;
    const { stdout } = await cli.daruma("artifact", String(report.run_id), name);
    expect(JSON.parse(stdout)).toMatchObject({ rung: "fail", failure_route });
    const explained = await cli.daruma("explain", String(report.run_id), "deploy", "--full");
    expect(explained.stdout).toContain(
      "- rule, retry, edge: no, only one attempt of one step was asked for.\n",
    );
    expect(explained.stdout).not.toContain("transition 1");
  });
});
