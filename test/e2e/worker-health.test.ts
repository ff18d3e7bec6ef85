import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-worker-health-"));
const processes: DarumaProcess[] = [];

afterAll(async () => {
  for (const each of processes) await each.kill();
  rmSync(folder, { recursive: true, force: true });
});

interface Worker {
  readonly name: string;
  readonly health: {
    readonly name: string;
    readonly state: string;
    readonly jobs: readonly { readonly completed_on: string }[];
  };
}

interface Started {
  readonly type: string;
  readonly job: number;
  readonly worker: string;
}

const fan = (steps: number, exec: string): string =>
  `name: fan\nsteps:\n${Array.from(
    { length: steps },
    (_, at) => `  s${at}: { exec: "${exec}", on_fail: { retry: { max: 3 } } }`,
  ).join("\n")}\n`;

class Farm {
  constructor(
    readonly url: string,
    private readonly server: DarumaProcess,
  ) {}

  static async open(): Promise<Farm> {
    const port = await freePort();
    const limits = ["--max-parallel", "0", "--rate-limit", "0", "--runs-per-minute", "0"];
    const where = ["--port", String(port), "--output-dir", join(folder, "out")];
    const server = new DarumaProcess("server", ["serve", ...where, ...limits]);
    const farm = new Farm(`http://127.0.0.1:${port}`, server);
    processes.push(server);
    await farm.start();
    return farm;
  }

  async start(): Promise<void> {
    this.server.start();
    await untilReady(this.url, this.server);
  }

  async kill(): Promise<void> {
    await this.server.kill();
  }

  addWorker(name: string, slots: number, env: { readonly [name: string]: string } = {}): void {
    const output = ["--output-dir", join(folder, name)];
    const args = ["worker", "--server", this.url, "--name", name, "--slots", String(slots), ...output];
    const worker = new DarumaProcess(name, args, env);
    worker.start();
    processes.push(worker);
  }

  async workers(): Promise<Worker[]> {
    const { stdout } = await runCli(["workers", "--json", "--server", this.url]);
    return JSON.parse(stdout) as Worker[];
  }

  untilConnected(count: number): Promise<true> {
    return eventually(`${count} workers`, async () => {
      const answer = await fetch(`${this.url}/api/v1/workers`);
      return ((await answer.json()) as { items: unknown[] }).items.length === count;
    });
  }

  /** The status in which it ended, and where its attempts ran; by job how many of them on the broken one. */
  async run(source: string): Promise<{ status: string; on: string[]; onBad: Map<number, number> }> {
    const body = JSON.stringify({ source, file_name: "fan.yaml" });
    const headers = { "content-type": "application/json" };
    const started = await fetch(`${this.url}/api/v1/runs`, { method: "POST", body, headers });
    const { run_id } = (await started.json()) as { run_id: number };
    const at = `${this.url}/api/v1/runs/${run_id}`;
    const status = await eventually(`run ${run_id}`, async () => {
      const { status } = (await (await fetch(at)).json()) as { status: string };
      return status !== "running" && status !== "pending" && status;
    });
    const { items } = (await (await fetch(`${at}/events?limit=1000`)).json()) as { items: Started[] };
    const starts = items.filter(({ type }) => type === "attempt.started");
    const onBad = new Map<number, number>();
    for (const { job, worker } of starts)
      if (worker.startsWith("bad/")) onBad.set(job, (onBad.get(job) ?? 0) + 1);
    return { status, on: starts.map(({ worker }) => worker.split("/")[0]!), onBad };
  }
}

it("a broken worker among four is quarantined, nothing fails because of it, and a killed server remembers it", {
  tags: ["H1", "H2", "H6"],
  timeout: 400_000,
}, async () => {
  const farm = await Farm.open();
  farm.addWorker("bad", 2, { BROKEN: "1" });
  for (const name of ["one", "two", "three"]) farm.addWorker(name, 1);
  await farm.untilConnected(4);

  expect(await farm.run(fan(4, "exit 3"))).toMatchObject({ status: "failed" });
  expect((await farm.workers()).map(({ health }) => health.state)).toEqual(Array(4).fill("healthy"));

  const work = fan(24, "test -z $BROKEN");
  const found = await eventually("a quarantine", async () => {
    const { status, onBad } = await farm.run(work);
    expect(status).toBe("completed");
    // No retry went back to it while the others were busy.
    expect(Math.max(0, ...onBad.values())).toBeLessThanOrEqual(1);
    return (await farm.workers()).find(({ health }) => health.state === "quarantined");
  });
  expect(found.health.name).toBe("bad");
  expect(found.health.jobs).toHaveLength(3);
  for (const { completed_on } of found.health.jobs) expect(completed_on).toMatch(/^(one|two|three)\//);

  await farm.kill();
  await farm.start();
  await farm.untilConnected(4);
  const second = await farm.run(work);
  expect(second).toMatchObject({ status: "completed", on: expect.not.arrayContaining(["bad"]) });
  expect(second.on).toHaveLength(24);

  const table = await runCli(["workers", "--server", farm.url]);
  expect(table.stdout).toMatch(/quarantined until \d{4}-\d\d-\d\d/);
  expect(table.stdout).toMatch(/bad is in quarantine because jobs failed on it that others completed:/);
  const release = ["workers", "release", "bad", "--reason", "mended", "--server", farm.url];
  expect((await runCli(release)).stdout).toBe("bad gets attempts again\n");
  const third = await farm.run(work);
  expect(third).toMatchObject({ status: "completed", on: expect.arrayContaining(["bad"]) });
});
