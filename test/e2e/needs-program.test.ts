import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";
import { fileAppears } from "../support/file-appears.js";
import { repositoryRoot } from "../support/repository-root.js";

const cli = new CliFolder();

/** A program that charges, ships and mails under a key. Without `go` its ship step never ends; with `bad` it fails. */
function writeProgram(): string {
  const library = pathToFileURL(join(repositoryRoot, "dist/index.js")).href;
  return cli.write(
    "orders.mjs",
    `import { existsSync, writeFileSync } from "node:fs";
import { Daruma, defineWorkflow } from ${JSON.stringify(library)};
const orders = defineWorkflow({ name: "orders", steps: {
  charge: { exec: "echo charged >> charged" },
  ship: { type: "ship", depends_on: ["charge"] },
  mail: { exec: "true", depends_on: ["ship"] },
} }, { actions: ["ship"] });
const ship = async () => {
  writeFileSync("shipping", "");
  if (existsSync("bad")) throw new Error("no truck");
  if (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 600_000));
  return "shipped";
};
const daruma = await Daruma.open({ outputDir: ${JSON.stringify(cli.outputDir)}, actions: { ship } });
const { result } = await daruma.start(orders, { key: process.argv[2] });
console.log((await result).status);
await daruma.close();
`,
  );
}

function start(file: string, key: string): { kill(): void; readonly ended: Promise<string> } {
  const child = spawn(process.execPath, [file, key], { cwd: cli.path, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  return {
    kill: () => void child.kill("SIGKILL"),
    ended: new Promise((settle) => child.on("close", () => settle(text.trim()))),
  };
}

describe("a run of a program that was killed", () => {
  it("is not ruined by resume, run, cancel or a server: the program goes on with it", {
    tags: ["R10"],
  }, async () => {
    const file = writeProgram();
    const killed = start(file, "order-17");
    await fileAppears(join(cli.path, "shipping"));
    killed.kill();
    await killed.ended;
    const words = `goes on when ${file} (key order-17) starts`;
    expect((await cli.daruma("list")).stdout).toContain(`run 1 was interrupted; it ${words}\n`);
    const shown = (await cli.daruma("show", "1")).stdout;
    expect(shown).toContain(`run 1 ${words}\n`);
    const before = (await cli.daruma("events", "1", "--json")).stdout;
    const refused = await cli.daruma("resume", "1");
    expect([refused.exitCode, refused.stderr.split("\n")[0]]).toEqual([
      2,
      `error NEEDS_PROGRAM: run 1 needs the program with ship: ${file} (key order-17)`,
    ]);
    expect((await cli.daruma("events", "1", "--json")).stdout).toBe(before);
    const server = cli.start("serve", "--port", "0");
    const [, url = ""] = await server.until(/listening at (http:\S+)/);
    const asked = await runCli(["resume", "1", "--server", url]);
    expect([asked.exitCode, asked.stderr]).toEqual([
      2,
      expect.stringContaining("error NEEDS_PROGRAM: run 1"),
    ]);
    server.kill("SIGTERM");
    await server.ended;
    expect((await cli.daruma("events", "1", "--json")).stdout).toBe(before);
    cli.write("go", "");
    expect(await start(file, "order-17").ended).toBe("completed");
    expect((await cli.daruma("logs", "1", "charge")).exitCode).toBe(0);
  });

  it("takes a decision from the command line, exits 0, and says who goes on", { tags: ["R10"] }, async () => {
    const file = writeProgram();
    cli.write("go", "");
    cli.write("bad", "");
    expect(await start(file, "order-18").ended).toBe("failed");
    const { exitCode, stdout } = await cli.daruma("retry", "last", "ship");
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^ship is retried with fresh budgets\n {2}ship: failed -> ready\n {2}mail: canceled -> blocked\nrun \d+ goes on when /,
      ),
    ]);
    expect(stdout).toContain(`goes on when ${file} (key order-18) starts\n`);
    const recovered = await cli.daruma("cancel", "last", "--dry-run");
    expect(recovered.exitCode).toBe(0);
    const fork = await cli.daruma("fork", "last", "--from", "ship");
    expect([fork.exitCode, fork.stderr]).toEqual([
      2,
      "error NEEDS_PROGRAM: orders needs a program with ship\nhint: Start it in a program that registers them with `actions`; `fork` of `daruma.start` makes it a fork.\n",
    ]);
  });

  it("has its pause lifted from the command line and from a server, and its program goes on with it", {
    tags: ["R10"],
  }, async () => {
    const file = writeProgram();
    const key = "order-19";
    const goesOn = `goes on when ${file} (key ${key}) starts`;
    rmSync(join(cli.path, "shipping"), { force: true });
    rmSync(join(cli.path, "go"), { force: true });
    rmSync(join(cli.path, "bad"), { force: true });
    const killed = start(file, key);
    await fileAppears(join(cli.path, "shipping"));
    killed.kill();
    await killed.ended;
    // To wait for an attempt whose process is gone is no advice, nor is a command that is refused.
    const retried = await cli.daruma("retry", "last", "ship");
    expect(retried.stderr).toMatch(
      /^error NOT_RETRYABLE: ship is running\nhint: Nobody runs it: it goes on when /,
    );
    expect(retried.stderr).toContain(`it ${goesOn}.\n`);
    const tried = await cli.daruma("retry", "last", "ship", "--dry-run");
    expect(tried.stderr).toBe(retried.stderr);
    const pause = async () => {
      const { stdout } = await cli.daruma("pause", "last");
      return /^next: daruma (resume \d+)/m.exec(stdout)![1]!.split(" ");
    };
    const lifted = /^the pause of run \d+ is lifted\nrun \d+ goes on when /;
    const here = await cli.daruma(...(await pause()));
    expect([here.exitCode, here.stdout]).toEqual([0, expect.stringMatching(lifted)]);
    expect(here.stdout).toContain(`${goesOn}\n`);
    const server = cli.start("serve", "--port", "0");
    const [, url = ""] = await server.until(/listening at (http:\S+)/);
    const there = await runCli([...(await pause()), "--server", url]);
    expect([there.exitCode, there.stdout]).toEqual([0, here.stdout]);
    server.kill("SIGTERM");
    await server.ended;
    const json = JSON.parse((await cli.daruma(...(await pause()), "--json")).stdout);
    expect(json).toMatchObject({ action: "resume", status: "running", owner_pid: null });
    cli.write("go", "");
    expect(await start(file, key).ended).toBe("completed");
  });
});
