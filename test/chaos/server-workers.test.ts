import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LoggedEvent } from "../../src/core/model/events.js";
import { loadDefinition } from "../../src/file/load.js";
import { checkTemplate } from "../../src/run/sandbox/template.js";
import { checkExpression } from "../../src/run/sandbox/wrap-code.js";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.js";
import { Random } from "../sim/random.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";
import { findViolations } from "../support/invariants.js";
import { PostgresServer } from "../support/postgres-server.js";
import { chooseSeed } from "../support/seed.js";

/** `SEED=n` plays the same blows again, as far as real processes allow. */
const SEED = chooseSeed();
const JOBS = Number(process.env.CHAOS_JOBS ?? 300);
const WORKERS = 4;
const SLOTS = 4;
const LEASE_SECONDS = 3;
const PAUSE_BETWEEN_BLOWS_MS = 1_500;
const TIME_LIMIT_MS = 1_800_000;

/** Two in ten first attempts fail, and one in ten second attempts; some jobs wait for others. */
function workflowText(): string {
  const jobs = Array.from({ length: JOBS }, (_, index) => ({
    name: `j${index}`,
    command: `n=$(( (${index} * 7 + $DARUMA_ATTEMPT_ID * 13) % 10 )); test $n -ge 2 || exit 10; echo done ${index}`,
    failure_handler: "again",
    ...(index >= 50 && index % 3 === 0 ? { depends_on: [`j${index - 50}`] } : {}),
  }));
  return JSON.stringify({
    name: "chaos",
    max_recoveries: 1_000,
    failure_handlers: [{ name: "again", rules: [{ exit_codes: [10], max_retries: 20 }] }],
    jobs,
  });
}

/** Processes of this machine whose environment carries the mark of one of the run's attempts. */
function leftovers(tokens: ReadonlySet<string>): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
        const token = /DARUMA_ATTEMPT_TOKEN=([^\0]*)/.exec(environment)?.[1];
        return token !== undefined && tokens.has(token);
      } catch {
        return false;
      }
    });
}

describe("a server, four workers and PostgreSQL under blows", () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-chaos-"));
  let postgres: PostgresServer;
  let server: DarumaProcess;
  let workers: DarumaProcess[] = [];
  let url = "";

  beforeAll(async () => {
    postgres = await PostgresServer.create();
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    server = new DarumaProcess("server", [
      "serve",
      ...["--port", String(port), "--store", postgres.url(), "--output-dir", join(folder, "server")],
      ...["--max-parallel", "0", "--rate-limit", "0"],
      ...["--lease", String(LEASE_SECONDS)],
    ]);
    server.start();
    await untilReady(url, server);
    workers = Array.from({ length: WORKERS }, (_, index) => {
      const name = `w${index}`;
      return new DarumaProcess(name, [
        ...["worker", "--server", url, "--name", name, "--slots", String(SLOTS)],
        ...["--output-dir", join(folder, name)],
      ]);
    });
    for (const worker of workers) worker.start();
  });

  afterAll(async () => {
    for (const process of [...workers, server]) await process?.kill();
    await postgres?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it("gives every job exactly one accepted outcome, loses no attempt and leaves no process", {
    timeout: TIME_LIMIT_MS,
  }, async () => {
    console.log(`chaos: ${JOBS} jobs, SEED=${SEED}`);
    const source = workflowText();
    const runId = await startRun(url, source);
    const blows = await strikeUntilOver(runId);
    console.log(`chaos: ${blows.join(", ")}`);
    const store = await openPostgresStore({ url: postgres.url() });
    const [run, log] = [await store.readRun(runId), await readLog(store, runId)];
    const attempts = await store.readAttempts(runId);
    await store.close();
    expect(run?.status).toBe("completed");
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    const succeeded = log.flatMap(({ event }) => (event.type === "attempt.succeeded" ? [event.job] : []));
    expect(new Set(succeeded).size).toBe(JOBS);
    expect(succeeded).toHaveLength(JOBS);
    const started = log.filter(({ event }) => event.type === "attempt.started");
    expect(attempts).toHaveLength(started.length);
    expect(attempts.filter(({ status }) => status === "running")).toEqual([]);
    const loaded = loadDefinition(source, { file: "chaos.json", checkExpression, checkTemplate });
    if (!loaded.ok) throw new Error("the workflow does not load");
    expect(findViolations(log, loaded.definition)).toEqual([]);
    for (const worker of workers) {
      worker.signal("SIGCONT");
      expect(await worker.stop()).toBe(0);
    }
    expect(leftovers(new Set(attempts.map(({ token }) => token)))).toEqual([]);
    expect(blows.length).toBeGreaterThan(0);
  });

  async function strikeUntilOver(runId: number): Promise<string[]> {
    const dice = new Random(SEED);
    const blows: string[] = [];
    const deadline = Date.now() + TIME_LIMIT_MS - 60_000;
    while (!(await isOver(url, runId))) {
      if (Date.now() > deadline)
        throw new Error(`the run is not over after ${blows.join(", ")}\n${server.output.slice(-4_000)}`);
      blows.push(await strike(dice));
      await delay(PAUSE_BETWEEN_BLOWS_MS * (0.5 + dice.next()));
    }
    return blows;
  }

  async function strike(dice: Random): Promise<string> {
    const kind = dice.next();
    const worker = workers[Math.floor(dice.next() * workers.length)]!;
    if (kind < 0.35) {
      await worker.kill();
      worker.start();
      return `kill ${worker.name}`;
    }
    if (kind < 0.55) {
      await server.kill();
      server.start();
      await untilReady(url, server);
      return "kill server";
    }
    if (kind < 0.75) {
      await postgres.restart(dice.next() < 0.5 ? "fast" : "immediate");
      return "restart PostgreSQL";
    }
    worker.signal("SIGSTOP");
    await delay(LEASE_SECONDS * 1_500);
    worker.signal("SIGCONT");
    return `stop ${worker.name}`;
  }
});

async function startRun(url: string, source: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ source, file_name: "chaos.json" }),
  });
  const body = await response.text();
  if (response.status !== 201) throw new Error(body);
  return (JSON.parse(body) as { run_id: number }).run_id;
}

/** A server that cannot answer now has not ended the run. */
async function isOver(url: string, runId: number): Promise<boolean> {
  return eventually("an answer about the run", async () => {
    const response = await fetch(`${url}/api/v1/runs?limit=1`).catch(() => null);
    if (response === null || !response.ok) return null;
    const { items } = (await response.json()) as { items: { run_id: number; status: string }[] };
    const found = items.find(({ run_id }) => run_id === runId);
    return found === undefined ? null : { over: ["completed", "failed", "canceled"].includes(found.status) };
  }).then(({ over }) => over);
}

async function readLog(
  store: Awaited<ReturnType<typeof openPostgresStore>>,
  runId: number,
): Promise<LoggedEvent[]> {
  const log: LoggedEvent[] = [];
  for (;;) {
    const page = await store.readEvents(runId, { afterSeq: log.length, limit: 5_000 });
    log.push(...page);
    if (page.length === 0) return log;
  }
}
