import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { newWorkflow, putRun } from "../../test/contract/store-fixtures.js";
import { bareServer } from "../../test/support/api-server.js";
import { runFolder } from "../run/worker/attempt-paths.js";
import { createMemoryStore } from "../store/memory/memory-store.js";

const outputDir = mkdtempSync(join(tmpdir(), "daruma-artifacts-"));
afterAll(() => rmSync(outputDir, { recursive: true, force: true }));

it("an artifact's slashes stand in its address as they are or encoded; nothing else is reached", async () => {
  const store = createMemoryStore();
  await store.registerWorkflow(newWorkflow());
  const run = await putRun(store);
  const folder = runFolder(outputDir, run);
  mkdirSync(join(folder, "summaries", "deep"), { recursive: true });
  writeFileSync(join(folder, "summaries", "deep", "x.txt"), "in short");
  writeFileSync(join(outputDir, "secret.txt"), "not for you");
  const { app } = await bareServer({
    store,
    context: (principal) => ({
      store,
      outputDir,
      principal,
      now: Date.now,
      operate: async () => ({
        done: "run.pause",
        before: "running",
        status: "running",
        changed: [],
        goes_back: null,
      }),
      runner: null,
      customActions: [],
    }),
  });
  const get = (path: string, method: "GET" | "PUT" = "GET") =>
    app.inject({ method, url: `/api/v1/runs/${run}/artifacts${path}`, headers: { host: "127.0.0.1" } });
  for (const name of ["summaries/deep/x.txt", "summaries%2fdeep%2Fx.txt", "summaries/deep%2Fx.txt"]) {
    const answer = await get(`/${name}`);
    expect([answer.statusCode, answer.json<{ text: string }>().text], name).toEqual([200, "in short"]);
  }
  for (const name of [
    "../../secret.txt",
    "%2e%2e/%2e%2e/secret.txt",
    "..%2f..%2fsecret.txt",
    "summaries%2f..%2f..%2f..%2fsecret.txt",
    "/etc/passwd",
  ]) {
    const answer = await get(`/${name}`);
    expect(answer.statusCode, name).toBeGreaterThanOrEqual(400);
    expect(answer.body, name).not.toContain("not for you");
  }
  expect((await get("")).json<{ items: object[] }>().items).toHaveLength(1);
  expect((await get("/")).json<{ items: object[] }>().items).toHaveLength(1);
  expect((await get(`/${"x/".repeat(600)}`)).statusCode).toBe(422);
  const wrongMethod = await get("/summaries/deep/x.txt", "PUT");
  expect([wrongMethod.statusCode, wrongMethod.headers.allow]).toEqual([405, "GET, HEAD"]);
});
