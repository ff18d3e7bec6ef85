import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import { runCli } from "../support/cli.js";
import { CliFolder, FAILING, OK } from "../support/cli-folder.js";

const cli = new CliFolder();

it("a run that ends rolls up what it told the failure book, so that reading the book is quick", {
  tags: ["B3"],
}, async () => {
  expect((await cli.runJson(FAILING)).report.status).toBe("failed");
  const store = await openSqliteStore({ file: join(cli.outputDir, "daruma.db") });
  expect(await store.listUnrolled(null, 10)).toEqual([]);
  expect(await store.listEntries({ now: Date.now(), limit: 10 })).toMatchObject([
    { workflow: "failing", step: "build", occurrences: 2, runs: 1 },
  ]);
  await store.close();
});

describe("commands that look", () => {
  let id = "";
  beforeAll(async () => {
    id = String((await cli.runJson(FAILING)).report.run_id);
  });

  it("list: newest first, by status", async () => {
    const all = JSON.parse((await cli.daruma("list", "--json")).stdout) as {
      run_id: number;
      status: string;
    }[];
    expect(all[0]?.run_id).toBe(Number(id));
    const failed = JSON.parse(
      (await cli.daruma("list", "--json", "--status", "failed", "--limit", "1")).stdout,
    );
    expect(failed).toMatchObject([{ run_id: Number(id), status: "failed", workflow: "failing" }]);
    expect((await cli.daruma("list")).stdout).toMatch(new RegExp(`^${id} +failed +failing `, "m"));
    expect((await runCli(["list", "--output-dir", join(cli.path, "empty"), "--json"])).stdout).toBe("[]\n");
  });

  it("a folder without runs is told, and not made", async () => {
    const nowhere = join(cli.path, "nowhere");
    for (const args of [
      ["show", "1"],
      ["resume", "1"],
      ["cancel", "1"],
      ["events", "last"],
    ]) {
      const { exitCode, stderr } = await runCli([...args, "--output-dir", nowhere]);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^error RUN_NOT_FOUND: there are no runs in /);
    }
    expect(existsSync(nowhere)).toBe(false);
  });

  it("show: the report with the state that expressions see", async () => {
    const shown = JSON.parse((await cli.daruma("show", "last", "--json")).stdout);
    expect(shown).toMatchObject({
      run_id: Number(id),
      status: "failed",
      state: { root: { _last_error: { step_id: "build", code: "EXIT_3" } } },
    });
    const text = (await cli.daruma("show", id)).stdout;
    expect(text).toMatch(/^ {2}build +failed +2 +1 +EXIT_3: /m);
    expect(text).toContain("state._last_error in root: build EXIT_3");
  });

  it("job show: the peak memory and the CPU time of each attempt, null where there was no process", async () => {
    const take = "perl -e '$taken = q(x) x 60_000_000; exit 3'";
    const retry = "on_fail: { retry: { max: 1 } }";
    const { run_id } = (
      await cli.runJson(
        `name: used\nsteps:\n  hungry: { exec: "${take}", ${retry} }\n  idle: { type: noop }\n`,
      )
    ).report;
    const shown = async (step: string) =>
      JSON.parse((await cli.daruma("job", "show", String(run_id), step, "--json")).stdout).attempt_history;
    const attempts = (await shown("hungry")) as { cpu_ms: number; peak_memory_bytes: number }[];
    expect(attempts).toHaveLength(2);
    for (const { cpu_ms, peak_memory_bytes } of attempts) {
      expect(cpu_ms).toBeGreaterThan(0);
      expect(peak_memory_bytes).toBeGreaterThan(60_000_000);
      expect(peak_memory_bytes).toBeLessThan(200_000_000);
    }
    expect(await shown("idle")).toMatchObject([{ cpu_ms: null, peak_memory_bytes: null }]);
    const text = (await cli.daruma("job", "show", String(run_id), "hungry")).stdout;
    expect(text).toMatch(/ended \(UTC\) +cpu +memory +error\n/);
    expect(text).toMatch(/ ms +\d+(\.\d)? MiB +EXIT_3/);
    expect((await cli.daruma("job", "show", String(run_id), "idle")).stdout).not.toContain("memory");
  });

  it("logs: only some lines, or those that a search finds, a long one whole", async () => {
    const long = "printf '%10000s' | tr ' ' x";
    const { run_id } = (
      await cli.runJson(
        `name: lined\nsteps:\n  count: { exec: "seq 1 2500; ${long}; echo; echo Refused; echo refused again >&2" }\n`,
      )
    ).report;
    const logs = (...flags: string[]) => cli.daruma("logs", String(run_id), "count", ...flags);
    expect((await logs("--lines", "2499:2500")).stdout).toBe("2499\n2500\n");
    expect((await logs("--lines", "-1:", "--stderr")).stdout).toBe("refused again\n");
    expect((await logs("--lines", "2501")).stdout).toBe(`${"x".repeat(10_000)}\n`);
    expect((await logs("--lines", "1:2400")).stdout.split("\n")).toHaveLength(2_401);
    expect((await logs("--grep", "refused")).stdout).toBe("2502:Refused\n1:refused again\n");
    expect((await logs("--grep", "^24.5$", "--regex")).stdout.split("\n").slice(0, 2)).toEqual([
      "2405:2405",
      "2415:2415",
    ]);
    expect(JSON.parse((await logs("--grep", "refused", "--json")).stdout)).toMatchObject({
      step: "count",
      stdout: { items: [{ line: 2502, text: "Refused" }] },
      stderr: { items: [{ line: 1, text: "refused again" }] },
    });
    expect((await logs("--grep", "nowhere")).stderr).toBe("no line matches\n");
    expect((await logs("--lines", "1:", "--follow")).exitCode).toBe(2);
  });

  it("tables: nothing is cut where nobody looks at a terminal", async () => {
    const words = `${"a long message ".repeat(8)}end`;
    const file = cli.write(
      "long.yaml",
      `name: long\nsteps: { a: { type: command, exec: "echo '${words}' >&2; exit 3" } }`,
    );
    const run = await cli.daruma("run", file);
    expect(run.exitCode).toBe(1);
    const number = /run (\d+) of long/.exec(run.stdout)![1]!;
    for (const args of [["list"], ["show", number], ["jobs", number], ["job", "show", `${number}0000001`]]) {
      const { stdout } = await cli.daruma(...args);
      expect([args, stdout.includes(`EXIT_3: `), stdout.includes(words)]).toEqual([args, true, true]);
      expect(stdout).not.toContain("…");
    }
  });

  it("events: one a line", async () => {
    const lines = (await cli.daruma("events", id, "--json")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
    expect(lines.at(-1)).toMatchObject({ type: "run.failed", at: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect((await cli.daruma("events", id)).stdout).toMatch(
      /attempt\.failed +build, attempt 1, EXIT_3 \(application\)/,
    );
  });

  it("logs: of the attempt that is asked for", async () => {
    expect((await cli.daruma("logs", id, "build", "--attempt", "1")).stdout).toBe("boom\n");
    expect((await cli.daruma("logs", id, "build", "--stderr")).stdout).toBe("boom\n");
    const missing = await cli.daruma("logs", id, "build", "--attempt", "9");
    expect(missing.exitCode).toBe(2);
    expect(missing.stderr).toBe(
      "error ATTEMPT_NOT_FOUND: build has no attempt 9\nhint: Its attempts: 1 (failed), 2 (failed).\n",
    );
  });

  it("explain: the story and what to do next", async () => {
    const { stdout } = await cli.daruma("explain", id, "build");
    expect(stdout).toContain("- retry: yes, EXIT_3: retry 1 of 1.");
    expect(stdout).toContain(`daruma logs ${id} build`);
    expect(stdout).not.toContain("- stop: no");
    expect((await cli.daruma("explain", id, "--full")).stdout).toContain("- stop: no");
    expect((await cli.daruma("explain", id, "--brief")).exitCode).toBe(2);
  });

  it("explain, logs and retry take a job as the run prints it", async () => {
    const { report } = await cli.runJson(`name: fan
steps:
  list: { type: script, content: "return ['a', 'b']", forEach: true }
  work: { type: command, exec: "echo {{ foreach.index }}; exit 3", depends_on: [list] }`);
    const run = String(report.run_id);
    const name = "work@list[1]";
    expect((await cli.daruma("explain", run, name)).stdout).toContain(`\n${name}: failed\n`);
    expect((await cli.daruma("logs", run, name)).stdout).toBe("1\n");
    expect((await cli.daruma("retry", run, name)).stdout).toContain(`${name}: failed -> ready`);
  });

  it("graph: of a file, and of a run with its colours", async () => {
    expect((await cli.daruma("graph", cli.write("failing.yaml", FAILING))).stdout).toMatch(
      /^flowchart TD\n {2}n0\["build/,
    );
    expect((await cli.daruma("graph", id)).stdout).toContain("style n0 fill:#fca5a5");
    expect((await cli.daruma("graph", id, "--format", "dot")).stdout).toMatch(/^digraph "failing" \{/);
    const data = JSON.parse((await cli.daruma("graph", id, "--format", "json")).stdout);
    expect(data.nodes[0]).toMatchObject({ step: "build", status: "failed" });
    expect((await cli.daruma("graph", id, "--format", "png")).exitCode).toBe(2);
  });

  it("schema, validate and version", async () => {
    expect(JSON.parse((await cli.daruma("schema")).stdout)).toHaveProperty("$schema");
    const valid = await cli.daruma("validate", cli.write("failing.yaml", FAILING));
    expect(valid.exitCode).toBe(0);
    expect(valid.stdout).toMatch(/worst case: 3 attempts in all/);
    const mixed = await cli.daruma(
      "validate",
      cli.write("ok.yaml", OK),
      cli.write("bad.yaml", "steps: 7\n"),
      "--json",
    );
    expect(mixed.exitCode).toBe(2);
    expect(JSON.parse(mixed.stdout)).toMatchObject({
      ok: false,
      files: [{ ok: true }, { ok: false, problems: [{ code: "WRONG_TYPE" }] }],
    });
    expect((await runCli(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("help of two words is the help of that command", async () => {
    const [asked, flagged] = await Promise.all([
      runCli(["help", "schedules", "pause"]),
      runCli(["schedules", "pause", "--help"]),
    ]);
    expect(asked).toEqual(flagged);
    expect(asked.stdout).toContain("Usage: daruma schedules pause");
  });

  it.each([
    "run",
    "resume",
    "cancel",
    "validate",
    "schema",
    "graph",
    "list",
    "show",
    "events",
    "logs",
    "explain",
    "stats",
    "holds",
    "resolve",
    "pause",
    "takeover",
    "retry",
    "reset",
    "answer",
    "fork",
  ])("%s --help has examples", async (command) => {
    const { exitCode, stdout } = await runCli([command, "--help"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`\nExamples:\n  daruma ${command}`);
  });
});
