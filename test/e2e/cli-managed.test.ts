import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliResult, commandLine, runCli } from "../support/cli.js";
import { CliFolder, FAILING, OK, type Report, RunningCli } from "../support/cli-folder.js";

const cli = new CliFolder();
let server: RunningCli;
let url = "";
let home = "";

const there = (...args: string[]): Promise<CliResult> => runCli([...args, "--server", url]);
const here = (...args: string[]): Promise<CliResult> => runCli([...args, "--output-dir", home]);
const jsonOf = async <T>(...args: string[]): Promise<T> =>
  JSON.parse((await there(...args, "--json")).stdout) as T;

/** Is held until the file `name` is in the folder. */
const held = (name: string): string =>
  `name: holding\nunhandled: hold\nsteps: { disk: { type: command, exec: 'test -e ${join(cli.path, name)} || exit 3' } }`;

beforeAll(async () => {
  home = join(cli.path, "server");
  server = new RunningCli(["serve", "--port", "0", "--output-dir", home]);
  url = (await server.until(/listening at (\S+)/))[1]!;
});
afterAll(async () => {
  server.kill("SIGTERM");
  await server.ended;
});

describe("what the command line says of a server's run", () => {
  it("is that the server goes on with a hold, and it does", async () => {
    const run = await there("run", cli.write("held.yaml", held("free")));
    expect(run.stdout).toMatch(/^then: +the server goes on with it$/m);
    const id = /run (\d+) of/.exec(run.stdout)![1]!;
    for (const args of [
      ["holds", id],
      ["show", id],
    ]) {
      const { stdout } = await there(...args);
      expect(stdout).toMatch(/^then: +the server goes on with it$/m);
      expect(stdout).not.toContain("resume");
    }
    const told = (await there("explain", id)).stdout;
    expect(told).toMatch(new RegExp(`^ {4}daruma resolve ${id} disk --retry --server ${url}$`, "m"));
    expect(told).not.toContain("daruma resume");
    writeFileSync(join(cli.path, "free"), "");
    const resolved = await there("resolve", id, "disk", "--retry");
    expect(resolved.stdout).toBe(
      "resolved by retry: by hand\n  disk: held -> ready\nthe server continues it\n",
    );
    expect((await there("resume", id)).exitCode).toBe(0);
  });

  it("is not said of a run that no server goes on with", async () => {
    const { stdout } = await here("run", cli.write("held.yaml", held("never")), "--json");
    const id = String((JSON.parse(stdout) as Report).run_id);
    expect((await there("holds", id)).stdout).toMatch(
      new RegExp(`^then: +daruma resume ${id} --server ${url}$`, "m"),
    );
    expect((await there("resolve", id, "disk", "--retry")).stdout).toMatch(/^next: daruma resume/m);
  });

  it("names the command for a log, not a path of the server", async () => {
    const { stdout } = await there("run", cli.write("failing.yaml", FAILING));
    const id = /run (\d+) of/.exec(stdout)![1]!;
    expect(stdout).toContain(`\nlog: daruma logs ${id} build --server ${url}\n`);
    expect(stdout).not.toContain(home);
    expect((await there("show", id)).stdout).not.toContain(home);
    const local = await here("show", id);
    expect(existsSync(/^log: (.*)$/m.exec(local.stdout)![1]!)).toBe(true);
  });

  it("takes its address with the path of the operations, too", async () => {
    expect((await runCli(["list", "--server", `${url}/api/v1/`])).exitCode).toBe(0);
  });
});

describe("one job, one handler, one workflow", () => {
  it("are told in sentences and tables; with --json as objects", async () => {
    const held1 = await jsonOf<Report>("run", cli.write("held.yaml", held("never")));
    const job = String(held1.jobs[0]!.id);
    const shown = (await there("job", "show", job)).stdout;
    expect(shown).toContain(`job ${job}, disk of run ${held1.run_id}: held\n`);
    expect(shown).toMatch(/^ {2}1 +failed +local-\d+ .* EXIT_3/m);
    expect(await jsonOf("job", "show", job)).toMatchObject({
      id: Number(job),
      status: "held",
      definition: null,
    });
    const { stdout: withStep } = await there("job", "show", job, "--definition");
    expect(withStep.split("\n").filter((line) => !shown.includes(line))).toEqual(["  step: command"]);
    expect(await jsonOf("job", "show", job, "--definition")).toMatchObject({
      definition: { type: "command", no_progress_limit: null },
    });
    await there("resolve", String(held1.run_id), "disk", "--fail");
    const again = await there("job", "retry", job, "--max-retries", "5");
    expect(again.stdout).toMatch(new RegExp(`^job ${job}, disk, is ready: attempt \\d comes next\n`));
  });

  it("is named by run and step, too, here and at a server", async () => {
    const { run_id, jobs } = await jsonOf<Report>("run", cli.write("named.yaml", held("never")));
    const run = String(run_id);
    const one = await there("job", "show", run, "disk");
    expect(one.stdout).toContain(`job ${jobs[0]!.id}, disk of run ${run}: held\n`);
    expect((await here("job", "show", run, "disk")).stdout).toBe(one.stdout);
    const typo = await there("job", "show", run, "dsik");
    expect(typo.exitCode).toBe(2);
    expect(typo.stderr).toContain(
      `error STEP_NOT_FOUND: run ${run} has no step dsik, did you mean \`disk\`?\n`,
    );
    expect((await there("job", "show", "disk")).stderr).toContain(
      "error USAGE: disk is not a job id; name its run too\n",
    );
    expect((await there("job", "show", "last")).stderr).toContain(
      "error USAGE: last is a run; name one of its steps too\n",
    );
    await there("resolve", run, "disk", "--fail");
    expect((await there("job", "retry", run, "disk", "--max-retries", "5")).stdout).toContain("is ready");
    expect((await there("redrive", run, "disk")).stderr).toMatch(/^error NOT_DEAD_LETTER: /m);
    expect((await there("logs", String(jobs[0]!.id), "--stderr")).exitCode).toBe(0);
  });

  it("a failure handler shows its rules", async () => {
    const text = `name: handled
failure_handlers:
  - name: net
    rules: [{ exit_codes: [7, 8], max_retries: 3, recovery_script: "echo mend" }, { match_all_exit_codes: true, max_retries: 1 }]
steps: { a: { type: command, exec: "true", failure_handler: net } }`;
    expect((await there("run", cli.write("handled.yaml", text))).exitCode).toBe(0);
    const [{ id }] = await jsonOf<[{ id: number }]>("handlers");
    const { stdout } = await there("handler", String(id));
    expect(stdout).toMatch(/^failure handler \d+, net of workflow \d+\n/);
    expect(stdout).toMatch(/^1 +7 8 +3 +echo mend$/m);
    expect(stdout).toMatch(/^2 +all +1$/m);
  });

  it("a published workflow is printed as it was saved, and a draft's end is told", async () => {
    const text = "# mine\nname: mine\nsteps: { a: { type: command, exec: 'true' } }\n";
    await there("workflow", "save", "mine", cli.write("mine.yaml", text));
    await there("workflow", "publish", "mine");
    expect((await there("workflow", "show", "mine")).stdout).toBe(text);
    expect(await jsonOf("workflow", "show", "mine")).toMatchObject({ name: "mine", version: 1 });
    await there("workflow", "save", "mine", cli.write("mine.yaml", text));
    expect((await there("workflow", "discard", "mine")).stdout).toBe("draft mine is discarded\n");
  });
});

describe("following", () => {
  it("a log with --json prints one object for each piece", async () => {
    const text = "steps: { a: { type: command, exec: 'echo één; sleep 0.3; echo twee' } }";
    const { run_id } = await jsonOf<Report>("run", cli.write("printing.yaml", text));
    const { stdout, exitCode } = await there("logs", String(run_id), "a", "--follow", "--json");
    expect(exitCode).toBe(0);
    const pieces = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { text: string });
    expect(pieces[0]).toMatchObject({ step: "a", scope: "root", attempt: 1, stream: "stdout", offset: 0 });
    expect(pieces.map((piece) => piece.text).join("")).toBe("één\ntwee\n");
  });

  it("all runs names the steps and their errors", async () => {
    const watching = new RunningCli(["watch", "--server", url]);
    // It has begun to listen when it has seen some run; those before it are not told.
    const file = cli.write("failing.yaml", FAILING);
    await there("run", file);
    for (let tries = 0; tries < 20 && !/run\.failed/.test(watching.text); tries += 1)
      await there("run", file);
    await watching.until(/attempt\.failed +build attempt 2: EXIT_3 exit code 3/);
    await watching.until(/job\.failed +build: EXIT_3/);
    await watching.until(/run\.failed +failing: \w+ /);
    watching.kill("SIGKILL");
    await watching.ended;
  });
});

describe("a hint", () => {
  it("names the help of the command that was typed, also of one in a group", async () => {
    const wrong = await cli.daruma("token", "create", "bob", "--role", "boss");
    expect(wrong.stderr).toContain("hint: See `daruma token create --help`.");
    expect((await cli.daruma("run")).stderr).toContain("hint: See `daruma run --help`.");
    expect((await cli.daruma("resume", "abc")).stderr).toContain(
      "error USAGE: invalid run 'abc'. Use the number of a run, or last.\n",
    );
    expect((await cli.daruma("list", "--limit", "x")).stderr).toContain(
      "error USAGE: invalid value 'x' for --limit. It must be",
    );
    expect((await cli.daruma("nothing")).stderr).toContain("hint: See `daruma --help`.");
  });
});

/** One MCP conversation whose client closes its end at once; the ids of what was answered. */
async function converse(args: readonly string[], messages: readonly object[]): Promise<number[]> {
  const child = spawn(process.execPath, [commandLine, "mcp", ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  child.stdin.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  await new Promise((resolve) => child.on("close", resolve));
  return text
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { id: number }).id);
}

describe("daruma mcp", () => {
  const hello = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };
  const tool = (id: number, name: string, given: object): object => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: given },
  });

  it("answers what was asked before its input ended", async () => {
    const messages = [
      hello,
      { jsonrpc: "2.0", method: "notifications/initialized" },
      tool(2, "start_run", { source: OK }),
      tool(3, "list_runs", {}),
      tool(4, "get_stats", {}),
    ];
    for (const place of [
      ["--server", url],
      ["--output-dir", cli.outputDir],
    ])
      expect((await converse(place, messages)).sort()).toEqual([1, 2, 3, 4]);
  });
});

describe("tokens", () => {
  it("that are missing or too weak are told with where to put one, also by mcp at its start", async () => {
    const made = await there("token", "create", "me", "--role", "viewer", "--json");
    const { token, id } = JSON.parse(made.stdout) as { token: string; id: number };
    const admin = (await here("token", "create", "root", "--role", "admin")).stdout.trim();
    const without = await there("list");
    expect(without.stderr).toMatch(
      /^error UNAUTHENTICATED: .*\nhint: .*DARUMA_TOKEN.*--token.*daruma token create/,
    );
    const weak = await there("cancel", "1", "--token", token);
    expect(weak.stderr).toMatch(/^error FORBIDDEN: .*\nhint: .*DARUMA_TOKEN.*--token.*daruma token create/);
    const agent = await there("mcp", "--token", "drm_wrong");
    expect([agent.exitCode, agent.stdout]).toEqual([2, ""]);
    expect(agent.stderr).toMatch(/^error UNAUTHENTICATED/);
    const revoke = (): Promise<CliResult> => there("token", "revoke", String(id), "--token", admin);
    expect((await revoke()).stdout).toBe(`token ${id} is revoked\n`);
    expect((await revoke()).stdout).toBe(`token ${id} was already revoked\n`);
  });
});
