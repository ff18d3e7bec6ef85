import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { CliFolder, FAILING, type Report } from "../support/cli-folder.js";
import { PostgresServer } from "../support/postgres-server.js";

const cli = new CliFolder();
let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await PostgresServer.create();
});
afterAll(() => postgres.remove());

const HELD = "name: holding\nunhandled: hold\nsteps: { disk: { type: command, exec: 'exit 3' } }";

describe.each([
  ["a database file", () => join(cli.path, "elsewhere.db")],
  ["PostgreSQL", () => postgres.url()],
])("--store with %s", (_, store) => {
  const daruma = (...args: string[]) => cli.daruma(...args, "--store", store());

  it("keeps runs there, and every command finds them", async () => {
    const failed = await daruma("run", cli.write("failing.yaml", FAILING), "--json");
    expect(failed.exitCode).toBe(1);
    const { run_id } = JSON.parse(failed.stdout) as Report;
    const listed = await daruma("list", "--json");
    expect(JSON.parse(listed.stdout)).toMatchObject([{ run_id, workflow: "failing", status: "failed" }]);
    expect((await daruma("logs", "last", "build", "--stderr")).stdout).toBe("boom\n");
    expect((await daruma("retry", "last", "build")).stdout).toMatch(/^build is retried/);
    expect((await daruma("resume", "last")).exitCode).toBe(1);
    const held = await daruma("run", cli.write("held.yaml", HELD));
    expect(held.exitCode).toBe(3);
    expect((await daruma("resolve", "last", "--all", "--skip")).exitCode).toBe(0);
    const environment = await runCli(["resume", "last", "--output-dir", cli.outputDir], {
      DARUMA_STORE: store(),
    });
    expect(environment.exitCode).toBe(0);
    expect(existsSync(join(cli.outputDir, "daruma.db"))).toBe(false);
  });

  it("names the store in what to type next, but never a password", async () => {
    const { stdout, stderr } = await daruma("run", cli.write("failing.yaml", FAILING));
    expect(stdout).toMatch(/next: daruma explain \d+ .*--store \S+/);
    expect(stdout + stderr).not.toContain(postgres.password);
  });
});

describe("a pipe in place of the database", () => {
  it.each([
    ["list", "--store"],
    ["resume", "1", "--store"],
    ["doctor", "--store"],
  ])("is refused, and not waited for: %s", async (...args) => {
    const pipe = join(cli.path, `${args[0]}.db`);
    execFileSync("mkfifo", [pipe]);
    const { exitCode, stdout, stderr } = await runCli([...args, pipe]);
    expect(exitCode).not.toBe(0);
    expect(stdout + stderr).toContain(`${pipe}: the database is not a regular file`);
  });
});

describe("a store that is not there", () => {
  it("is told, and not made by looking", async () => {
    const file = join(cli.path, "nothing.db");
    const shown = await runCli(["show", "1", "--store", file]);
    expect([shown.exitCode, shown.stderr]).toEqual([
      2,
      expect.stringMatching(/^error RUN_NOT_FOUND: there are no runs in .*nothing\.db/),
    ]);
    expect((await runCli(["list", "--store", file])).stdout).toBe("no runs\n");
    expect((await runCli(["workflows", "--store", file])).stdout).toBe("no workflows\n");
    expect(existsSync(file)).toBe(false);
    expect((await runCli(["token", "create", "me", "--role", "admin", "--store", file])).exitCode).toBe(0);
    expect(existsSync(file)).toBe(true);
  });
});
