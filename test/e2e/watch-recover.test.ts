import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { repositoryRoot, runCli } from "../support/cli.js";
import { CliFolder, RunningCli } from "../support/cli-folder.js";
import { freePort } from "../support/free-port.js";

const cli = new CliFolder();
const AGENT = join(repositoryRoot, "test/fixtures/deciding-agent.mjs");
const agent = (decision: object): string => `node ${AGENT} '${JSON.stringify(decision)}'`;

/** Says that it ran out of memory until this attempt. */
const eater = (attempt: number) => `
name: eater
steps:
  eat:
    exec: test $DARUMA_ATTEMPT_ID -ge ${attempt} || { echo '{"code":"OOM"}' > $DARUMA_FAILURE; exit 137; }
    resource_requirements: { memory: 512m }
  after: { exec: echo done, depends_on: eat }
`;
/** Is held with exit code 3 until its second attempt. */
const HELD = `
name: holding
unhandled: hold
steps:
  disk: { exec: "test $DARUMA_ATTEMPT_ID -ge 2 || exit 3", resource_requirements: { memory: 512m } }
  after: { exec: echo done, depends_on: disk }
`;

const servers: RunningCli[] = [];
async function serve(port: number, home: string): Promise<RunningCli> {
  const server = new RunningCli(["serve", "--port", String(port), "--output-dir", home]);
  servers.push(server);
  await server.until(/listening at (\S+)/);
  return server;
}
afterAll(async () => {
  for (const server of servers) {
    server.kill("SIGKILL");
    await server.ended;
  }
});

async function decisions(...place: string[]): Promise<{ type: string; by?: string; reason: string }[]> {
  const { stdout } = await runCli(["events", "last", "--json", ...place]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter((event) => "by" in event);
}

describe("daruma watch RUN", () => {
  it("tells how the run ends, with its exit code, and changes nothing", async () => {
    const { report } = await cli.runJson(eater(2));
    const { exitCode, stdout } = await cli.daruma("watch", String(report.run_id));
    expect([exitCode, stdout.includes("failed")]).toEqual([1, true]);
    const { value } = await cli.json<{ attempts: number }>("job", "show", String(report.run_id), "eat");
    expect(value.attempts).toBe(1);
    expect((await cli.daruma("watch", "last", "--max-rounds", "2")).stderr).toContain(
      "--max-rounds needs --recover",
    );
    expect((await cli.daruma("watch", "--recover")).stderr).toContain("--recover needs a run");
  });

  it("--recover gets it up again until it completes", { tags: ["T35"] }, async () => {
    await cli.runJson(eater(3));
    const { exitCode, stderr } = await cli.daruma("watch", "last", "--recover", "--max-memory", "700m");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("round 1 of 3:   eat (OOM): runs again: memory 512 MiB -> 700 MiB");
    expect(stderr).toContain("eat (OOM): stays: memory is at its limit (700 MiB)");
    const again = await cli.daruma("watch", "last", "--recover");
    expect(again.exitCode).toBe(0);
    expect((await decisions("--output-dir", cli.outputDir)).map(({ type, by }) => [type, by])).toContainEqual(
      ["jobs.retried", "program"],
    );
  });

  it("--recover waits for the process that runs it", { tags: ["T35"] }, async () => {
    const gate = join(cli.path, "gate");
    const text = eater(2).replace("exec: test", `exec: until test -e ${gate}; do sleep 0.05; done; test`);
    const running = cli.start("run", cli.write("slow.yaml", text));
    await running.until(/started/);
    const watching = cli.start("watch", "last", "--recover");
    await watching.until(/watching run \d+, which another process runs/);
    writeFileSync(gate, "");
    expect(await running.ended).toBe(1);
    expect(await watching.ended).toBe(0);
    expect(watching.text).toContain("round 1 of 3: 1 job and 1 dependent run again");
  });

  it("--agent lets an agent decide what is still held, and the log says that it did", {
    tags: ["T35"],
  }, async () => {
    await cli.runJson(HELD);
    const { exitCode, stderr } = await cli.daruma(
      ...["watch", "last", "--recover", "--agent", agent({ action: "retry", memory: "1g" })],
    );
    expect(stderr).toContain("round 1 of 3: the agent decides about 1 job");
    expect(stderr).toContain("agent: may decide; applied true");
    expect(exitCode).toBe(0);
    const told = await decisions("--output-dir", cli.outputDir);
    expect(told).toMatchObject([
      { type: "hold.resolved", by: "agent (mcp)", reason: "seen it" },
      { type: "jobs.retried", by: "agent (mcp)", raised: [{ resource: "memory", to: 1024 ** 3 }] },
    ]);
    const { stdout } = await cli.daruma("explain", "last", "--full");
    expect(stdout).toContain("agent (mcp) resolved the hold by retry");
  });

  it("gives the agent neither Daruma's own keys nor the run's secrets, and a token that is its own and ends with it", async () => {
    const [home, port] = [join(cli.path, "guarded"), await freePort()];
    const local = ["--output-dir", home];
    const made = await runCli(["token", "create", "boss", "--role", "admin", "--json", ...local]);
    const { token: boss } = JSON.parse(made.stdout) as { token: string };
    await serve(port, home);
    const at = ["--server", `http://127.0.0.1:${port}`];
    const keys = {
      DARUMA_TOKEN: boss,
      DARUMA_STORE: "",
      API_KEY: "a-secret-of-some-length",
      OWN_KEY: "mine",
    };
    const text = "unhandled: hold\nsecrets: [API_KEY]\nsteps: { a: { exec: exit 1 } }\n";
    await runCli(["run", cli.write("held.yaml", text), ...at], keys);
    const seen = join(cli.path, "seen");
    const command = `env > ${seen}; cat $DARUMA_MCP_CONFIG >> ${seen}; ${agent({ action: "skip" })}`;
    const { exitCode } = await runCli(["watch", "last", "--recover", "--agent", command, ...at], keys);
    expect(exitCode).toBe(0);
    const told = readFileSync(seen, "utf8");
    for (const kept of [boss, "a-secret-of-some-length", "DARUMA_STORE="]) expect(told).not.toContain(kept);
    expect(told).toContain("OWN_KEY=mine");
    const [, own] = JSON.parse((await runCli(["token", "list", "--json", ...local])).stdout) as object[];
    expect(own).toMatchObject({ name: "watch of run 1", role: "operator" });
    expect(own).toMatchObject({ revoked_at: expect.any(String), expires_at: expect.any(String) });
    const listed = await runCli(["events", "last", "--json", ...at], keys);
    expect(listed.stdout).toContain('"by":"agent (watch of run 1)"');
  });

  it("stops where the agent leaves the hold, fails or takes too long", async () => {
    await cli.runJson(HELD);
    const lower = await cli.daruma(
      ...["watch", "last", "--recover", "--agent", agent({ action: "retry", memory: "256m" })],
    );
    expect(lower.exitCode).toBe(3);
    expect(lower.stderr).toContain("agent: may decide; DECISIONS_REFUSED");
    expect(lower.stderr).toContain("stays held: the agent has not decided everything");
    const broken = await cli.daruma("watch", "last", "--recover", "--agent", "exit 9");
    expect([broken.exitCode, broken.stderr]).toEqual([
      2,
      expect.stringContaining("AGENT_FAILED: exit 9: exit code 9"),
    ]);
    const late = await cli.daruma(
      ...["watch", "last", "--recover", "--agent", "sleep 600", "--agent-timeout", "200ms"],
    );
    expect(late.stderr).toContain("AGENT_FAILED: sleep 600: took longer than 200 ms");
  });

  it("--recover goes on after the server was killed and started again; its agent decides there", {
    tags: ["T35"],
  }, async () => {
    const port = await freePort();
    const [home, go] = [join(cli.path, "server"), join(cli.path, "go")];
    const at = ["--server", `http://127.0.0.1:${port}`];
    const first = await serve(port, home);
    const text = `${eater(2).replace("name: eater", "name: eater\nunhandled: hold").replace("|| {", `&& { until test -e ${go}; do sleep 0.05; done; } || {`)}
  disk: { exec: "test $DARUMA_ATTEMPT_ID -ge 2 || exit 3" }
`;
    await runCli(["run", cli.write("there.yaml", text), "--detach", ...at]);
    const watching = new RunningCli([
      ...["watch", "last", "--recover", "--agent", agent({ action: "skip" }), ...at],
    ]);
    await watching.until(/round 1 of 3: 1 job and 1 dependent run again|round 1 of 3: 1 job runs again/);
    first.kill("SIGKILL");
    await first.ended;
    await serve(port, home);
    writeFileSync(go, "");
    expect([await watching.ended, watching.text]).toEqual([0, expect.stringContaining("agent: may")]);
    expect((await decisions(...at)).map(({ type, by }) => [type, by])).toEqual([
      ["jobs.retried", "local"],
      ["hold.resolved", "agent (local)"],
    ]);
  });
});
