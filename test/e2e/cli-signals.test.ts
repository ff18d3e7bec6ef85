import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(10);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Runs until the file `go` is there. */
const waiting = (go: string): string => `
name: waiting
steps:
  first: { type: command, exec: "echo 1 >> ${go}.first" }
  wait: { type: command, exec: "while [ ! -e ${go} ]; do sleep 0.05; done; echo through", depends_on: [first] }
  last: { type: command, exec: "true", depends_on: [wait] }
`;

describe("a run that goes on", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "130: %s stops it cleanly; resume completes it without running a step twice",
    async (signal) => {
      const go = join(cli.path, `go-${signal}`);
      const run = cli.start("run", cli.write("waiting.yaml", waiting(go)));
      const [, id] = await run.until(/run (\d+) of waiting started[\s\S]*wait started/);
      run.kill(signal);
      expect(await run.ended).toBe(130);
      expect(run.text).toContain(`stopping; the run stays resumable: daruma resume ${id}`);
      writeFileSync(go, "");
      const resumed = await cli.daruma("resume", id!, "--json");
      expect(resumed.exitCode).toBe(0);
      expect(JSON.parse(resumed.stdout)).toMatchObject({
        status: "completed",
        jobs: [{}, { step: "wait", attempts: 2 }, {}],
        routes: [],
      });
      expect(readFileSync(`${go}.first`, "utf8")).toBe("1\n");
      const again = await cli.daruma("resume", id!);
      expect(again.exitCode).toBe(0);
      expect(again.stdout).toContain(`run ${id} of waiting completed`);
    },
  );

  it("130: the second Ctrl-C does not wait for a step that will not end", async () => {
    const pidFile = join(cli.path, "stubborn.pid");
    const stubborn = `trap "" TERM INT; echo $$ > ${pidFile}; echo ready; while :; do sleep 0.05; done`;
    const flow = `steps: { a: { type: command, kill_grace_ms: 600000, exec: '${stubborn}' } }`;
    const run = cli.start("run", cli.write("stubborn.yaml", flow));
    await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n"));
    run.kill("SIGINT");
    await run.until(/stopping; the run stays resumable/);
    run.kill("SIGINT");
    expect(await run.ended).toBe(130);
    await until(() => !isAlive(Number(readFileSync(pidFile, "utf8"))));
  });

  it("4: cancel from a second process ends it; 5: nobody else may resume it meanwhile", async () => {
    const run = cli.start("run", cli.write("waiting.yaml", waiting(join(cli.path, "never"))), "--json");
    const [, id] = await run.until(/run (\d+) of waiting started[\s\S]*wait started/);
    const stolen = await cli.daruma("resume", id!);
    expect(stolen.exitCode).toBe(5);
    expect(stolen.stderr).toMatch(/^error RUN_OWNED: /);
    const canceled = await cli.daruma("cancel", id!, "--reason", "wrong branch");
    expect(canceled).toMatchObject({ exitCode: 0, stdout: `run ${id} is canceled\n` });
    expect(await run.ended).toBe(4);
    expect(run.text).toContain('"status":"canceled"');
    expect(run.text).toContain("wrong branch");
    const twice = await cli.daruma("cancel", id!);
    expect(twice.exitCode).toBe(2);
    expect(twice.stderr).toMatch(/^error RUN_OVER: /);
  });

  it("events --follow ends with the run", async () => {
    const go = join(cli.path, "go-follow");
    const run = cli.start("run", cli.write("waiting.yaml", waiting(go)));
    const [, id] = await run.until(/run (\d+) of waiting started[\s\S]*wait started/);
    const follower = cli.start("events", id!, "--follow", "--json");
    await follower.until(/attempt\.started/);
    writeFileSync(go, "");
    expect(await follower.ended).toBe(0);
    expect(follower.text.trim().split("\n").at(-1)).toContain('"type":"run.completed"');
    expect(await run.ended).toBe(0);
  });
});
