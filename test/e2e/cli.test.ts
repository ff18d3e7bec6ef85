import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandLine, repositoryRoot, runCli } from "../support/cli.js";
import { CliFolder, FAILING, OK, type Report } from "../support/cli-folder.js";

const cli = new CliFolder();

describe("daruma run -", () => {
  const piped = (input: string, ...flags: string[]) =>
    spawnSync(process.execPath, [commandLine, "run", "-", "--output-dir", cli.outputDir, ...flags], {
      cwd: cli.path,
      input,
      encoding: "utf8",
    });

  it("runs the workflow that standard input gives, in the present folder", () => {
    const { stdout, status } = piped('steps: { here: { type: command, exec: "pwd -P" } }', "--json");
    expect(status).toBe(0);
    const report = JSON.parse(stdout) as Report & { workflow: string };
    expect([report.workflow, report.jobs[0]!.output]).toEqual(["stdin", realpathSync(cli.path)]);
  });

  it("keeps the workflow, so that the run can be gone on with", async () => {
    const flow = "name: piped\nunhandled: hold\nsteps: { a: { type: command, exec: 'test -e piped.ok' } }";
    const { stdout, status } = piped(flow, "--json");
    expect(status).toBe(3);
    const run = String((JSON.parse(stdout) as Report).run_id);
    writeFileSync(join(cli.path, "piped.ok"), "");
    await cli.daruma("resolve", run, "a", "--retry");
    expect((await cli.daruma("resume", run)).exitCode).toBe(0);
  });

  it("says what is wrong with an empty one", () => {
    const { status, stderr } = piped("");
    expect([status, stderr]).toEqual([2, expect.stringContaining("stdin.yaml")]);
  });

  it("says where a mistake in it stands", () => {
    const { status, stderr } = piped("steps: { a: { exce: x } }");
    expect([status, stderr.split(" ")[0]]).toEqual([2, "stdin.yaml:1:13"]);
  });
});

describe("exit codes", () => {
  it("0: the run completed", async () => {
    const { exitCode, report } = await cli.runJson(OK);
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({
      status: "completed",
      error: null,
      jobs: [{ step: "a", status: "completed", output: "hello" }],
    });
  });

  it("1: the run failed, and the summary says where, why and what to type next", async () => {
    const { exitCode, stdout } = await cli.daruma("run", cli.write("failing.yaml", FAILING));
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^✗ run \d+ of failing failed after .*: 1 failed, 1 canceled$/m);
    expect(stdout).toMatch(/^ {2}\+.* build +1 +retry +EXIT_3: retry 1 of 1/m);
    expect(stdout).toContain("build failed on attempt 2: exit code 3: boom (EXIT_3)\nlog: ");
    expect(stdout.match(/boom/g)).toHaveLength(1);
    const log = /^log: (.*)$/m.exec(stdout)?.[1] ?? "";
    expect(readFileSync(log, "utf8")).toBe("boom\n");
    expect(stdout).toMatch(new RegExp(`^next: daruma explain \\d+ --output-dir ${cli.outputDir}$`, "m"));
  });

  it.each([
    ["an unknown command", ["walk"], "unknown command 'walk'"],
    ["an unknown flag", ["list", "--colour"], "unknown option '--colour'"],
    ["a missing file name", ["run"], "missing required argument 'file'"],
    ["a run that is no number", ["show", "abc"], "Use the number of a run, or last."],
    ["a number out of range", ["run", "x.yaml", "--max-parallel", "0"], "at least 1"],
    ["a wrong input", ["run", "x.yaml", "--input", "novalue"], "name=value expected"],
    ["an unknown status", ["list", "--status", "lost"], "unknown status lost"],
  ])("2: %s", async (_what, args, message) => {
    const { exitCode, stdout, stderr } = await cli.daruma(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error USAGE: .*\nhint: .*\n$/);
    expect(stderr).toContain(message);
    expect(stdout).toBe("");
  });

  it("2: an input that the workflow does not take", async () => {
    const { exitCode, report } = await cli.runJson(
      `inputs: { size: { type: number } }\n${OK}`,
      "--input",
      "size=big",
    );
    expect(exitCode).toBe(2);
    expect(report.error).toMatchObject({ code: "INVALID_INPUT" });
  });

  it("2: a file with three problems tells all three with their places, and leaves no trace", async () => {
    const file = cli.write(
      "broken.yaml",
      "steps:\n  a: { type: command, exce: x }\n  b: { type: noop, depends_on: [c] }\n",
    );
    const nowhere = join(cli.path, "nowhere");
    const { exitCode, stderr } = await runCli(["run", file, "--output-dir", nowhere]);
    expect(exitCode).toBe(2);
    const places = stderr
      .split("\n")
      .filter((line) => line.startsWith(`${file}:`))
      .map((line) =>
        line
          .slice(file.length + 1)
          .split(" ")
          .slice(0, 2)
          .join(" "),
      );
    expect(places).toEqual(["2:6 MISSING_KEY", "2:23 UNKNOWN_KEY", "3:33 UNKNOWN_STEP"]);
    expect(stderr).toMatch(/\n3 errors\n$/);
    expect(existsSync(nowhere)).toBe(false);
    const json = await runCli(["run", file, "--output-dir", nowhere, "--json"]);
    expect(JSON.parse(json.stdout).error.problems).toHaveLength(3);
  });

  it("5: the store cannot be opened", async () => {
    const bad = join(cli.path, "bad");
    mkdirSync(bad);
    writeFileSync(join(bad, "daruma.db"), "this is no database, and long enough to be seen as none at all");
    const { exitCode, stderr } = await runCli(["run", cli.write("ok.yaml", OK), "--output-dir", bad]);
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/^error STORE_DAMAGED: /);
  });
});

describe("flags of run", () => {
  it("--only makes exactly one attempt of one step", async () => {
    const { exitCode, report } = await cli.runJson(FAILING, "--only", "build");
    expect(exitCode).toBe(1);
    expect(report.jobs.map(({ step, status, attempts }) => [step, status, attempts])).toEqual([
      ["build", "failed", 1],
      ["after", "skipped", 0],
    ]);
  });

  it("--no-failure-routing and --retry-max change the number of attempts", async () => {
    expect((await cli.runJson(FAILING, "--no-failure-routing")).report.jobs[0]?.attempts).toBe(1);
    expect((await cli.runJson(FAILING, "--retry-max", "3")).report.jobs[0]?.attempts).toBe(4);
  });

  it("--on-fail-max-loops ends the loop", async () => {
    const { exitCode, report } = await cli.runJson(FAILING, "--retry-max", "9", "--on-fail-max-loops", "2");
    expect(exitCode).toBe(1);
    expect(report.error?.code).toBe("LOOP_BUDGET_EXCEEDED");
    expect(report.jobs[0]?.attempts).toBe(3);
  });

  it("--input and --context reach templates", async () => {
    const context = cli.write("context.json", '{"pr": {"number": 7}}');
    const flow =
      'inputs: { who: { type: string } }\nsteps: { a: { type: command, exec: "echo {{ inputs.who }} {{ pr.number }}" } }';
    const { report } = await cli.runJson(flow, "--input", "who=you", "--context", context);
    expect(report.jobs[0]).toMatchObject({ output: "you 7" });
  });

  it("--debug prints rungs and expressions on stderr", async () => {
    const flow = `
steps:
  a: { type: command, exec: "true" }
  b: { type: command, exec: "exit 1", depends_on: [a], on_fail: { goto_js: "return visit < 2 ? 'a' : null" } }
`;
    const { stdout, stderr } = await cli.daruma("run", cli.write("flow.yaml", flow), "--debug", "--json");
    expect(JSON.parse(stdout).status).toBe("failed");
    expect(stderr).toMatch(/debug: b: on_fail\.goto_js gave "a" in [\d.]+ ms: return visit/);
    expect(stderr).toContain("debug: b attempt 1: retry: no, retries are not set");
  });

  it("--quiet says nothing of a run that completed", async () => {
    expect(await cli.daruma("run", cli.write("ok.yaml", OK), "--quiet")).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("--output-dir may stand before the command", async () => {
    const { exitCode } = await runCli(["--output-dir", cli.outputDir, "run", cli.write("ok.yaml", OK)]);
    expect(exitCode).toBe(0);
  });
});

describe("output", () => {
  it("has no escape codes when piped, whatever the environment says of colours", async () => {
    const { stdout, stderr } = await runCli(
      ["run", cli.write("failing.yaml", FAILING), "--output-dir", cli.outputDir],
      { NO_COLOR: "" },
    );
    expect(stdout + stderr).not.toContain("\x1b");
    expect(stderr).toMatch(/^ {2}\+0\.\d{3}s {2}run \d+ of failing started$/m);
  });

  const script = "/usr/bin/script";
  it.skipIf(process.platform !== "linux" || !existsSync(script))(
    "is coloured on a terminal, unless told not to",
    async () => {
      const onTerminal = async (flags: string, env: Record<string, string>): Promise<string> => {
        const command = `"${process.execPath}" dist/cli/main.js run "${cli.write("ok.yaml", OK)}" --output-dir "${cli.outputDir}" ${flags}`;
        const child = spawn(script, ["-qec", command, "/dev/null"], {
          cwd: repositoryRoot,
          env: { ...process.env, NO_COLOR: "", TERM: "xterm", ...env },
          stdio: ["ignore", "pipe", "inherit"],
        });
        let text = "";
        child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        await new Promise((resolve) => child.on("close", resolve));
        return text;
      };
      expect(await onTerminal("", {})).toContain("\x1b[32m✓");
      expect(await onTerminal("--no-color", {})).not.toContain("\x1b[32m");
      expect(await onTerminal("", { NO_COLOR: "1" })).not.toContain("\x1b[32m");
    },
  );

  it("shows what the last step of a completed run printed", async () => {
    const { stdout } = await cli.daruma("run", cli.write("ok.yaml", OK));
    expect(stdout).toContain("\na printed:\nhello\n");
  });

  it("ends quietly when nobody reads on", async () => {
    const lines = Array.from({ length: 400 }, (_, n) => `  s${n}: { type: noop }`).join("\n");
    await cli.daruma("run", cli.write("many.yaml", `steps:\n${lines}\n`), "--quiet");
    const command = `"${process.execPath}" dist/cli/main.js events last --json --output-dir "${cli.outputDir}" | head -1`;
    const child = spawn("sh", ["-c", command], { cwd: repositoryRoot, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    await new Promise((resolve) => child.on("close", resolve));
    expect(JSON.parse(stdout)).toMatchObject({ seq: 1, type: "run.created" });
    expect(stderr).toBe("");
  });
});
