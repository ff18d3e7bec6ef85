import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

interface Listed {
  readonly run_id: number;
  readonly status: string;
  readonly interrupted: boolean;
}

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
      expect(run.text).toContain(`stopping; run ${id} is interrupted; to continue it: daruma resume ${id}`);
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

  it("is interrupted in list and show once its process was killed, and only then; resume goes on with it", async () => {
    const go = join(cli.path, "go-killed");
    const run = cli.start("run", cli.write("waiting.yaml", waiting(go)));
    const [, id] = await run.until(/run (\d+) of waiting started[\s\S]*wait started/);
    const resume = `daruma resume ${id} --output-dir ${cli.outputDir}`;
    const states = async (): Promise<unknown> => ({
      list: (await cli.json<Listed[]>("list")).value.find(({ run_id }) => run_id === Number(id)),
      show: (await cli.json<Listed>("show", id!)).value,
      asked: (await cli.json<Listed[]>("list", "--interrupted")).value.map(({ run_id }) => run_id),
    });
    const alive = { status: "running", interrupted: false };
    expect(await states()).toMatchObject({ list: alive, show: alive, asked: [] });
    expect((await cli.daruma("list")).stdout).not.toMatch(/interrupted|resume/);
    expect((await cli.daruma("show", id!)).stdout).not.toMatch(/interrupted|resume/);
    run.kill("SIGKILL");
    await run.ended;
    const gone = { status: "running", interrupted: true };
    expect(await states()).toMatchObject({ list: gone, show: gone, asked: [Number(id)] });
    const list = (await cli.daruma("list")).stdout;
    expect(list).toMatch(new RegExp(`^${id} +interrupted +waiting `, "m"));
    expect(list.trimEnd().split("\n").at(-1)).toBe(`run ${id} was interrupted; to continue it: ${resume}`);
    const show = (await cli.daruma("show", id!)).stdout;
    expect(show).toMatch(
      new RegExp(`^! run ${id} of waiting interrupted: 1 completed, 1 running, 1 blocked$`, "m"),
    );
    expect(show.trimEnd().split("\n").at(-1)).toBe(`next: ${resume}`);
    writeFileSync(go, "");
    expect((await cli.daruma("resume", id!)).exitCode).toBe(0);
    const over = { status: "completed", interrupted: false };
    expect(await states()).toMatchObject({ list: over, show: over, asked: [] });
  });

  it("says in its last JSON that it is interrupted", async () => {
    const file = cli.write("waiting.yaml", waiting(join(cli.path, "go-json")));
    const run = cli.start("run", file, "--json");
    await run.until(/wait started/);
    run.kill("SIGINT");
    expect(await run.ended).toBe(130);
    expect(run.text).toMatch(/"status":"running","interrupted":true/);
  });

  it("130: the second Ctrl-C does not wait for a step that will not end", async () => {
    const pidFile = join(cli.path, "stubborn.pid");
    const stubborn = `trap "" TERM INT; echo $$ > ${pidFile}; echo ready; while :; do sleep 0.05; done`;
    const flow = `steps: { a: { type: command, kill_grace_ms: 600000, exec: '${stubborn}' } }`;
    const run = cli.start("run", cli.write("stubborn.yaml", flow));
    await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n"));
    run.kill("SIGINT");
    await run.until(/stopping; run \d+ is interrupted/);
    run.kill("SIGINT");
    // A shell tells 130 of a program that SIGINT has ended.
    expect(await run.ended).toBe("SIGINT");
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
