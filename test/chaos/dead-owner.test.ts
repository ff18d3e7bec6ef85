import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import type { Store } from "../../src/store/store.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";

/** Far longer than the test may take: whoever waits for the lease fails it. */
const LEASE_SECONDS = 3_600;
const PATIENCE_MS = 240_000;

describe("a server that is killed with -9 while another of the same host and store lives", () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-dead-owner-"));
  const database = join(folder, "daruma.db");
  const servers: { process: DarumaProcess; url: string }[] = [];
  let store: Store;

  beforeEach(async () => {
    for (const name of ["first", "second"]) {
      const port = await freePort();
      const place = ["--port", String(port), "--store", database, "--output-dir", join(folder, "out")];
      const process = new DarumaProcess(name, ["serve", ...place, "--lease", String(LEASE_SECONDS)]);
      servers.push({ process, url: `http://127.0.0.1:${port}` });
      process.start();
      await untilReady(servers.at(-1)!.url, process);
    }
    store = await openSqliteStore({ file: database });
  });

  afterEach(async () => {
    await store?.close();
    for (const { process } of servers) await process.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it("is followed by the other without waiting for the lease, and its attempt runs again there", async () => {
    const [first, second] = [servers[0]!, servers[1]!];
    const [ran, go] = [join(folder, "ran"), join(folder, "go")];
    const source = JSON.stringify({
      name: "follow",
      steps: {
        slow: { exec: `echo $DARUMA_ATTEMPT_ID >> ${ran}; until test -e ${go}; do sleep 0.05; done` },
      },
    });
    const response = await fetch(`${first.url}/api/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ source }),
    });
    const { run_id: runId } = (await response.json()) as { run_id: number };
    await eventually("the step to run", () => linesOf(ran).length === 1);
    const held = (await store.readLease(runId))!;
    expect(held.owner.pid).toBe(first.process.pid);
    expect(held.expiresAt - Date.now()).toBeGreaterThan(10 * PATIENCE_MS);
    await first.process.kill();
    await eventually("the step to run at the other server", () => linesOf(ran).length === 2);
    expect(await store.readLease(runId)).toMatchObject({
      fence: held.fence + 1,
      owner: { pid: second.process.pid },
    });
    writeFileSync(go, "");
    await eventually("the end of the run", async () => {
      return (await store.readRun(runId))?.finished_at;
    });
    expect((await store.readRun(runId))?.status).toBe("completed");
    expect(linesOf(ran)).toEqual(["1", "2"]);
    const log = (await store.readEvents(runId)).map(({ event }) => event);
    expect(log.flatMap((event) => (event.type === "run.resumed" ? event.lost.length : []))).toEqual([1]);
  });
});

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").trim().split("\n");
  } catch {
    return [];
  }
}
