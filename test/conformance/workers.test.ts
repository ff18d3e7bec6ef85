import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { DarumaProcess, eventually } from "../support/daruma-process.js";
import { LiveServers } from "../support/live-server.js";
import { LiveWorker } from "../support/live-worker.js";

const servers = new LiveServers();
const folder = mkdtempSync(join(tmpdir(), "daruma-conformance-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("retried jobs", () => {
  it("are taken up by any free worker, also when the one that failed them is gone", {
    tags: ["T33"],
  }, async () => {
    const server = await servers.start({ maxParallel: 0 });
    const first = new LiveWorker(join(folder, "first"), { servers: [server.url], name: "first" });
    const [failed, gone] = [join(folder, "failed"), join(folder, "gone")];
    const runId = await server.run(`
failure_handlers:
  - { name: again, rules: [{ exit_codes: [10], recovery_script: "touch ${failed}; until test -e ${gone}; do sleep 0.05; done", max_retries: 2 }] }
jobs:
  - { name: sim, command: "test $DARUMA_ATTEMPT_ID = 2 || exit 10", failure_handler: again }`);
    await eventually("the recovery script", () => existsSync(failed));
    const drained = first.drain();
    writeFileSync(gone, "");
    await drained;
    const second = new LiveWorker(join(folder, "second"), { servers: [server.url], name: "second" });
    await server.until(runId, "completed");
    await second.drain();
    const attempts = await server.running.store.readAttempts(runId);
    expect(attempts.map(({ attempt, status, worker }) => [attempt, status, worker.split("/")[0]])).toEqual([
      [1, "failed", "first"],
      [2, "succeeded", "second"],
    ]);
  });
});

describe("a worker that is killed", () => {
  it("leaves its retried job to another: the recovery script runs once more there, then the reserved attempt", {
    tags: ["T33"],
  }, async () => {
    const server = await servers.start({ maxParallel: 0, leaseMs: 1_500 });
    const args = ["--server", server.url, "--name", "doomed", "--slots", "2", "--output-dir", folder];
    const doomed = new DarumaProcess("doomed", ["worker", ...args]);
    doomed.start();
    const begun = join(folder, "script-begun");
    const script = `test -e ${begun} && exit 0; touch ${begun}; sleep 600`;
    const runId = await server.run(`
failure_handlers: [{ name: again, rules: [{ exit_codes: [10], recovery_script: "${script}", max_retries: 2 }] }]
jobs: [{ name: sim, command: "test $DARUMA_ATTEMPT_ID = 2 || exit 10", failure_handler: again }]`);
    await eventually("the recovery script", () => existsSync(begun));
    await doomed.kill();
    const heir = new LiveWorker(join(folder, "heir"), { servers: [server.url], name: "heir" });
    await server.until(runId, "completed");
    await heir.drain();
    const { store } = server.running;
    const attempts = await store.readAttempts(runId);
    expect(attempts.map(({ attempt, status, worker }) => [attempt, status, worker.split("/")[0]])).toEqual([
      [1, "failed", "doomed"],
      [2, "succeeded", "heir"],
    ]);
    const log = (await store.readEvents(runId)).map(({ event }) => event.type);
    expect(log.filter((type) => /^(rule|recovery)\./.test(type))).toEqual([
      ...["rule.reserved", "recovery.started", "recovery.started", "recovery.finished"],
    ]);
  });
});

describe("control", () => {
  it("POST /runs/{id}/control takes action, stepId and reason, and tells what changed", {
    tags: ["M26"],
  }, async () => {
    const server = await servers.start();
    const runId = await server.run(
      `steps: { build: { exec: "exit 3" }, after: { exec: "true", depends_on: build } }`,
    );
    await server.until(runId, "failed");
    const control = (body: object) => server.ask("POST", `/api/v1/runs/${runId}/control`, { body });
    const paused = await control({ action: "takeover", reason: "looking" });
    expect(paused).toMatchObject({ status: 422, body: { code: "RUN_OVER" } });
    const retried = await control({ action: "retry_step", stepId: "build", reason: "fixed it" });
    expect(retried).toMatchObject({
      status: 200,
      body: { run_id: runId, action: "retry_step", before: "failed", reason: "fixed it" },
    });
    await server.until(runId, "failed");
    const unknown = await control({ action: "retry_step", step_id: "nowhere", reason: "?" });
    expect(unknown).toMatchObject({ status: 404, body: { code: "STEP_NOT_FOUND" } });
    const twice = await control({ action: "retry_step", step_id: "build", stepId: "after", reason: "?" });
    expect(twice).toMatchObject({ status: 422, body: { code: "INVALID_INPUT" } });
    const wrong = await control({ action: "explode", reason: "?" });
    expect(wrong).toMatchObject({ status: 422, body: { code: "INVALID_INPUT" } });
    const log = await server.running.store.readEvents(runId);
    expect(log.flatMap(({ event }) => (event.type === "jobs.retried" ? [event.reason] : []))).toEqual([
      "fixed it",
    ]);
  });
});
