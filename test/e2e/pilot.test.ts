import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { commandLine, runCli } from "../support/cli.js";
import { DarumaProcess, eventually } from "../support/daruma-process.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";
import { childrenOf } from "../support/process-trial.js";
import { processesWith } from "../support/processes-with.js";

const servers = new LiveServers();
const folder = mkdtempSync(join(tmpdir(), "daruma-pilot-"));
let pilots: DarumaProcess[] = [];

afterEach(async () => {
  for (const pilot of pilots) await pilot.kill();
  pilots = [];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SLURM = {
  SLURM_JOB_ID: "77",
  SLURM_RESTART_COUNT: "1",
  SLURMD_NODENAME: "node3",
  SLURM_CPUS_ON_NODE: "3",
  SLURM_MEM_PER_NODE: "200",
  DARUMA_TOKEN: "",
};

function fly(server: LiveServer, flags: readonly string[] = [], env: object = SLURM): DarumaProcess {
  const args = ["worker", "--server", server.url, "--name", "pilot", "--output-dir", join(folder, "out")];
  const pilot = new DarumaProcess("pilot", [...args, ...flags], env as { [name: string]: string });
  pilot.start();
  pilots.push(pilot);
  return pilot;
}

/** A control group of version 1 or 2 that this process may make; null: it may not. */
function makeControlGroup(
  limitBytes: number,
): { readonly add: (pid: number) => void; readonly remove: () => void } | null {
  for (const [base, limit] of [
    ["/sys/fs/cgroup/memory", "memory.limit_in_bytes"],
    ["/sys/fs/cgroup", "memory.max"],
  ] as const) {
    const group = `${base}/daruma-test-${process.pid}`;
    try {
      mkdirSync(group);
      writeFileSync(`${group}/${limit}`, String(limitBytes));
      return {
        add: (pid) => writeFileSync(`${group}/cgroup.procs`, String(pid)),
        remove: () => rmdirSync(group),
      };
    } catch {
      if (existsSync(group)) rmdirSync(group);
    }
  }
  return null;
}

const LIMIT_BYTES = 400 * 1024 ** 2;
const group = makeControlGroup(LIMIT_BYTES);
afterAll(() => group?.remove());

describe("a pilot in an allocation", () => {
  it("registers with a token from a file, and its node, allocation and restart stand in each attempt", async () => {
    const server = await servers.start({ maxParallel: 0 });
    const runId = await server.run("steps: { a: { exec: exit 3 } }\nunhandled: fail");
    const tokens = await server.tokens();
    const file = join(folder, "token");
    writeFileSync(file, `${tokens.worker}\n`, { mode: 0o600 });
    const pilot = fly(server, ["--token-file", file]);
    await server.until(runId, "failed");
    const [attempt] = await server.running.store.readAttempts(runId);
    const place = { node: "node3", allocation: "slurm/77", restart: 1 };
    expect(attempt).toMatchObject({ status: "failed", ...place });
    const events = await server.running.store.readEvents(runId);
    expect(events.find(({ event }) => event.type === "attempt.started")?.event).toMatchObject(place);
    const environment = { DARUMA_TOKEN: tokens.viewer, DARUMA_SERVER: server.url };
    const shown = await runCli(["job", "show", String(runId), "a"], environment);
    expect(shown.stdout).toMatch(/node3 +slurm\/77, restart 1/);
    const explained = await runCli(["explain", String(runId), "a"], environment);
    expect(explained.stdout).toMatch(/Attempt 1 failed after .* on node3 in slurm\/77, restart 1: /);
    const listed = await runCli(["workers", "--json"], environment);
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { slots: 3, cpus: 3, memory_bytes: 200 * 1024 ** 2, ...place },
    ]);
    expect(readFileSync(`/proc/${pilot.pid}/environ`, "utf8")).not.toContain(tokens.worker);
    expect(readFileSync(`/proc/${pilot.pid}/cmdline`, "utf8")).not.toContain(tokens.worker);
    expect(await pilot.stop()).toBe(0);
  });

  it.each([
    ["its steps before itself", false],
    ["itself before its steps", true],
  ])(
    "loses no attempt to its step's account when a signal ends everything at once, %s",
    async (_, itselfFirst) => {
      const server = await servers.start({ maxParallel: 0 });
      const mark = join(folder, `begun-${itselfFirst}`);
      const first = fly(server, ["--slots", "4"]);
      // A plain program; a shell that tells of the signal by its exit code; a program that saves its work and says 0; a
      // shell that goes on without the program that it waited for.
      const runId = await server.run(`
unhandled: hold
steps:
  plain: { exec: [sleep, "600"], env: { MARK: "${mark}" } }
  shell: { exec: "trap 'exit 143' TERM; touch ${mark}; sleep 600 & wait", env: { MARK: "${mark}" } }
  saves: { exec: "trap 'exit 0' TERM; touch ${mark}2; sleep 600 & wait", env: { MARK: "${mark}" } }
  goes_on: { shell: [sh, -c], exec: "trap : TERM; touch ${mark}3; sleep 600; echo done", env: { MARK: "${mark}" } }`);
      await eventually("all steps", async () => {
        const isOn = ["", "2", "3"].every((name) => existsSync(`${mark}${name}`));
        const rows = await server.running.store.readAttempts(runId);
        return isOn && rows.length === 4 && processesWith(`MARK=${mark}`).length >= 7;
      });
      const steps = processesWith(`MARK=${mark}`);
      const itself = [first.pid, ...childrenOf(first.pid)];
      const everything = itselfFirst ? [...itself, ...steps] : [...steps, ...itself.reverse()];
      for (const pid of everything) process.kill(pid, "SIGTERM");
      expect(await first.ended()).toBe(0);
      const failed = await eventually("all attempts ended", async () => {
        const rows = await server.running.store.readAttempts(runId);
        return rows.filter(({ status }) => status !== "running").length === 4 && rows;
      });
      expect(failed.map(({ error }) => error?.class)).toEqual(Array(4).fill("infrastructure"));
      for (const { error } of failed) expect(error?.code).toMatch(/^(EVICTED|WORKER_LOST)$/);
      const jobs = await server.running.store.readJobs(runId);
      expect(jobs.map(({ status }) => status)).toEqual(Array(4).fill("ready"));
    },
  );

  it("completes what it runs when it alone is told to leave", async () => {
    const server = await servers.start({ maxParallel: 0 });
    const mark = join(folder, "alone");
    const runId = await server.run(
      `steps: { a: { exec: "touch ${mark}; until test -e ${mark}.gate; do sleep 0.05; done" } }`,
    );
    const pilot = fly(server);
    await eventually("the step", () => existsSync(mark));
    process.kill(pilot.pid, "SIGTERM");
    await eventually("it drains", () => pilot.output.includes("finishing the running attempts"));
    writeFileSync(`${mark}.gate`, "");
    await server.until(runId, "completed");
    expect(await server.running.store.readAttempts(runId)).toMatchObject([{ status: "succeeded" }]);
    expect(await pilot.ended()).toBe(0);
  });

  it("is not given a step whose secret or program it lacks, which waits for one that has it", async () => {
    const server = await servers.start({ maxParallel: 0 });
    const poor = fly(server, [], { DARUMA_TOKEN: "" });
    const runId = await server.run(`
secrets: [PILOT_KEY]
steps: { a: { exec: [sh, -c, 'test -n "$PILOT_KEY"'] } }`);
    await eventually("a reason", async () => {
      const { stdout } = await runCli(["explain", String(runId)], { DARUMA_SERVER: server.url });
      return stdout.includes("no connected worker has the secret PILOT_KEY");
    });
    expect(await server.running.store.readAttempts(runId)).toEqual([]);
    const rich = fly(server, ["--name", "rich"], { DARUMA_TOKEN: "", PILOT_KEY: "a-secret-of-some-length" });
    await server.until(runId, "completed");
    const [attempt] = await server.running.store.readAttempts(runId);
    expect(attempt?.worker).toMatch(/^rich\//);
    expect([await poor.stop(), await rich.stop()]).toEqual([0, 0]);
  });

  it("leaves when the script of its allocation is killed alone, and ends what it runs", async () => {
    const server = await servers.start({ maxParallel: 0 });
    const mark = join(folder, "orphan");
    const runId = await server.run(`steps: { a: { exec: [sleep, "600"], env: { MARK: "${mark}" } } }`);
    const flags = `worker --server ${server.url} --name orphan --allocation hpc/5 --output-dir ${mark}`;
    const script = spawn("bash", ["-c", `${process.execPath} ${commandLine} ${flags} & wait`]);
    await eventually("the step", async () => processesWith(`MARK=${mark}`).length > 0);
    script.kill("SIGKILL");
    await eventually("nothing is left", async () => processesWith(mark).length === 0);
    const [attempt] = await eventually("its end", async () => {
      const rows = await server.running.store.readAttempts(runId);
      return rows[0]?.status === "failed" && rows;
    });
    expect(attempt!.error).toMatchObject({ code: "WORKER_LOST", message: "its worker has left" });
  });

  it("leaves by itself when it has been idle, after its work is done", async () => {
    const server = await servers.start({ maxParallel: 0 });
    const runId = await server.run('steps: { a: { exec: "true" }, b: { exec: "true", depends_on: a } }');
    const pilot = fly(server, ["--idle-exit", "1500ms"]);
    await server.until(runId, "completed");
    expect(await pilot.ended()).toBe(0);
    expect(pilot.output).toContain("leaves: it was idle for 1.5 s");
    const { body } = await server.ask("GET", "/api/v1/workers");
    expect(body.items).toEqual([]);
  });

  it("is not given what does not fit into its lifetime, and leaves in time", async () => {
    const server = await servers.start({ maxParallel: 0 });
    const long = await server.run("steps: { a: { exec: 'true', resource_requirements: { runtime: 2h } } }");
    const pilot = fly(server, ["--lifetime", "1h1m", "--drain-before", "1m"]);
    const short = await server.run("steps: { a: { exec: 'true', resource_requirements: { runtime: 30m } } }");
    await server.until(short, "completed");
    expect(await server.running.store.readAttempts(long)).toEqual([]);
    const explained = await runCli(["explain", String(long)], { DARUMA_SERVER: server.url });
    expect(explained.stdout).toContain("leave before its runtime (2 h) is over");
    expect(await pilot.stop()).toBe(0);
    const brief = fly(server, ["--lifetime", "2s", "--drain-before", "1s"]);
    expect(await brief.ended()).toBe(0);
    expect(brief.output).toContain("leaves: its time is over");
  });

  it.each([
    [["--lifetime", "soon"], "invalid --lifetime soon"],
    [["--allocation", "77"], "invalid --allocation 77"],
    [["--node", "a b"], "invalid --node a b"],
    [["--token-file", "/nonexistent"], "--token-file /nonexistent cannot be read"],
  ])("is refused at once: %j", async (flags, words) => {
    const server = await servers.start({ maxParallel: 0 });
    const pilot = fly(server, flags);
    expect(await pilot.ended()).toBe(2);
    expect(pilot.output).toContain(words);
  });
});

describe.skipIf(group === null)("a pilot in a control group with little memory", () => {
  it("offers no more than that, and a step that the kernel ends there is out of memory", async () => {
    const server = await servers.start({ maxParallel: 0 });
    const pilot = fly(server, [], { DARUMA_TOKEN: "" });
    group!.add(pilot.pid);
    await eventually("the pilot", () => pilot.output.includes("connected"));
    const runId = await server.run(`
unhandled: fail
steps:
  hungry: { exec: [perl, -e, '$x = "x" x (600 * 1024 * 1024); sleep 600'] }`);
    await server.until(runId, "failed");
    const rows = await server.running.store.readAttempts(runId);
    const byStep = new Map((await server.running.store.readJobs(runId)).map(({ id, step }) => [id, step]));
    const errors = Object.fromEntries(rows.map(({ job_id, error }) => [byStep.get(job_id), error]));
    expect(errors.hungry).toMatchObject({ code: "OOM", class: "resource", exit_code: 137 });
    await pilot.kill();
  });
});
