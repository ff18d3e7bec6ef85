import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { AttemptRow } from "../../src/core/model/rows.js";
import { logFile } from "../../src/run/worker/attempt-paths.js";
import { DarumaProcess } from "../support/daruma-process.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";
import { LiveWorker } from "../support/live-worker.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-workers-"));
const servers = new LiveServers();
let workers: LiveWorker[] = [];
let processes: DarumaProcess[] = [];

afterEach(async () => {
  for (const worker of workers) await worker.end();
  for (const process of processes) {
    process.signal("SIGCONT");
    await process.kill();
  }
  workers = [];
  processes = [];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function work(
  server: LiveServer,
  options: Partial<ConstructorParameters<typeof LiveWorker>[1]> = {},
): LiveWorker {
  const worker = new LiveWorker(folder, { servers: [server.url], ...options });
  workers.push(worker);
  return worker;
}

function workAsProcess(server: LiveServer, name: string): DarumaProcess {
  const process = new DarumaProcess(name, [
    ...["worker", "--server", server.url, "--name", name, "--slots", "2"],
    ...["--output-dir", folder],
  ]);
  process.start();
  processes.push(process);
  return process;
}

async function eventually<T>(look: () => Promise<T | null | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await delay(20);
  }
}

const attemptsOf = (server: LiveServer, runId: number): Promise<AttemptRow[]> =>
  server.running.store.readAttempts(runId);

function running(server: LiveServer, runId: number): Promise<AttemptRow> {
  return eventually(async () => (await attemptsOf(server, runId)).find(({ status }) => status === "running"));
}

/** What the first step of the run has printed, as the server has it. */
function logOf(server: LiveServer, runId: number): string {
  return logFile(
    server.outputDir,
    { workflowId: 1, jobId: runId * 10_000_000 + 1, runId, attempt: 1 },
    "stdout",
  );
}

/** A line to a server that can be cut and mended. */
class Wire {
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;

  private constructor(
    private readonly to: number,
    private port: number,
  ) {}

  static async to(port: number): Promise<Wire> {
    const wire = new Wire(port, 0);
    await wire.mend();
    return wire;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async mend(): Promise<void> {
    this.server = createServer((client) => {
      const server = connect(this.to, "127.0.0.1");
      for (const socket of [client, server]) {
        this.sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => [client, server].map((one) => one.destroy()));
      }
      client.pipe(server).pipe(client);
    });
    await new Promise<void>((resolve) => this.server!.listen(this.port, "127.0.0.1", resolve));
    this.port = (this.server.address() as { port: number }).port;
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server?.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}

/** Whether the process whose id is in the file still runs. */
function isAlive(file: string): boolean {
  const pid = Number(readFileSync(file, "utf8"));
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
  } catch {
    return false;
  }
}

describe("workers on other machines", () => {
  it("execute the attempts of a run; logs and large outputs come to the server", async () => {
    const server = await servers.start({ maxParallel: 0 });
    work(server);
    const runId = await server.run(`
steps:
  a: { exec: "echo out of a; echo err of a >&2" }
  big: { exec: 'head -c 200000 /dev/zero | tr "\\\\0" x | sed "s/.*/\\"&\\"/" > $DARUMA_OUTPUT' }
  b: { exec: "echo {{ outputs.a }} and {{ outputs.big | size }}", depends_on: [a, big] }`);
    expect(await server.until(runId, "completed", "failed")).toBe("completed");
    const attempts = await attemptsOf(server, runId);
    expect(attempts.map(({ worker }) => worker.replace(/\/.*/, ""))).toEqual(["w1", "w1", "w1"]);
    const a = attempts.find(({ job_id }) => job_id === runId * 10_000_000 + 1)!;
    const { body: job } = await server.ask<{ attempt_history: object[] }>(
      "GET",
      `/api/v1/jobs/${a.job_id + 1}`,
    );
    expect(job.attempt_history).toMatchObject([
      { peak_memory_bytes: expect.any(Number), cpu_ms: expect.any(Number) },
    ]);
    const { workflow_id: workflowId } = (await server.running.store.readRun(runId))!;
    const name = { workflowId, jobId: a.job_id, runId, attempt: 1 };
    expect(readFileSync(logFile(server.outputDir, name, "stdout"), "utf8")).toBe("out of a\n");
    expect(readFileSync(logFile(server.outputDir, name, "stderr"), "utf8")).toBe("err of a\n");
    const jobs = await server.running.store.readJobs(runId);
    expect(jobs.find(({ step }) => step === "b")?.output).toEqual({
      kind: "value",
      value: "out of a and 200000",
    });
    expect(server.faults).toEqual([]);
  });

  it("wait for a worker that has what the step runs on", async () => {
    const server = await servers.start({ maxParallel: 2 });
    work(server, { name: "plain" });
    const runId = await server.run(`steps: { a: { exec: "true" }, b: { exec: "true", runs_on: gpu } }`);
    const both = await eventually(async () => {
      const jobs = await server.running.store.readJobs(runId);
      return jobs.some(({ step, status }) => step === "a" && status === "completed") && jobs;
    });
    expect(both.find(({ step }) => step === "b")?.status).toBe("ready");
    const told = await server.ask<{ text: string }>("GET", `/api/v1/runs/${runId}/explanation`);
    expect(told.body.text).toContain("Ready and waiting: b; no connected worker has the tags gpu.");
    work(server, { name: "strong", tags: ["gpu", "linux"] });
    await server.until(runId, "completed");
    const b = (await attemptsOf(server, runId)).find(({ job_id }) => job_id === runId * 10_000_000 + 2);
    expect(b?.worker).toMatch(/^strong\//);
  });

  it("run a recovery script where the attempt failed, in the run's folder there", async () => {
    const server = await servers.start({ maxParallel: 0 });
    work(server);
    const runId = await server.run(`
failure_handlers:
  - name: mend
    rules: [{ exit_codes: [7], recovery_script: "echo mended $DARUMA_RETURN_CODE > mended" }]
steps:
  a: { exec: "test -f mended || exit 7; cat mended", failure_handler: mend }`);
    expect(await server.until(runId, "completed", "failed")).toBe("completed");
    const [a] = await server.running.store.readJobs(runId);
    expect(a?.output).toEqual({ kind: "value", value: "mended 7" });
    expect(readFileSync(join(folder, "workers/w1/work", `run-${runId}`, "mended"), "utf8")).toBe(
      "mended 7\n",
    );
  });

  it("get the failure that a transition brings, with the logs of the other worker", async () => {
    const server = await servers.start({ maxParallel: 0 });
    work(server, { name: "first", tags: ["one"] });
    work(server, { name: "second", tags: ["two"] });
    const runId = await server.run(`
steps:
  a: { exec: "echo deep trouble >&2; exit 3", runs_on: one }
  fix: { exec: "grep -c 'deep trouble' $DARUMA_FAILURE_CONTEXT", runs_on: two }
transitions: [{ from: a, to: fix, on: failure }]`);
    expect(await server.until(runId, "completed", "failed")).toBe("completed");
    const fix = (await server.running.store.readJobs(runId)).find(({ step }) => step === "fix");
    expect(Number((fix!.output as { value: number }).value)).toBeGreaterThan(0);
  });

  it("end the attempts of a run that is canceled", async () => {
    const server = await servers.start({ maxParallel: 0 });
    work(server);
    const pid = join(folder, "canceled.pid");
    const runId = await server.run(`steps: { a: { exec: "echo $$ > ${pid}; exec sleep 600" } }`);
    await eventually(async () => existsSync(pid) && readFileSync(pid, "utf8") !== "");
    await server.ask("POST", `/api/v1/runs/${runId}/control`, {
      body: { action: "cancel", reason: "enough" },
    });
    expect(await server.until(runId, "canceled")).toBe("canceled");
    expect(isAlive(pid)).toBe(false);
    expect(await attemptsOf(server, runId)).toMatchObject([{ status: "stopped" }]);
  });

  it("are struck off when they are killed: the attempt is lost and runs again elsewhere", async () => {
    const server = await servers.start({ maxParallel: 0, leaseMs: 1_500 });
    const doomed = workAsProcess(server, "doomed");
    const mark = join(folder, "doomed.mark");
    const runId = await server.run(
      `steps: { a: { exec: "test -f ${mark} && exit 0; touch ${mark}; exec sleep 600" } }`,
    );
    await eventually(async () => existsSync(mark));
    await doomed.kill();
    work(server, { name: "heir" });
    expect(await server.until(runId, "completed", "failed")).toBe("completed");
    const attempts = await attemptsOf(server, runId);
    expect(attempts).toMatchObject([
      { attempt: 1, status: "failed", error: { code: "WORKER_LOST", class: "infrastructure" } },
      { attempt: 2, status: "succeeded" },
    ]);
    expect(attempts[1]?.worker).toMatch(/^heir\//);
    const routes = await server.running.store.readEvents(runId);
    expect(routes.flatMap(({ event }) => (event.type === "ladder.climbed" ? [event.rung] : []))).toEqual([
      "restart",
    ]);
  });

  it("keep what runs while the server is stopped and started again: one attempt, its result accepted", async () => {
    const outputDir = join(folder, "restarted");
    const first = await servers.start({ maxParallel: 0, outputDir, leaseMs: 20_000 });
    const port = Number(new URL(first.url).port);
    work(first);
    const gate = join(folder, "restart.gate");
    const runId = await first.run(
      `steps: { a: { exec: "echo before; until test -f ${gate}; do sleep 0.05; done; echo after" }, b: { exec: "true", depends_on: a } }`,
    );
    const { token } = await running(first, runId);
    await eventually(
      async () => existsSync(logOf(first, runId)) && readFileSync(logOf(first, runId), "utf8") !== "",
    );
    await first.close();
    writeFileSync(gate, "");
    const second = await servers.start({ maxParallel: 0, outputDir, port, leaseMs: 20_000 });
    expect(await second.until(runId, "completed", "failed")).toBe("completed");
    const attempts = await attemptsOf(second, runId);
    expect(attempts).toMatchObject([
      { attempt: 1, status: "succeeded", token },
      { attempt: 1, status: "succeeded" },
    ]);
    expect(readFileSync(logOf(second, runId), "utf8")).toBe("before\nafter\n");
    const log = (await second.running.store.readEvents(runId)).map(({ event }) => event);
    expect(log.filter(({ type }) => type === "run.resumed")).toEqual([{ type: "run.resumed", lost: [] }]);
  });

  it("that stood still past their lease find their result refused, and end what they ran", async () => {
    const server = await servers.start({ maxParallel: 0, leaseMs: 1_500 });
    const frozen = workAsProcess(server, "frozen");
    const pid = join(folder, "frozen.pid");
    const runId = await server.run(
      `steps: { a: { exec: "test -f ${pid} && exit 0; echo $$ > ${pid}; exec sleep 600" } }`,
    );
    await eventually(async () => existsSync(pid) && readFileSync(pid, "utf8") !== "");
    frozen.signal("SIGSTOP");
    work(server, { name: "warm" });
    expect(await server.until(runId, "completed", "failed")).toBe("completed");
    expect(isAlive(pid)).toBe(true);
    frozen.signal("SIGCONT");
    await eventually(async () => !isAlive(pid));
    expect(await attemptsOf(server, runId)).toMatchObject([
      { attempt: 1, status: "failed", error: { code: "WORKER_LOST" } },
      { attempt: 2, status: "succeeded" },
    ]);
  });

  it("keep their results through a cut of the network", async () => {
    const server = await servers.start({ maxParallel: 0, leaseMs: 20_000 });
    const wire = await Wire.to(Number(new URL(server.url).port));
    work(server, { servers: [wire.url] });
    const gate = join(folder, "cut.gate");
    const done = join(folder, "cut.done");
    const begun = join(folder, "cut.begun");
    const runId = await server.run(
      `steps: { a: { exec: "touch ${begun}; until test -f ${gate}; do sleep 0.05; done; echo late; touch ${done}" }, b: { exec: "true", depends_on: a } }`,
    );
    const { token } = await running(server, runId);
    await eventually(async () => existsSync(begun));
    await wire.cut();
    writeFileSync(gate, "");
    await eventually(async () => existsSync(done));
    expect((await attemptsOf(server, runId))[0]?.status).toBe("running");
    await wire.mend();
    expect(await server.until(runId, "completed", "failed")).toBe("completed");
    expect((await attemptsOf(server, runId))[0]).toMatchObject({ attempt: 1, status: "succeeded", token });
    expect(readFileSync(logOf(server, runId), "utf8")).toBe("late\n");
    await wire.cut();
  });

  it("finish what they have when they are asked to stop, and take nothing new", async () => {
    const server = await servers.start({ maxParallel: 0 });
    const process = workAsProcess(server, "leaver");
    const gate = join(folder, "drain.gate");
    const runId = await server.run(
      `steps: { a: { exec: "until test -f ${gate}; do sleep 0.05; done" }, b: { exec: "true", depends_on: a } }`,
    );
    await running(server, runId);
    process.signal("SIGTERM");
    await eventually(async () => process.output.includes("stopping; "));
    writeFileSync(gate, "");
    expect(await process.ended()).toBe(0);
    const jobs = await server.running.store.readJobs(runId);
    expect(jobs.map(({ status }) => status)).toEqual(["completed", "ready"]);
    work(server, { name: "next" });
    expect(await server.until(runId, "completed", "failed")).toBe("completed");
  });
});
