import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.js";
import type { Store } from "../../src/store/store.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";
import { PostgresServer } from "../support/postgres-server.js";

const LEASE_SECONDS = 3;
const PATIENCE_MS = 60_000;

describe("two servers on one PostgreSQL", () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-two-"));
  let postgres: PostgresServer;
  let store: Store;
  const servers: { process: DarumaProcess; url: string }[] = [];

  beforeAll(async () => {
    postgres = await PostgresServer.create();
    for (const name of ["first", "second"]) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const args = ["--port", String(port), "--store", postgres.url(), "--output-dir", join(folder, "out")];
      const process = new DarumaProcess(name, [
        ...["serve", ...args, "--max-parallel", "4", "--lease", String(LEASE_SECONDS)],
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
    await eventually("the step to run", PATIENCE_MS, () => linesOf(ran).length === 1);
    const owner = (await store.readLease(runId))!;
    expect(owner.owner.pid).toBe(first.process.pid);
    first.process.signal("SIGSTOP");
    const taken = await eventually("the second server to take it", PATIENCE_MS, async () => {
      const lease = await store.readLease(runId);
      return lease !== null && lease.fence > owner.fence && lease;
    });
    expect(taken.owner.pid).toBe(second.process.pid);
    await eventually("the step to run again", PATIENCE_MS, () => linesOf(ran).length === 2);
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
    await eventually(
      "the end of the run",
      PATIENCE_MS,
      async () => (await store.readRun(runId))?.finished_at,
    );
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
    await eventually("the step to run", PATIENCE_MS, async () =>
      (await store.readJobs(runId)).some(({ status }) => status === "running"),
    );
    const answer = await fetch(`${second.url}/api/v1/runs/${runId}/control`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ action: "cancel", reason: "from the other side" }),
    });
    expect(answer.status).toBe(200);
    await eventually(
      "the end of the run",
      PATIENCE_MS,
      async () => (await store.readRun(runId))?.finished_at,
    );
    expect((await store.readRun(runId))?.status).toBe("canceled");
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
