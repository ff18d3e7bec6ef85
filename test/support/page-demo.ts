import type { WorkerHealth } from "../../src/core/quarantine/quarantine.js";
import type { LiveServer } from "./live-server.js";
import { LiveWorker } from "./live-worker.js";

/** Falls often and gets up: three retries' worth of a busy mirror, a repair, a failure that an edge takes. */
const RELEASE = `
name: release-train
inputs: { version: { type: string, default: "2.4.0" } }
steps:
  deps:
    exec: |
      echo "GET registry/esbuild"
      [ "$DARUMA_ATTEMPT_ID" -ge 3 ] && exit 0
      echo "503 Service Unavailable - GET registry/esbuild" >&2
      exit 75
    on_fail: { retry: { max: 3, backoff: { delay_ms: 1 } } }
  codegen: { exec: "echo generated 41 files", depends_on: [deps] }
  build:
    depends_on: [codegen]
    exec: |
      echo "compiling 212 modules"
      [ "$DARUMA_ATTEMPT_ID" -ge 2 ] && exit 0
      echo "src/renewals.ts:41:7 - error TS2304: cannot find name 'Renewal'" >&2
      exit 2
    on_fail: { run: [regenerate] }
  regenerate: { exec: "echo wrote renewal.ts" }
  shards: { type: noop, depends_on: [build], output: [unit, api, browser, docs], forEach: true }
  test: { exec: 'echo "412 tests passed"', depends_on: [shards] }
  canary:
    depends_on: [test]
    fanout: reduce
    join: all
    exec: |
      echo "p99 812 ms over limit 400 ms" >&2
      exit 4
  roll-back: { exec: "echo put 2.3.9 back" }
  notify: { exec: "echo told the team", depends_on: [roll-back] }
transitions:
  - { from: canary, to: roll-back, on: failure }
`;

const ETL = `
name: nightly-etl
inputs: { day: { type: string } }
steps:
  extract: { exec: 'echo "4 files of {{ inputs.day }}"' }
  migrate:
    depends_on: [extract]
    exec: |
      echo "ALTER TABLE renewals ADD COLUMN plan text"
      echo "waiting for AccessExclusiveLock on renewals"
      echo "ERROR: canceling statement due to lock timeout" >&2
      exit 55
    on_fail: { retry: { max: 2, backoff: { delay_ms: 1 } } }
  load: { exec: "echo loaded", depends_on: [migrate] }
  report: { exec: "echo reported", depends_on: [load] }
unhandled: hold
`;

const CRAWL = `
name: crawl-index
steps:
  crawl:
    exec: |
      echo "write /var/crawl/segment-0412: no space left on device" >&2
      exit 28
  index: { exec: "echo indexed", depends_on: [crawl] }
`;

const ASKS = `
name: deploy
steps:
  build: { exec: "echo built 2.4.0" }
  approve:
    type: human
    depends_on: [build]
    prompt: "Deploy 2.4.0 to production?"
    choices: [approve, later, reject]
  roll-out: { exec: "echo rolled out", depends_on: [approve] }
`;

const DOCS = "name: docs\nsteps: { build: { exec: 'echo 214 pages' } }";

/** One step at work on a worker, one that no worker can take. */
const TRAIN = `
name: train-eval
breakers: { feature-store: {} }
steps:
  train: { exec: "sleep 600", runs_on: [gpu], uses: feature-store }
  evaluate: { exec: "true", runs_on: [gpu, a100] }
`;

/** What a page can be of. */
export interface Demo {
  readonly server: LiveServer;
  /** Completed with recoveries and a handled failure. */
  readonly mended: number;
  /** Held at `migrate`, as are two before it. */
  readonly held: number;
  readonly failed: number;
  readonly asks: number;
  /** Ends its workers. */
  close(): Promise<void>;
}

/** Runs of real workflows that fail and mend, always in the same order. */
export async function makeDemo(server: LiveServer): Promise<Demo> {
  const labels = { team: "platform" };
  const docs = [await server.run(DOCS), await server.run(DOCS)];
  const failed = await server.run(CRAWL, { labels: { team: "search" } });
  const held: number[] = [];
  for (const day of ["2026-03-01", "2026-03-02", "2026-03-03"])
    held.push(await server.run(ETL, { inputs: { day }, labels }));
  const asks = await server.run(ASKS, { labels });
  const mended = await server.run(RELEASE, { labels });
  for (const run of docs) await server.until(run, "completed");
  for (const run of held) await server.until(run, "held");
  await server.until(failed, "failed");
  await server.until(mended, "completed");
  while ((await server.running.store.readJobs(asks)).every(({ status }) => status !== "waiting"))
    await new Promise((resolve) => setTimeout(resolve, 20));
  await keepDraft(server);
  await publishDocs(server);
  const workers = await startWorkers(server);
  const close = async (): Promise<void> => void (await Promise.all(workers.map((worker) => worker.end())));
  return { server, mended, held: held.at(-1)!, failed, asks, close };
}

/** Two that work, and one that jobs failed on which others then completed. */
async function startWorkers(server: LiveServer): Promise<LiveWorker[]> {
  const servers = [server.url];
  const workers = [
    new LiveWorker(server.outputDir, { servers, name: "gpu-1", slots: 4, tags: ["gpu", "linux"] }),
    new LiveWorker(server.outputDir, { servers, name: "cpu-1", slots: 8, tags: ["linux"] }),
  ];
  const train = await server.run(TRAIN);
  while ((await server.running.store.readJobs(train)).every(({ status }) => status !== "running"))
    await new Promise((resolve) => setTimeout(resolve, 20));
  await putQuarantine(server, "cpu-4");
  return workers;
}

const QUARANTINE_MS = 900_000;

/** As if three jobs had failed on this worker that cpu-1 then completed. */
export async function putQuarantine(server: LiveServer, name: string): Promise<void> {
  const since = Date.now();
  const jobs = [4, 5, 6].map((run) => ({
    ...{ run, job: run * 1_000_000, step: "load", attempt: 1, code: "EXIT_28", completedOn: "cpu-1" },
  }));
  const times = { since, until: since + QUARANTINE_MS, forMs: QUARANTINE_MS, times: 1 };
  const health: WorkerHealth = { quarantine: { ...times, jobs, probationAt: null }, freed: null };
  const data = JSON.stringify(health);
  await server.running.store.writeShared([{ kind: "worker", name, revision: 0, data }]);
}

/** One that starts by itself. */
async function publishDocs(server: LiveServer): Promise<void> {
  const schedule = 'schedule: { id: nightly, cron: "0 3 * * *", timezone: Europe/Berlin }';
  const address = "/api/v1/workflows/docs";
  await server.ask("PUT", `${address}/draft`, { body: { source: DOCS.replace("\n", `\n${schedule}\n`) } });
  await server.ask("POST", `${address}/publish`, { body: {} });
}

/** A published version, and a draft of the next one with two problems. */
async function keepDraft(server: LiveServer): Promise<void> {
  const address = "/api/v1/workflows/release-train";
  await server.ask("PUT", `${address}/draft`, { body: { source: RELEASE.trimStart() } });
  await server.ask("POST", `${address}/publish`, { body: {} });
  const source = `${RELEASE.trimStart().replace("backoff:", "backof:")}  - { from: canary, to: notify, on: failure, priority: 1 }\n`;
  await server.ask("PUT", `${address}/draft`, { body: { source } });
}
