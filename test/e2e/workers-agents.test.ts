import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { logFile } from "../../src/run/worker/attempt-paths.js";
import { DarumaProcess, eventually } from "../support/daruma-process.js";
import { makeRepository } from "../support/git-repository.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-far-agents-"));
const servers = new LiveServers();
let workers: DarumaProcess[] = [];

afterEach(async () => {
  for (const worker of workers) await worker.kill();
  workers = [];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function work(server: LiveServer, name: string): void {
  const own = join(folder, name);
  const worker = new DarumaProcess(name, [
    ...["worker", "--server", server.url, "--name", name, "--slots", "2", "--output-dir", own],
  ]);
  worker.start();
  workers.push(worker);
}

describe("agents on other machines", () => {
  it("are told of the failure that led to them, and of their own, though the logs are not there", async () => {
    const server = await servers.start({ maxParallel: 0 });
    work(server, "far");
    const agent = join(folder, "agent.sh");
    writeFileSync(
      agent,
      "#!/bin/sh\ncat\n[ -e ../tried ] && exit 0\ntouch ../tried; echo not yet >&2; exit 3\n",
      {
        mode: 0o755,
      },
    );
    const runId = await server.run(`
steps:
  test: { exec: "echo three tests are red >&2; exit 1" }
  mend: { type: agent, exec: [${agent}], prompt: mend it, start: routed, summarize: "echo SUMMED UP", on_fail: { retry: { max: 1 } } }
transitions: [{ from: test, to: mend, on: failure }]
`);
    expect(await server.until(runId, "completed", "failed")).toBe("completed");
    const jobId = await server.job(runId, "mend");
    const prompts = [1, 2].map((attempt) => {
      const name = { workflowId: 1, jobId, runId, attempt };
      return readFileSync(logFile(server.outputDir, name, "stdout"), "utf8");
    });
    expect(prompts[0]).toContain("three tests are red");
    expect(prompts[1]).toContain("DARUMA_RETRY_CONTEXT");
    expect(prompts[1]).toContain("SUMMED UP");
    expect(prompts[1]).toContain("not yet");
  });
});

describe("steps of a workspace", () => {
  it("stay ready on a server that takes none itself, while others go on elsewhere", async () => {
    const repo = makeRepository(join(folder, "repo"), { "a.txt": "a\n" });
    const server = await servers.start({ maxParallel: 0 });
    work(server, "elsewhere");
    const runId = await server.run(`
workspace: { repo: ${repo} }
steps:
  here: { exec: "cat a.txt" }
  there: { exec: "echo there", workspace: false }
`);
    const jobs = () => server.running.store.readJobs(runId);
    await eventually("the other step", async () =>
      (await jobs()).some(({ step, status }) => step === "there" && status === "completed"),
    );
    expect((await jobs()).find(({ step }) => step === "here")?.status).toBe("ready");
  });

  it("run in the server's own process where it takes steps, and a relative repo is refused without a folder", async () => {
    const repo = makeRepository(join(folder, "repo-2"), { "a.txt": "a\n" });
    const server = await servers.start({ maxParallel: 1 });
    work(server, "idle");
    const runId = await server.run(
      `{ workspace: { repo: ${repo} }, steps: { here: { exec: "cat a.txt" } } }`,
    );
    expect(await server.until(runId, "completed", "failed")).toBe("completed");
    const [attempt] = await server.running.store.readAttempts(runId);
    expect(attempt!.worker).toMatch(/^local-/);
    const refused = await server.ask("POST", "/api/v1/runs", {
      body: { source: '{ workspace: { repo: . }, steps: { a: { exec: "true" } } }' },
    });
    expect(refused).toMatchObject({ status: 422, body: { code: "WORKSPACE_REPO_NOT_FOUND" } });
  });
});
