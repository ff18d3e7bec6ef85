import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CliFolder, type RunningCli } from "../support/cli-folder.js";
import { sharedPostgresUrl } from "../support/embedded-postgres.js";
import { LiveServers } from "../support/live-server.js";

const cli = new CliFolder();
const servers = new LiveServers();

/** Says when it begins and ends, and goes on until its file is there. */
const deploy = (group: string, more = ""): string => `
name: deploy
inputs: { target: string, go: string }
concurrency: { group: "${group}-{{ inputs.target }}"${more} }
steps:
  ship: { type: command, exec: "echo begin >> {{ inputs.go }}.log; while [ ! -e {{ inputs.go }} ]; do sleep 0.05; done; echo end >> {{ inputs.go }}.log" }
`;

interface Shown {
  readonly status: string;
  readonly interrupted: boolean;
  readonly waits_for: {
    readonly position: number | null;
    readonly runs: number[];
    readonly text: string;
  } | null;
}

const show = async (run: number | string): Promise<Shown> =>
  (await cli.json<Shown>("show", String(run))).value;
const idIn = async (run: RunningCli, pattern: RegExp): Promise<string> => (await run.until(pattern))[1]!;

describe("daruma run with concurrency", () => {
  it("waits for the process that has the place, says for whom, and starts when that is over", {
    tags: ["G1"],
  }, async () => {
    const file = cli.write("deploy.yaml", deploy("wait"));
    const go = join(cli.path, "go-wait");
    const inputs = ["--input", "target=prod", "--input", `go=${go}`];
    const first = cli.start("run", file, ...inputs);
    const one = await idIn(first, /run (\d+) of deploy started[\s\S]*ship started/);
    const second = cli.start("run", file, ...inputs);
    const two = await idIn(
      second,
      /run (\d+) has not started: it waits for run \d+, which has the place in the group wait-prod/,
    );
    expect(second.text).not.toContain("ship started");
    expect(await show(two)).toMatchObject({
      status: "pending",
      interrupted: false,
      waits_for: { position: 1, runs: [Number(one)] },
    });
    const listed = await cli.daruma("list");
    expect(listed.stdout).toMatch(new RegExp(`${two} +pending.*it waits for run ${one}`));
    const shown = await cli.daruma("show", two);
    expect(shown.stdout).toContain("group: wait-prod (one run at a time)");
    expect(shown.stdout).toContain("(position 1)");
    const explained = await cli.daruma("explain", two);
    expect(explained.stdout).toContain(
      `It has not started: it waits for run ${one}, which has the place in the group wait-prod (position 1).\n`,
    );
    const other = cli.start("run", file, "--input", "target=test", "--input", `go=${go}-other`);
    await other.until(/ship started/);
    other.kill("SIGKILL");
    writeFileSync(go, "");
    expect([await first.ended, await second.ended]).toEqual([0, 0]);
    expect(readFileSync(`${go}.log`, "utf8")).toBe("begin\nend\nbegin\nend\n");
  });

  it("leaves the queue with Ctrl-C or kill -9, keeps nobody waiting, and comes back with resume", {
    tags: ["G1"],
  }, async () => {
    const file = cli.write("leave.yaml", deploy("leave"));
    const go = join(cli.path, "go-leave");
    const inputs = ["--input", "target=prod", "--input", `go=${go}`];
    const first = cli.start("run", file, ...inputs);
    await first.until(/ship started/);
    const stopped = cli.start("run", file, ...inputs);
    const two = await idIn(stopped, /run (\d+) has not started: it waits/);
    const killed = cli.start("run", file, ...inputs);
    const three = await idIn(killed, /run (\d+) has not started: it waits/);
    stopped.kill("SIGINT");
    expect(await stopped.ended).toBe(130);
    expect(stopped.text).toContain(
      `stopping; run ${two} leaves the queue; to put it back: daruma resume ${two}`,
    );
    killed.kill("SIGKILL");
    await killed.ended;
    const last = cli.start("run", file, ...inputs);
    await last.until(/has not started: it waits/);
    writeFileSync(go, "");
    expect([await first.ended, await last.ended]).toEqual([0, 0]);
    expect([(await show(two)).status, (await show(three)).status]).toEqual(["pending", "pending"]);
    expect((await show(two)).waits_for?.position).toBeNull();
    const resumed = await cli.daruma("resume", two);
    expect([resumed.exitCode, (await show(two)).status]).toEqual([0, "completed"]);
    expect((await cli.daruma("cancel", three, "--reason", "tidy")).exitCode).toBe(0);
    expect((await show(three)).status).toBe("canceled");
  });

  it("is refused with policy reject: exit 2, GROUP_BUSY, and no run is left", { tags: ["G1"] }, async () => {
    const file = cli.write("reject.yaml", deploy("reject", ", policy: reject"));
    const go = join(cli.path, "go-reject");
    const inputs = ["--input", "target=prod", "--input", `go=${go}`];
    const first = cli.start("run", file, ...inputs);
    const one = await idIn(first, /run (\d+) of deploy started[\s\S]*ship started/);
    const before = (await cli.json<unknown[]>("list")).value.length;
    const refused = await cli.daruma("run", file, ...inputs);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringMatching(new RegExp(`GROUP_BUSY.*the group reject-prod: run ${one} has it`)),
    ]);
    expect((await cli.json<unknown[]>("list")).value).toHaveLength(before);
    const empty = await cli.daruma(
      "run",
      cli.write("empty.yaml", deploy("").replace('"-{{', '"{{')),
      "--input",
      "target=",
      "--input",
      "go=x",
    );
    expect([empty.exitCode, empty.stderr]).toEqual([2, expect.stringContaining("INVALID_INPUT")]);
    writeFileSync(go, "");
    expect(await first.ended).toBe(0);
  });

  it("replaces with policy cancel_running what runs and what waits", { tags: ["G1"] }, async () => {
    const file = cli.write("replace.yaml", deploy("replace", ", policy: cancel_running"));
    const go = join(cli.path, "go-replace");
    const inputs = ["--input", "target=prod", "--input", `go=${go}`];
    const first = cli.start("run", file, ...inputs);
    await first.until(/ship started/);
    const second = cli.start("run", file, ...inputs, "--priority", "3");
    const two = await idIn(second, /run (\d+) of deploy started[\s\S]*ship started/);
    expect(await first.ended).toBe(4);
    expect(first.text).toContain(`run ${two} of the group replace-prod replaces it`);
    expect((await cli.daruma("show", two)).stdout).toContain("priority: 3");
    writeFileSync(go, "");
    expect(await second.ended).toBe(0);
  });
});

describe("two servers on PostgreSQL", () => {
  it("never run two runs of a group at once, and start them in order", { tags: ["G1"] }, async () => {
    const store = `${await sharedPostgresUrl()}?schema=groups_e2e`;
    const pair = [await servers.start({ store }), await servers.start({ store })];
    const source = `
name: deploy
concurrency: { group: servers }
steps: { ship: { type: command, exec: "echo begin >> ${cli.path}/servers.log; sleep 0.2; echo end >> ${cli.path}/servers.log" } }
`;
    const ids: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      ids.push(await pair[n % 2]!.run(source));
    }
    const waiting = await pair[0]!.ask<Shown>("GET", `/api/v1/runs/${ids[5]}`);
    expect(waiting.body).toMatchObject({ status: "pending", waits_for: { kind: "place" } });
    const statuses = async () =>
      Promise.all(ids.map(async (id) => (await pair[0]!.running.store.readRun(id))!.status));
    while ((await statuses()).some((status) => status !== "completed")) await delay(100);
    expect(readFileSync(join(cli.path, "servers.log"), "utf8")).toBe("begin\nend\n".repeat(6));
    const rows = await Promise.all(ids.map((id) => pair[0]!.running.store.readRun(id)));
    const starts = rows.map((row) => row!.started_at!);
    expect([...starts].sort((a, b) => a - b)).toEqual(starts);
  });
});
