import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import type { Store } from "../../src/store/store.js";
import { runCli } from "../support/cli.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";
import { makeRepository } from "../support/git-repository.js";

const LEASE_SECONDS = 3;

let folder = "";
let repo = "";
let store: Store;
let servers: DarumaProcess[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "daruma-homes-"));
  repo = makeRepository(join(folder, "repo"), { "a.txt": "a\n" });
  servers = [];
  store = await openSqliteStore({ file: join(folder, "shared.db") });
});
afterEach(async () => {
  for (const server of servers) await server.kill();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** One with an output folder of its own, on the store of all. */
async function serve(name: string): Promise<{ process: DarumaProcess; url: string }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const place = ["--store", join(folder, "shared.db"), "--output-dir", join(folder, name)];
  const args = ["serve", "--port", String(port), ...place, "--lease", String(LEASE_SECONDS)];
  const process = new DarumaProcess(name, args);
  process.start();
  servers.push(process);
  await untilReady(url, process);
  return { process, url };
}

/** `make` leaves a file; `check` fails until the file `go` is there, and waits in the queue meanwhile. */
async function start(url: string): Promise<number> {
  const source = JSON.stringify({
    name: "homes",
    workspace: { repo },
    queue: { max_attempts: 50, backoff: { mode: "fixed", delay_ms: 1_000 }, classes: ["application"] },
    steps: {
      make: { exec: "echo made > made.txt" },
      check: { exec: `touch left.txt; test -e ${join(folder, "go")}`, depends_on: ["make"] },
      sum: { exec: "cat a.txt made.txt > sum.txt", depends_on: ["check"] },
    },
  });
  const response = await fetch(`${url}/api/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ source }),
  });
  const body = (await response.json()) as { run_id: number };
  if (response.status !== 201) throw new Error(JSON.stringify(body));
  await eventually("the step to wait in the queue", async () =>
    (await store.readJobs(body.run_id)).some(({ step, status }) => step === "check" && status === "waiting"),
  );
  return body.run_id;
}

const finished = (runId: number) =>
  eventually("the end of the run", async () => {
    const run = await store.readRun(runId);
    return run?.finished_at != null && run;
  });

describe("two servers with output folders of their own on one store", () => {
  it("a run in its queue survives kill -9 of one: the other builds the workspace and completes it", {
    tags: ["M28"],
  }, async () => {
    const a = await serve("a");
    const runId = await start(a.url);
    const b = await serve("b");
    await a.process.kill();
    await eventually("the workspace to move", async () =>
      (await store.readEvents(runId)).some(({ event }) => event.type === "workspace.moved"),
    );
    writeFileSync(join(folder, "go"), "");
    expect((await finished(runId)).status).toBe("completed");
    const answer = await fetch(`${b.url}/api/v1/runs/${runId}/workspace`);
    const told = (await answer.json()) as { path: string; checkpoints: Record<string, unknown>[] };
    expect(told.path).toContain(join(folder, "b"));
    expect(readFileSync(join(told.path, "sum.txt"), "utf8")).toBe("a\nmade\n");
    expect(told.checkpoints).toMatchObject([
      { ordinal: 1, step: "make", changed_files: ["made.txt"], stored: true, superseded: false },
      { ordinal: 2, step: "check", stored: true },
      { ordinal: 3, step: "sum", changed_files: ["sum.txt"], stored: true },
    ]);
    expect(told.checkpoints).toHaveLength((await store.readCheckpoints(runId)).length);
  });

  it("a run whose files the other cannot have is left alone, says why, and goes on where they are", async () => {
    const a = await serve("a");
    const runId = await start(a.url);
    renameSync(repo, `${repo}-away`);
    const b = await serve("b");
    await a.process.kill();
    await eventually("the other to leave it", async () =>
      (await store.readEvents(runId)).some(({ event }) => event.type === "workspace.left"),
    );
    await eventually("the server to say so", () =>
      b.process.output.includes(
        `left run ${runId} of homes alone: the workspace of run ${runId} is in ${folder}/a/`,
      ),
    );
    expect((await store.readRun(runId))?.status).toBe("running");
    const shown = await runCli(["show", String(runId), "--server", b.url]);
    expect(shown.stdout).toMatch(
      /left alone by .*: the workspace of run \d+ is in .*, and cannot be built here: /,
    );
    writeFileSync(join(folder, "go"), "");
    a.process.start();
    expect((await finished(runId)).status).toBe("completed");
    expect(existsSync(join(folder, "b", "output", `run-${runId}`, "workspace", "trees"))).toBe(false);
    const log = (await store.readEvents(runId)).map(({ event }) => event.type);
    expect(log.filter((type) => type === "workspace.moved" || type === "workspace.left")).toEqual([
      "workspace.left",
    ]);
  });
});
