import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.js";
import type { Store } from "../../src/store/store.js";
import { Random } from "../sim/random.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";
import { PostgresServer } from "../support/postgres-server.js";
import { chooseSeed } from "../support/seed.js";

/** `SEED=n` plays the same blows again, as far as real processes allow. */
const SEED = chooseSeed();
const RUNS = Number(process.env.CHAOS_RUNS ?? 12);
const BLOWS = Number(process.env.KILLS ?? 3);
const LEASE_SECONDS = 3;

interface Server {
  readonly process: DarumaProcess;
  readonly url: string;
}

describe("two servers on one PostgreSQL that execute nothing themselves", () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-starve-"));
  let postgres: PostgresServer;
  let store: Store;
  const servers: Server[] = [];
  const workers: DarumaProcess[] = [];

  beforeAll(async () => {
    postgres = await PostgresServer.create();
    for (const name of ["first", "second"]) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const process = new DarumaProcess(name, [
        ...["serve", "--port", String(port), "--store", postgres.url(), "--output-dir", join(folder, "out")],
        ...["--max-parallel", "0", "--rate-limit", "0", "--lease", String(LEASE_SECONDS)],
      ]);
      process.start();
      await untilReady(url, process);
      servers.push({ process, url });
    }
    store = await openPostgresStore({ url: postgres.url() });
  });

  afterAll(async () => {
    await store?.close();
    for (const process of [...workers, ...servers.map((server) => server.process)]) {
      process.signal("SIGCONT");
      await process.kill();
    }
    await postgres?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  function addWorker(name: string, urls: readonly string[]): DarumaProcess {
    const worker = new DarumaProcess(name, [
      ...["worker", "--server", urls.join(","), "--name", name, "--slots", "2"],
      ...["--output-dir", join(folder, name)],
    ]);
    workers.push(worker);
    worker.start();
    return worker;
  }

  const untilOver = (runIds: readonly number[]) =>
    eventually(`the end of the runs ${runIds}`, async () => {
      const rows = await Promise.all(runIds.map((runId) => store.readRun(runId)));
      return rows.every((row) => row?.finished_at != null) && rows.map((row) => row?.status);
    });

  it("runs of the one without a worker go on at the other, child runs too", {
    timeout: 1_800_000,
  }, async () => {
    const [first, second] = [servers[0]!, servers[1]!];
    const worker = addWorker("single", [first.url]);
    const home = join(folder, "home");
    mkdirSync(home);
    writeFileSync(join(home, "child.yaml"), "name: child\nsteps: { a: { exec: echo grown } }\n");
    const plain = JSON.stringify({ name: "plain", steps: { a: { exec: "echo a" } } });
    const parent = JSON.stringify({
      name: "parent",
      steps: {
        child: { type: "workflow", file: "child.yaml" },
        after: { exec: "echo after", depends_on: ["child"] },
      },
    });
    const runs = [await start(second.url, { source: parent, folder: home })];
    for (let i = 0; i < 5; i += 1) runs.push(await start(second.url, { source: plain }));
    expect(await untilOver(runs)).toEqual(runs.map(() => "completed"));
    for (const runId of runs) {
      const log = (await store.readEvents(runId)).map(({ event }) => event);
      expect(log.filter(({ type }) => type === "attempt.failed")).toEqual([]);
      expect(log.flatMap((event) => (event.type === "run.resumed" ? event.lost : []))).toEqual([]);
    }
    expect(await worker.stop()).toBe(0);
  });

  it("every run ends under blows, none lost, nothing twice", { timeout: 1_800_000 }, async () => {
    console.log(`no run starves: ${RUNS} runs, SEED=${SEED}`);
    const dice = new Random(SEED);
    const urls = servers.map(({ url }) => url);
    const hit = [addWorker("w1", urls), addWorker("w2", [...urls].reverse()), addWorker("w3", urls)];
    const effects = join(folder, "effects");
    const source = workflowText(effects);
    const runs: number[] = [];
    const blows: string[] = [];
    for (let blow = 0; blow < BLOWS; blow += 1) {
      for (let i = 0; i < RUNS / BLOWS; i += 1)
        runs.push(await start(servers[Math.floor(dice.next() * 2)]!.url, { source }));
      blows.push(await strike(dice, hit));
      await delay(1_000 * dice.next());
    }
    console.log(`no run starves: ${blows.join(", ")}`);
    expect(await untilOver(runs)).toEqual(runs.map(() => "completed"));
    const done = linesOf(effects);
    expect(new Set(done).size).toBe(done.length);
    for (const runId of runs) {
      const log = (await store.readEvents(runId)).map(({ event }) => event);
      const succeeded = log.flatMap((event) => (event.type === "attempt.succeeded" ? [event.job] : []));
      expect(succeeded.sort()).toEqual([1, 2, 3].map((n) => runId * 10_000_000 + n));
    }
  });

  async function strike(dice: Random, hit: readonly DarumaProcess[]): Promise<string> {
    const kind = dice.next();
    if (kind < 0.5) {
      const server = servers[Math.floor(dice.next() * 2)]!;
      await server.process.kill();
      server.process.start();
      await untilReady(server.url, server.process);
      return `kill ${server.process.name}`;
    }
    const worker = hit[Math.floor(dice.next() * hit.length)]!;
    if (kind < 0.8) {
      await worker.kill();
      worker.start();
      return `kill ${worker.name}`;
    }
    worker.signal("SIGSTOP");
    await delay(LEASE_SECONDS * 1_500);
    worker.signal("SIGCONT");
    return `stop ${worker.name}`;
  }
});

/** Each attempt leaves one line: the same line twice would be one attempt that ran twice. */
function workflowText(effects: string): string {
  const exec = `echo $DARUMA_RUN_ID/$DARUMA_JOB_ID/$DARUMA_ATTEMPT_ID >> ${effects}; sleep 0.3`;
  return JSON.stringify({
    name: "starving",
    max_recoveries: 1_000,
    steps: { a: { exec }, b: { exec, depends_on: ["a"] }, c: { exec, depends_on: ["a"] } },
  });
}

async function start(url: string, body: { source: string; folder?: string }): Promise<number> {
  const response = await fetch(`${url}/api/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { run_id: number };
  if (response.status !== 201) throw new Error(JSON.stringify(answer));
  return answer.run_id;
}

function linesOf(file: string): string[] {
  return readFileSync(file, "utf8").trim().split("\n");
}
