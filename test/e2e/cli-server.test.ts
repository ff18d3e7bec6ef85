import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliResult, runCli } from "../support/cli.js";
import { CliFolder, FAILING, OK, type Report, RunningCli } from "../support/cli-folder.js";

const cli = new CliFolder();
/** Some seventy command lines, one after the other. */
const MANY_PROCESSES_MS = 300_000;
let server: RunningCli | null = null;
let url = "";
/** Where the server keeps its runs. */
let home = "";

const HELD =
  "name: holding\nunhandled: hold\nsteps: { disk: { type: command, exec: 'echo full >&2; exit 3' } }";
const ASKING = "name: asking\nsteps: { ask: { type: human, prompt: 'Go on?', choices: [approve, reject] } }";

async function startServer(port = 0): Promise<void> {
  server = new RunningCli(["serve", "--port", String(port), "--output-dir", home]);
  url = (await server.until(/listening at (\S+)/))[1]!;
}

async function stopServer(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  server?.kill(signal);
  await server?.ended;
}

const there = (...args: string[]): Promise<CliResult> => runCli([...args, "--server", url]);
const here = (...args: string[]): Promise<CliResult> => runCli([...args, "--output-dir", home]);

async function jsonOf<T>(...args: string[]): Promise<T> {
  return JSON.parse((await there(...args, "--json")).stdout) as T;
}

const start = (text: string, ...flags: string[]): RunningCli =>
  new RunningCli(["run", cli.write("flow.yaml", text), "--server", url, ...flags]);

/** What differs from run to run. */
const plain = (text: string): string =>
  text
    .replace(/\b\d+(\.\d+)? ?(ms|s)\b/g, "TIME")
    .replace(/--(server|output-dir) \S+/g, "PLACE")
    // A path here, a command there; and a server goes on by itself, as a decision here does.
    .replace(/^log: .*$/gm, "log")
    .replace(/\n {6}daruma logs .*$/gm, "")
    .replace(/^then: .*\n/gm, "")
    .replace(/\b(run|explain|holds|resolve|resume) \d+/g, "$1 N")
    .replace(/job \d+/g, "job N")
    .replace(/ +/g, " ");

beforeAll(async () => {
  home = join(cli.path, "server");
  await startServer();
});
afterAll(() => stopServer());

describe("daruma run at a server", () => {
  it.each([
    ["a run that completes", OK, 0],
    ["a run that fails", FAILING, 1],
    ["a run that is held", HELD, 3],
  ])("shows the same as here, and exits with the same code: %s", async (_, text, exitCode) => {
    const file = cli.write("same.yaml", text);
    const remote = await there("run", file);
    const local = await cli.daruma("run", file);
    expect([remote.exitCode, local.exitCode]).toEqual([exitCode, exitCode]);
    // The file may lie on another machine than the server's run.
    expect(plain(remote.stdout)).toBe(plain(local.stdout).replace(/^.* --reuse PLACE\n/m, ""));
    const [place, ...progress] = remote.stderr.split("\n");
    expect(place).toMatch(/^steps of run \d+ work in /);
    expect(plain(progress.join("\n"))).toBe(plain(local.stderr));
    const report = await jsonOf<Report>("run", file);
    const own = (await cli.json<Report>("run", file)).value;
    expect(Object.keys(report)).toEqual(Object.keys(own));
    expect(report.jobs.map(({ step, status, attempts }) => [step, status, attempts])).toEqual(
      own.jobs.map(({ step, status, attempts }) => [step, status, attempts]),
    );
  });

  it("sends inputs and context along", async () => {
    const file = cli.write(
      "given.yaml",
      "inputs: { n: { type: number } }\nsteps: { a: { type: command, exec: 'echo {{ inputs.n }} {{ pr.id }}' } }",
    );
    const context = cli.write("context.json", '{"pr": {"id": 7}}');
    const report = await jsonOf<Report>("run", file, "--input", "n=3", "--context", context);
    expect(report.jobs[0]!.output).toBe("3 7");
  });

  it("runs in the folder of the file at a server of this machine, unless told otherwise, and says where", async () => {
    writeFileSync(join(cli.path, "lint.sh"), "#!/bin/sh\npwd\n", { mode: 0o755 });
    const file = cli.write("lint.yaml", "steps: { lint: { type: command, exec: ./lint.sh } }");
    const run = await there("run", file);
    expect([run.exitCode, run.stderr]).toEqual([0, expect.stringMatching(/^steps of run \d+ work in /)]);
    expect(run.stderr.split("\n")[0]).toMatch(new RegExp(` work in ${cli.path}$`));
    const elsewhere = mkdtempSync(join(cli.path, "elsewhere-"));
    const other = await there("run", file, "--folder", elsewhere);
    expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining(`work in ${elsewhere}\n`)]);
    const own = await there("run", file, "--no-folder");
    expect([own.exitCode, own.stderr]).toEqual([1, expect.stringContaining("its own folder on each worker")]);
    const detached = await jsonOf<{ folder: string }>("run", file, "--detach");
    expect(detached.folder).toBe(cli.path);
  });

  it("finds the files of child runs below the folder, and says so where it has none", async () => {
    cli.write("child.yaml", "steps: { a: { type: command, exec: 'echo from the child' } }");
    const file = cli.write("parent.yaml", "steps: { c: { type: workflow, file: child.yaml } }");
    const without = await there("run", file, "--no-folder");
    expect([without.exitCode, without.stderr]).toEqual([2, expect.stringContaining("FOLDER_NEEDED")]);
    for (const flags of [[], ["--folder", dirname(file)]])
      expect(await jsonOf<Report>("run", file, ...flags)).toMatchObject({ status: "completed" });
  });

  it("tells the problems of a file, a refused input and a missing run as it would here", async () => {
    const broken = cli.write("broken.yaml", "steps:\n  a: { type: command, exce: x }\n");
    const ok = cli.write("ok.yaml", OK);
    for (const args of [
      ["run", broken],
      ["run", ok, "--input", "size=3"],
      ["run", ok, "--only", "z"],
      ["show", "999"],
      ["logs", "last", "nobody"],
      ["resolve", "last", "--all", "--retry"],
    ]) {
      const [remote, local] = [await there(...args), await here(...args)];
      expect(remote.stderr).toBe(local.stderr);
      expect([remote.exitCode, local.exitCode]).toEqual([2, 2]);
    }
  });

  it("with --detach only starts it; resume follows it to its end", async () => {
    const detached = await there("run", cli.write("asking.yaml", ASKING), "--detach");
    expect(detached.exitCode).toBe(0);
    const id = /^run (\d+) of asking is running on the server\n$/.exec(detached.stdout)![1]!;
    const following = new RunningCli(["resume", id, "--server", url]);
    const answered = await there("answer", id, "ask", "--choose", "approve");
    expect(answered.stdout).toMatch(/^ask is answered: approve\n/);
    expect(await following.ended).toBe(0);
    expect(following.text).toMatch(/run \d+ of asking completed/);
    expect((await there("resume", id)).exitCode).toBe(0);
  });

  it("goes on at the server when the command line is interrupted, unless it is told to cancel", async () => {
    const left = start(ASKING);
    await left.until(/ask/);
    left.kill("SIGINT");
    expect(await left.ended).toBe(130);
    const id = /detached; run (\d+) continues on the server: daruma show \d+ --server http/.exec(
      left.text,
    )![1]!;
    expect((await jsonOf<Report>("show", id)).status).toBe("running");
    await there("cancel", id);
    const canceled = start(ASKING, "--cancel-on-interrupt");
    await canceled.until(/ask/);
    canceled.kill("SIGINT");
    expect(await canceled.ended).toBe(130);
    expect(canceled.text).toMatch(/run \d+ is canceled\n$/);
  });

  it("is followed over a restart of the server, without an event twice", async () => {
    const running = start(ASKING);
    await running.until(/ask/);
    const [{ run_id }] = await jsonOf<[{ run_id: number }]>("list", "--limit", "1");
    const port = Number(new URL(url).port);
    await stopServer("SIGKILL");
    await startServer(port);
    await there("answer", String(run_id), "ask", "--choose", "approve");
    expect(await running.ended).toBe(0);
    expect(running.text.match(/✓ run/g)).toHaveLength(1);
  });

  it("refuses flags that mean this process, and those that need a server", async () => {
    const file = cli.write("ok.yaml", OK);
    expect((await there("run", file, "--max-parallel", "2")).stderr).toMatch(/^error USAGE: --max-parallel/);
    expect((await cli.daruma("run", file, "--detach")).stderr).toMatch(/^error USAGE: --detach/);
    expect((await there("list", "--store", "x.db")).stderr).toMatch(/^error USAGE: --server and --store/);
  });
});

describe("other commands at a server", () => {
  it("print what they print here", { timeout: MANY_PROCESSES_MS }, async () => {
    await there("run", cli.write("failing.yaml", FAILING));
    await there("run", cli.write("held.yaml", HELD));
    for (const args of [
      ["list"],
      ["show", "last"],
      ["events", "last"],
      ["explain", "last"],
      ["stats"],
      ["holds", "last"],
      ["jobs", "last"],
      ["logs", "last", "disk"],
      ["artifacts", "last"],
      ["handlers"],
      ["workflows"],
      ["definition", "last"],
      ["graph", "last"],
      ["schema"],
      ["validate", cli.write("failing.yaml", FAILING)],
      ["token", "list"],
      ["workflow", "drafts"],
    ]) {
      for (const flags of [[], ["--json"]]) {
        const [remote, local] = [await there(...args, ...flags), await here(...args, ...flags)];
        expect([args.join(" "), remote.exitCode, remote.stderr]).toEqual([
          args.join(" "),
          local.exitCode,
          local.stderr,
        ]);
        const place = (text: string): string =>
          text.replaceAll(/ --(server|output-dir) [^\s`"\\]+/g, "").replace(/^then: .*\n/gm, "");
        expect(place(remote.stdout)).toBe(place(local.stdout));
      }
    }
  });

  it("steer runs: resolve, pause, resume, retry", async () => {
    const held = await jsonOf<Report>("run", cli.write("held.yaml", HELD));
    const id = String(held.run_id);
    const dry = await there("resolve", id, "disk", "--fail", "--dry-run");
    expect(dry.stdout).toMatch(/^dry run; nothing changed/);
    const failed = await there("resolve", id, "disk", "--fail", "--reason", "gone");
    expect(failed.stdout).toMatch(/^resolved by fail: gone\n/);
    expect((await there("resume", id)).exitCode).toBe(1);
    expect((await there("retry", id, "disk")).stdout).toMatch(/^disk is retried with fresh budgets/);
    const asking = await there("run", cli.write("asking.yaml", ASKING), "--detach", "--json");
    const waiting = String((JSON.parse(asking.stdout) as { run_id: number }).run_id);
    expect((await there("pause", waiting)).stdout).toMatch(/^run \d+ is paused/);
    expect((await there("cancel", waiting)).stdout).toBe(`run ${waiting} is canceled\n`);
  });

  it("keep, publish and run workflows", async () => {
    const file = cli.write(
      "kept.yaml",
      "# kept\nname: kept\nsteps: { a: { type: command, exec: 'echo kept' } }\n",
    );
    expect((await there("workflow", "save", "kept", file)).stdout).toBe("draft kept is at revision 1\n");
    expect((await there("workflow", "save", "kept", file, "--based-on", "9")).stderr).toMatch(
      /^error DRAFT_CONFLICT/,
    );
    expect((await there("workflow", "draft", "kept")).stdout).toMatch(/^# kept\n/);
    expect((await there("workflow", "check", "kept")).exitCode).toBe(0);
    expect((await there("workflow", "publish", "kept")).stdout).toBe("kept version 1 is published\n");
    const report = await jsonOf<Report>("run", "kept@1", "--stored");
    expect(report.jobs[0]!.output).toBe("kept");
    const local = await here("run", "kept", "--stored", "--json");
    expect((JSON.parse(local.stdout) as Report).jobs[0]!.output).toBe("kept");
  });

  it("export and import, and prune", async () => {
    const { run_id } = await jsonOf<Report>("run", cli.write("failing.yaml", FAILING));
    const file = cli.write("run.json", (await there("export", String(run_id))).stdout);
    const imported = await there("import", file);
    expect(imported.stdout).toMatch(new RegExp(`^run ${run_id} of failing, failed, imported as run \\d+\n`));
    expect((await there("prune", "--older-than", "1d", "--dry-run")).stdout).toBe(
      "dry run: 0 runs would be removed\n",
    );
  });
});

describe("a server that is not there, or not for us", () => {
  let stranger: Server;
  let strangerUrl = "";
  beforeAll(async () => {
    stranger = createServer((_request, response) => response.writeHead(404).end("<h1>nothing</h1>"));
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
    strangerUrl = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  });
  afterAll(() => stranger.close());

  it("is told with exit code 5", async () => {
    const gone = await runCli(["list", "--server", "http://127.0.0.1:9"]);
    expect(gone.exitCode).toBe(5);
    expect(gone.stderr).toMatch(/^error SERVER_UNREACHABLE: http:\/\/127\.0\.0\.1:9 does not answer/);
    const other = await runCli(["list"], { DARUMA_SERVER: strangerUrl });
    expect(other.exitCode).toBe(5);
    expect(other.stderr).toContain("is not a Daruma server (HTTP 404)");
  });

  it("is not asked at all where its address is none", async () => {
    for (const address of ["nowhere", "ftp://host", "http://me:secret@host"]) {
      const { exitCode, stderr } = await runCli(["list", "--server", address]);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^error USAGE: /);
      expect(stderr).not.toContain("secret");
    }
  });

  it("refuses a wrong token once there is one, and takes the right one from the environment", async () => {
    const made = await there("token", "create", "me", "--role", "viewer", "--json");
    const { token, id } = JSON.parse(made.stdout) as { token: string; id: number };
    const admin = (await here("token", "create", "root", "--role", "admin")).stdout.trim();
    const without = await there("list");
    expect([without.exitCode, without.stderr]).toEqual([2, expect.stringMatching(/^error UNAUTHENTICATED/)]);
    expect((await runCli(["list", "--server", url], { DARUMA_TOKEN: token })).exitCode).toBe(0);
    const forbidden = await there("run", cli.write("ok.yaml", OK), "--token", token);
    expect([forbidden.exitCode, forbidden.stderr]).toEqual([2, expect.stringMatching(/^error FORBIDDEN/)]);
    expect((await there("token", "revoke", String(id), "--token", admin)).exitCode).toBe(0);
    expect((await there("list", "--token", token)).stderr).toMatch(/^error UNAUTHENTICATED/);
  });
});
