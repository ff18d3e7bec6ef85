import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { commandLine, repositoryRoot, runCli } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";
import { LiveServers } from "../support/live-server.js";

const cli = new CliFolder();
const servers = new LiveServers();
const SCHEMA = join(repositoryRoot, "test/fixtures/junit.xsd");
const hasXmllint = spawnSync("xmllint", ["--version"]).error === undefined;
if (!hasXmllint)
  console.warn("skipped: no xmllint (Debian: libxml2-utils), so no check against the schema of JUnit");

const FLOW = `
name: ci
steps:
  fetch: { type: command, exec: "test $DARUMA_ATTEMPT_ID = 2 || { echo 'connection refused' >&2; exit 4; }", on_fail: { retry: { max: 1 } } }
  test: { type: command, exec: "printf 'FAIL <a> & \\\\033[31mb\\\\033[0m \\\\001\\\\n::error::forged\\\\n' >&2; exit 1" }
  deploy: { type: command, exec: "true", depends_on: [test] }
`;

describe("run --report", () => {
  it("writes JUnit that a schema accepts, annotations and a step summary, and keeps the exit code", {
    tags: ["C2"],
  }, async () => {
    const [junit, summary] = [join(cli.path, "results.xml"), join(cli.path, "summary.md")];
    const args = ["run", cli.write("ci.yaml", FLOW), "--output-dir", cli.outputDir, "--json"];
    const reports = ["--report", `junit=${junit}`, "--report", "github"];
    const result = await runCli([...args, ...reports], { GITHUB_STEP_SUMMARY: summary });
    expect(result.exitCode).toBe(1);
    expect(JSON.parse(result.stdout)).toMatchObject({ status: "failed" });
    const commands = result.stderr.split("\n").filter((line) => line.startsWith("::"));
    expect(commands).toEqual([
      expect.stringMatching(/^::error title=test failed \(EXIT_1\)::exit code 1: ::error::forged$/),
      expect.stringMatching(/^::warning title=fetch passed on attempt 2 \(EXIT_4\)::.*connection refused/),
    ]);
    expect(readFileSync(summary, "utf8")).toMatch(/^## ci: failed after /);
    expect(readFileSync(summary, "utf8")).toMatch(/\| `fetch` \| 1 \| retry \|/);
    const xml = readFileSync(junit, "utf8");
    expect(xml).toContain('tests="3" failures="1" errors="0" skipped="1"');
    expect(xml).toMatch(/name="test".*\n.*<failure message="[^"]*" type="EXIT_1">FAIL &lt;a&gt; &amp; b/);
    if (hasXmllint) {
      const checked = spawnSync("xmllint", ["--noout", "--schema", SCHEMA, junit], { encoding: "utf8" });
      expect([checked.status, checked.stderr]).toEqual([0, `${junit} validates\n`]);
    }
  });

  it("names a failure by the line that says what broke, as lists of failures do", async () => {
    const flow = cli.write(
      "telling.yaml",
      `
name: telling
steps:
  node: { exec: [node, -e, "throw new Error('no price')"] }
  tests: { exec: "echo 'AssertionError: -6 == 6'; echo '}'; echo 'npm warn Unknown user config' >&2; exit 1" }
  quiet: { exec: "echo loading; echo '}'; exit 1" }
`,
    );
    const run = await cli.daruma("run", flow, "--quiet", "--report", "github");
    expect(run.stderr.split("\n").filter((line) => line.startsWith("::"))).toEqual([
      "::error title=node failed (EXIT_1)::exit code 1: Error: no price",
      "::error title=tests failed (EXIT_1)::exit code 1: AssertionError: -6 == 6",
      "::error title=quiet failed (EXIT_1)::exit code 1",
    ]);
    const { items } = JSON.parse((await cli.daruma("failures", "--workflow", "telling", "--json")).stdout);
    expect(items.map(({ step, sample }: { step: string; sample: string }) => [step, sample]).sort()).toEqual([
      ["node", "Error: no price"],
      ["quiet", "exit code 1: loading"],
      ["tests", "AssertionError: -6 == 6"],
    ]);
    expect((await cli.daruma("explain", "last", "quiet")).stdout).toContain(
      'It printed on stdout: "loading".',
    );
    expect((await cli.daruma("explain", "last", "tests")).stdout).not.toContain("It printed on");
  });

  it("is written of a run at a server too, and of one that is over", async () => {
    const server = await servers.start();
    const file = join(cli.path, "remote.xml");
    const at = ["--server", server.url, "--quiet"];
    const run = await runCli(["run", cli.write("ci.yaml", FLOW), "--report", `junit=${file}`, ...at]);
    expect(run.exitCode).toBe(1);
    const page = await runCli(["report", "last", "--format", "html", ...at]);
    expect(page.stdout).toMatch(/^<!doctype html>[\s\S]*<title>ci #1<\/title>/);
    const later = await runCli(["report", "last", "--format", "junit", ...at]);
    expect(later.stdout).toBe(readFileSync(file, "utf8"));
    expect(later.stdout).toContain('<testcase classname="ci" name="deploy"');
  });

  it("refuses an unknown form, a folder that is not there, and --detach, before anything runs", async () => {
    const flow = cli.write("ok.yaml", 'steps: { a: { type: command, exec: "touch ran" } }');
    for (const [report, reason] of [
      ["pdf", "Use junit=FILE, markdown=FILE, html=FILE or github."],
      ["html", "Use junit=FILE, markdown=FILE, html=FILE or github."],
      ["junit=/nowhere/at/all.xml", "There is no folder /nowhere/at."],
    ] as const) {
      const refused = await cli.daruma("run", flow, "--report", report);
      expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(reason)]);
    }
    const detached = await runCli([
      "run",
      flow,
      "--detach",
      "--report",
      "github",
      "--server",
      "http://127.0.0.1:9",
    ]);
    expect([detached.exitCode, detached.stderr]).toEqual([
      2,
      expect.stringContaining("--report cannot be combined"),
    ]);
    expect(existsSync(join(cli.path, "ran"))).toBe(false);
  });

  it("turns a success into exit 5 where the report cannot be written", async () => {
    const folder = join(cli.path, "folder.xml");
    const flow = cli.write("fine.yaml", `steps: { a: { type: command, exec: "mkdir -p ${folder}" } }`);
    const result = await cli.daruma("run", flow, "--report", `junit=${folder}`);
    expect(result.exitCode).toBe(5);
    expect(result.stderr).toMatch(/^error: the junit report could not be written: EISDIR/m);
  });
});

describe("--report of a command that goes on with a run", () => {
  const read = (name: string) => readFileSync(join(cli.path, name), "utf8");
  const wanted = (name: string) => ["--report", `junit=${join(cli.path, name)}`];
  /** Fails, or is held, until the file `well` is there. */
  const flow = (name: string, more = "") =>
    cli.write(`${name}.yaml`, `${more}\nsteps: { a: { exec: test -e ${join(cli.path, "well")} } }`);

  it.each([
    ["retry", ["a"], ""],
    ["reset", [], ""],
    ["resume-from", ["a"], ""],
    ["resolve", ["a", "--retry"], "unhandled: hold"],
    ["recover", ["--retry-unknown"], ""],
  ])("writes it at the end of the run: %s", async (word, args, more) => {
    rmSync(join(cli.path, "well"), { force: true });
    expect((await cli.daruma("run", flow(word, more))).exitCode).toBe(more === "" ? 1 : 3);
    cli.write("well", "");
    const { exitCode } = await cli.daruma(word, "last", ...args, ...wanted(`${word}.xml`));
    expect(exitCode).toBe(0);
    expect(read(`${word}.xml`)).toContain('tests="1" failures="0"');
  });

  it("writes it where the command itself ends the run", async () => {
    rmSync(join(cli.path, "well"), { force: true });
    await cli.daruma("run", flow("ended", "unhandled: hold"));
    const { exitCode } = await cli.daruma("resolve", "last", "a", "--fail", ...wanted("ended.xml"));
    expect([exitCode, read("ended.xml")]).toEqual([0, expect.stringContaining('tests="1" failures="1"')]);
  });

  it("is refused where nobody waits for the end", async () => {
    await cli.daruma("run", flow("idle"));
    for (const flag of ["--no-resume", "--dry-run"]) {
      const refused = await cli.daruma("retry", "last", "a", flag, ...wanted("no.xml"));
      expect([refused.exitCode, refused.stderr]).toEqual([
        2,
        expect.stringMatching(/--report.*cannot be used/),
      ]);
    }
    const nowhere = await cli.daruma("retry", "last", "a", "--report", "junit=/nowhere/x.xml");
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([2, expect.stringContaining("There is no folder")]);
    expect(existsSync(join(cli.path, "no.xml"))).toBe(false);
  });

  it("is an error where a server goes on with the run", async () => {
    const server = await servers.start();
    rmSync(join(cli.path, "well"), { force: true });
    const id = await server.run(`steps: { a: { exec: test -e ${join(cli.path, "well")} } }`);
    await server.until(id, "failed");
    const at = ["--server", server.url];
    const retried = await runCli(["retry", String(id), "a", ...wanted("far.xml"), ...at]);
    expect([retried.exitCode, retried.stderr]).toEqual([
      5,
      expect.stringContaining(
        `no report is written, because run ${id} does not end here; later: daruma report ${id} --format junit`,
      ),
    ]);
    expect(existsSync(join(cli.path, "far.xml"))).toBe(false);
  });
});

describe("the composite action", () => {
  /** Its script with `npx` as the registry would give it: the program of this build. */
  function runAction(env: Record<string, string>) {
    const { runs } = parse(readFileSync(join(repositoryRoot, "action.yml"), "utf8")) as {
      runs: { steps: [{ run: string; env: Record<string, string> }, object] };
    };
    const [{ run, env: given }, upload] = runs.steps;
    expect(upload).toMatchObject({ if: expect.stringContaining("always() && inputs.html != ''") });
    expect(run).not.toContain("${{");
    const tools = mkdtempSync(join(cli.path, "tools-"));
    writeFileSync(
      join(tools, "npx"),
      `#!/bin/sh\nshift 2\nexec "${process.execPath}" "${commandLine}" "$@"\n`,
      { mode: 0o755 },
    );
    const none = Object.fromEntries(Object.keys(given).map((name) => [name, ""]));
    return spawnSync("bash", ["-e", "-o", "pipefail", "-c", run], {
      cwd: cli.path,
      env: { ...process.env, PATH: `${tools}:${process.env.PATH}`, GITHUB_STEP_SUMMARY: "", ...none, ...env },
      encoding: "utf8",
    });
  }

  it("runs the workflow with its arguments as they are, and ends as the run ends", () => {
    cli.write(
      "said.yaml",
      'inputs: { who: { required: true } }\nsteps: { say: { type: command, exec: "echo hello $WHO; exit 1", env: { WHO: "{{ inputs.who }}" } } }',
    );
    const done = runAction({
      DARUMA_ACTION_WORKFLOW: "said.yaml",
      DARUMA_ACTION_ARGUMENTS: "--input\nwho=you $(touch injected); `touch injected`\n",
      DARUMA_ACTION_JUNIT: "action.xml",
      DARUMA_ACTION_HTML: "action.html",
    });
    expect([done.status, done.stderr]).toEqual([
      1,
      expect.stringContaining("say | hello you $(touch injected)"),
    ]);
    expect(done.stderr).toContain("::error title=say failed (EXIT_1)::");
    expect(readFileSync(join(cli.path, "action.xml"), "utf8")).toContain('failures="1"');
    expect(readFileSync(join(cli.path, "action.html"), "utf8")).toContain("<title>said #");
    expect(existsSync(join(cli.path, "injected"))).toBe(false);
  });
});
