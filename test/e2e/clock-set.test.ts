import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";

const HOUR_MS = 3_600_000;
/** The clock on the wall of a process is off by what a file says. */
const PRELOAD = `
import { readFileSync } from "node:fs";
const real = Date.now;
Date.now = () => {
  try {
    return real() + Number(readFileSync(process.env.WALL_CLOCK_OFF_BY, "utf8"));
  } catch {
    return real();
  }
};
`;

describe("the clock on the wall is set", () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-clock-"));
  const preload = join(folder, "preload.mjs");
  writeFileSync(preload, PRELOAD);
  const processes: DarumaProcess[] = [];
  afterEach(async () => {
    for (const process of processes.splice(0).reverse()) await process.kill();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const settable = (clock: string) => ({
    NODE_OPTIONS: `--import=${pathToFileURL(preload)}`,
    WALL_CLOCK_OFF_BY: clock,
  });
  /** Fails once; the second attempt follows 4 s later. */
  const retried = (name: string) => {
    const tried = join(folder, name);
    const retry = { max: 1, backoff: { mode: "fixed", delay_ms: 4_000 } };
    const exec = `test -e ${tried} || { touch ${tried}; exit 3; }`;
    return JSON.stringify({ name, steps: { a: { exec, on_fail: { retry } } } });
  };

  async function serve(env: { [name: string]: string }, ...args: string[]): Promise<string> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const output = ["--output-dir", join(folder, `server-${port}`)];
    const server = new DarumaProcess("server", ["serve", "--port", String(port), ...output, ...args], env);
    processes.push(server);
    server.start();
    await untilReady(url, server);
    return url;
  }

  async function start(url: string, source: string): Promise<number> {
    const response = await fetch(`${url}/api/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ source }),
    });
    return ((await response.json()) as { run_id: number }).run_id;
  }

  const untilOver = (url: string, runId: number) =>
    eventually(`the end of run ${runId}`, async () => {
      const answer = await fetch(`${url}/api/v1/runs/${runId}`);
      const run = (await answer.json()) as {
        status: string;
        duration_ms: number;
        jobs: { attempts: number }[];
      };
      return run.status === "running" ? null : run;
    });

  it("back 3 h within a backoff of 4 s: daruma run goes on", async () => {
    const clock = join(folder, "clock-run");
    const file = join(folder, "flow.json");
    writeFileSync(file, retried("by-hand"));
    const run = new DarumaProcess("run", ["run", file, "--output-dir", join(folder, "out")], settable(clock));
    processes.push(run);
    run.start();
    await eventually("the backoff", () => run.output.includes("retry 1 of 1 in 4.0 s"));
    writeFileSync(clock, String(-3 * HOUR_MS));
    await eventually("the end of the run", () => !run.isRunning);
    expect(await run.ended()).toBe(0);
    expect(run.output).toContain("a completed on attempt 2");
    expect(run.output).not.toContain("-1079");
  });

  it("back 3 h within a backoff of 4 s: a server goes on", async () => {
    const clock = join(folder, "clock-server");
    const url = await serve(settable(clock));
    const runId = await start(url, retried("by-server"));
    await eventually("the backoff", async () => {
      const answer = await fetch(`${url}/api/v1/runs/${runId}`);
      const { jobs } = (await answer.json()) as { jobs: { status: string }[] };
      return jobs[0]?.status === "waiting";
    });
    writeFileSync(clock, String(-3 * HOUR_MS));
    const over = await untilOver(url, runId);
    expect(over).toMatchObject({ status: "completed", jobs: [{ attempts: 2 }] });
    expect(over.duration_ms).toBeGreaterThanOrEqual(0);
  });

  it("forward 5 h on a worker: what it executes goes on, and nothing is run again", async () => {
    const clock = join(folder, "clock-worker");
    const url = await serve({}, "--max-parallel", "0");
    const worker = new DarumaProcess(
      "worker",
      ["worker", "--server", url, "--name", "fast", "--output-dir", join(folder, "fast")],
      settable(clock),
    );
    processes.push(worker);
    worker.start();
    const exec = `echo ${5 * HOUR_MS} > ${clock}; sleep 2; echo done`;
    const runId = await start(url, JSON.stringify({ name: "far", steps: { a: { exec } } }));
    expect(await untilOver(url, runId)).toMatchObject({ status: "completed", jobs: [{ attempts: 1 }] });
    expect(worker.output).not.toContain("gives up");
  });
});
