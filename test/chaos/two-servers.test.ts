import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseStoredDefinition } from "../../src/core/model/stored-definition.js";
import { DUTY_LEASE } from "../../src/store/lease-rules.js";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.js";
import type { Store } from "../../src/store/store.js";
import { runCli } from "../support/cli.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";
import { findViolations } from "../support/invariants.js";
import { aCampaignTouchesOnlyItsItems } from "../support/invariants-campaign.js";
import { PostgresServer } from "../support/postgres-server.js";

const LEASE_SECONDS = 3;
const RUNS = 16;

describe("two servers on one PostgreSQL", () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-two-"));
  let postgres: PostgresServer;
  let store: Store;
  const servers: { process: DarumaProcess; url: string }[] = [];

  /** They differ in one breaker. */
  const configOf = (name: string): string => {
    const file = join(folder, `${name}.config.yaml`);
    writeFileSync(file, `breakers: { api: { failures: ${name === "first" ? 3 : 5} } }\n`);
    return file;
  };

  beforeAll(async () => {
    postgres = await PostgresServer.create();
    for (const name of ["first", "second"]) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const args = ["--port", String(port), "--store", postgres.url(), "--output-dir", join(folder, "out")];
      const process = new DarumaProcess(name, [
        ...["serve", ...args, "--max-parallel", "4", "--lease", String(LEASE_SECONDS)],
        ...["--config", configOf(name)],
      ]);
      process.start();
      await untilReady(url, process);
      servers.push({ process, url });
    }
    store = await openPostgresStore({ url: postgres.url() });
  });

  afterAll(async () => {
    await store?.close();
    for (const { process } of servers) {
      process.signal("SIGCONT");
      await process.kill();
    }
    await postgres?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it("that differ in their settings are named by doctor", { tags: ["D4"] }, async () => {
    const urls = servers.map(({ url }) => url).sort();
    const { stdout, exitCode } = await runCli(["doctor", "--server", urls[0]!]);
    expect(stdout).toContain(`servers of this store have different settings: ${urls.join(", ")}`);
    expect(exitCode).toBe(0);
  });

  it("the second takes over a run whose server hangs; what the first then says of it is refused", async () => {
    const [first, second] = [servers[0]!, servers[1]!];
    const ran = join(folder, "ran");
    const go = join(folder, "go");
    const source = JSON.stringify({
      name: "takeover",
      steps: {
        slow: { exec: `echo $DARUMA_ATTEMPT_ID >> ${ran}; until test -e ${go}; do sleep 0.05; done` },
        after: { exec: `echo after >> ${ran}`, depends_on: ["slow"] },
      },
    });
    const runId = await start(first.url, source);
    await eventually("the step to run", () => linesOf(ran).length === 1);
    const owner = (await store.readLease(runId))!;
    expect(owner.owner.pid).toBe(first.process.pid);
    first.process.signal("SIGSTOP");
    const taken = await eventually("the second server to take it", async () => {
      const lease = await store.readLease(runId);
      return lease !== null && lease.fence > owner.fence && lease;
    });
    expect(taken.owner.pid).toBe(second.process.pid);
    await eventually("the step to run again", () => linesOf(ran).length === 2);
    // The first wakes up, finds its step ended and wants to say so while the second one's attempt runs.
    first.process.signal("SIGCONT");
    await untilReady(first.url, first.process);
    await expect(
      store.commit([
        {
          ...{ runId, fence: owner.fence, firstSeq: (await store.readEvents(runId)).length + 1 },
          ...{ events: [{ at: 1, type: "run.started", data: '{"type":"run.started"}' }], run: null },
          ...{ jobs: [], attempts: [], routes: [] },
        },
      ]),
    ).rejects.toMatchObject({ code: "LEASE_LOST" });
    writeFileSync(go, "");
    await eventually("the end of the run", async () => (await store.readRun(runId))?.finished_at);
    expect((await store.readRun(runId))?.status).toBe("completed");
    expect(linesOf(ran)).toEqual(["1", "2", "after"]);
    const log = (await store.readEvents(runId)).map(({ event }) => event);
    expect(log.filter(({ type }) => type === "attempt.succeeded")).toHaveLength(2);
    expect(log.flatMap((event) => (event.type === "run.resumed" ? event.lost.length : []))).toEqual([1]);
    for (const { url } of servers) {
      const answer = await fetch(`${url}/api/v1/runs/${runId}`);
      expect(await answer.json()).toMatchObject({ status: "completed" });
    }
  });

  it("an operator's command given to one server reaches the run at the other", async () => {
    const [first, second] = [servers[0]!, servers[1]!];
    const source = JSON.stringify({ name: "wait", steps: { wait: { exec: "sleep 600" } } });
    const runId = await start(first.url, source);
    await eventually("the step to run", async () =>
      (await store.readJobs(runId)).some(({ status }) => status === "running"),
    );
    const answer = await fetch(`${second.url}/api/v1/runs/${runId}/control`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ action: "cancel", reason: "from the other side" }),
    });
    expect(answer.status).toBe(200);
    await eventually("the end of the run", async () => (await store.readRun(runId))?.finished_at);
    expect((await store.readRun(runId))?.status).toBe("canceled");
  });

  it("a breaker that one server opens keeps back the jobs of the other, one probe at a time reaches the service, and both go on when it works", {
    tags: ["B8"],
  }, async () => {
    const service = await openService();
    const source = JSON.stringify({
      name: "pay",
      breakers: { bank: { failures: 2, probe_every: "500ms", release: "50/s" } },
      steps: {
        charge: { type: "http", url: service.url, uses: ["bank"], on_fail: { retry: { max: 2 } } },
      },
    });
    const first = await start(servers[0]!.url, source);
    const breaker = async (at: number) =>
      (
        await ask<{ items: { name: string; state: string; probe: object | null }[] }>(
          servers[at]!.url,
          "/breakers",
        )
      ).items.find(({ name }) => name === "pay/bank");
    await eventually("the first server to open it", async () => (await breaker(0))?.state === "open");
    const others = [await start(servers[1]!.url, source), await start(servers[1]!.url, source)];
    const waits = async (run: number) =>
      (
        await ask<{ jobs: { waits_for: { kind: string; breaker: string } | null }[] }>(
          servers[1]!.url,
          `/runs/${run}`,
        )
      ).jobs[0]!.waits_for;
    await eventually("the second server to keep its jobs back", async () => {
      const wait = await waits(others[1]!);
      return wait?.kind === "breaker" && wait.breaker === "pay/bank";
    });
    expect((await breaker(1))?.state).toBe("open");
    const before = service.asked;
    await eventually("three probes", () => service.asked >= before + 3);
    expect(service.most).toBe(1);
    service.isUp = true;
    for (const run of [first, ...others])
      await eventually("a run to complete", async () => (await store.readRun(run))?.status === "completed");
    expect((await breaker(1))?.state).toBe("closed");
    const logs = await Promise.all([first, ...others].map((run) => store.readEvents(run)));
    for (const log of logs) {
      const definition = parseStoredDefinition(
        (await store.readDefinition((log[0]!.event as { definition_hash: string }).definition_hash))!,
        "",
      );
      expect(findViolations(log, definition)).toEqual([]);
    }
    const events = logs.flat().map(({ event }) => event);
    // Only what opened it was charged to retries.
    expect(events.filter(({ type }) => type === "retry.scheduled")).toHaveLength(2);
    expect(events.some((event) => event.type === "jobs.unparked" && event.because === "probe")).toBe(true);
    await service.close();
  });

  it("a campaign goes on at the other server when the one that does its work is killed, and decides nothing twice", {
    tags: ["B7"],
  }, async () => {
    const fixed = join(folder, "fixed");
    const source = JSON.stringify({
      name: "letters",
      steps: { call: { exec: `test -e ${fixed} || exit 3` } },
    });
    const runs: number[] = [];
    for (let n = 0; n < RUNS; n += 1) runs.push(await start(servers[n % 2]!.url, source));
    for (const run of runs)
      await eventually("a run to fail", async () => (await store.readRun(run))?.status === "failed");
    writeFileSync(fixed, "");
    const asked = { workflow: "letters", rate: "600/min", reason: "fixed" };
    const { campaign } = await ask<{ campaign: number }>(servers[1]!.url, "/campaigns", asked);
    const record = async () => (await store.readCampaign(campaign))!;
    await eventually("the canary to be good", async () =>
      (await record()).items.some(({ state }) => state === "good"),
    );
    const holder = (await store.readLease(DUTY_LEASE.campaigns))!.owner.pid;
    const killed = servers.find(({ process }) => process.pid === holder)!;
    await killed.process.kill();
    await eventually("the end of the campaign", async () => (await record()).state === "done");
    const done = await record();
    expect(done.items.map(({ state }) => state)).toEqual(Array(RUNS).fill("good"));
    expect((await store.readLease(DUTY_LEASE.campaigns))!.owner.pid).not.toBe(holder);
    for (const run of runs) {
      const events = (await store.readEvents(run)).map(({ event }) => event);
      expect(aCampaignTouchesOnlyItsItems(done, events)).toEqual([]);
      expect(events.filter(({ type }) => type === "jobs.retried")).toHaveLength(1);
    }
  });
});

async function start(url: string, source: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ source }),
  });
  const body = (await response.json()) as { run_id: number };
  if (response.status !== 201) throw new Error(JSON.stringify(body));
  return body.run_id;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").trim().split("\n");
  } catch {
    return [];
  }
}

async function ask<T>(url: string, path: string, body?: object): Promise<T> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const headers = { "content-type": "application/json" };
  return (await (await fetch(`${url}/api/v1${path}`, { ...init, headers })).json()) as T;
}

interface Service {
  readonly url: string;
  isUp: boolean;
  asked: number;
  /** At the same time, since its first answers. */
  most: number;
  close(): Promise<void>;
}

/** Answers 503 while it is down, after a moment in which others could ask. */
async function openService(): Promise<Service> {
  let now = 0;
  const port = await freePort();
  const service = { url: `http://127.0.0.1:${port}/`, isUp: false, asked: 0, most: 0 };
  const http = createServer((_request, response) => {
    service.asked += 1;
    now += 1;
    service.most = Math.max(service.most, now);
    setTimeout(() => {
      now -= 1;
      response.writeHead(service.isUp ? 200 : 503).end("{}");
    }, 100);
  });
  await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
  return Object.assign(service, {
    close: () => new Promise<void>((resolve) => http.close(() => resolve())),
  });
}
