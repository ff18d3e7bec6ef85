import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LiveServer, LiveServers } from "../support/live-server.js";

const servers = new LiveServers();

const HANDLER = `
name: sim
failure_handlers:
  - name: simulation_recovery
    rules: [{ exit_codes: [10, 11], max_retries: 3 }]
jobs:
  - { name: my_job, command: "exit 3", failure_handler: simulation_recovery }
  - { name: after, command: "true", depends_on: [my_job] }
`;
const FAILING = 'name: failing\nsteps: { my_job: { type: command, exec: "exit 3" } }';
const RUNNING = 'name: slow\nsteps: { my_job: { type: command, exec: "exec sleep 60" } }';

interface Problem {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly hint: string;
  readonly errors?: { path: string }[];
}

/** Seed 002 has its paths without a prefix; Daruma has them below /api/v1 too. */
describe.each(["", "/api/v1"])("the REST paths of failure handlers, at %s/", (prefix) => {
  async function failed(server: LiveServer): Promise<{ run: number; job: number }> {
    const run = await server.run(FAILING);
    await server.until(run, "failed");
    return { run, job: await server.job(run, "my_job") };
  }

  it("GET /failure_handlers/{id}: rules are JSON text", { tags: ["T12"] }, async () => {
    const server = await servers.start();
    const run = await server.run(HANDLER);
    const { workflow_id } = (await server.running.store.readRun(run))!;
    const list = await server.ask<{ items: { id: number }[] }>("GET", `${prefix}/failure_handlers`);
    const { status, body } = await server.ask("GET", `${prefix}/failure_handlers/${list.body.items[0]!.id}`);
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(["id", "name", "rules", "workflow_id"]);
    expect(body).toMatchObject({ workflow_id, name: "simulation_recovery" });
    expect(JSON.parse(body.rules as string)).toMatchObject([{ exit_codes: [10, 11], max_retries: 3 }]);
    expect((await server.ask("GET", `${prefix}/failure_handlers/99`)).status).toBe(404);
    expect((await server.ask("GET", `${prefix}/failure_handlers/x`)).status).toBe(422);
  });

  it("GET /jobs?status=pending_failed: held jobs with their run, and what depends on them stays blocked", {
    tags: ["T29"],
  }, async () => {
    const server = await servers.start();
    const run = await server.run(HANDLER);
    await server.until(run, "held");
    // The seed's paths have its word; ours have one word for one thing.
    const word = prefix === "" ? "pending_failed" : "held";
    const listed = (status: string) =>
      server.ask<{ items: object[] }>("GET", `${prefix}/jobs?status=${status}`);
    const held = await listed(word);
    expect(held.status).toBe(200);
    expect(held.body.items).toMatchObject([{ run_id: run, name: "my_job", status: word, attempt_id: 1 }]);
    const job = await server.job(run, "my_job");
    expect((await server.ask("GET", `${prefix}/jobs/${job}`)).body).toMatchObject({ status: word });
    expect((await listed("completed,held")).body).toEqual(held.body);
    const other = await listed("pending_failed");
    if (prefix === "") expect(other.body).toEqual(held.body);
    else expect(other.status).toBe(422);
    const blocked = await server.ask<{ items: object[] }>(
      "GET",
      `${prefix}/jobs?status=blocked&run_id=${run}`,
    );
    expect(blocked.body.items).toMatchObject([{ name: "after" }]);
    expect((await server.ask("GET", `${prefix}/jobs?status=lost`)).status).toBe(422);
  });

  it("PUT /jobs/{id}: ready runs a held job again, failed lets it fail and cancels its dependents", {
    tags: ["T30"],
  }, async () => {
    const server = await servers.start();
    const run = await server.run(HANDLER);
    await server.until(run, "held");
    const job = await server.job(run, "my_job");
    const put = (body: unknown) => server.ask(`PUT`, `${prefix}/jobs/${job}`, { body });
    expect((await put({ status: "completed", reason: "x" })).status).toBe(422);
    expect((await put({ status: "ready", reason: "try again" })).status).toBe(200);
    let row = await server.running.store.readJob(job);
    while (row!.attempt_id < 2 || row!.status !== "held") row = await server.running.store.readJob(job);
    await server.until(run, "held");
    expect((await put({ status: "failed", reason: "for good" })).status).toBe(200);
    await server.until(run, "failed");
    expect((await server.ask("GET", `${prefix}/jobs/${job}`)).body).toMatchObject({
      id: job,
      run_id: run,
      status: "failed",
      attempt_id: 2,
    });
    expect((await server.running.store.readJobs(run)).map(({ status }) => status)).toEqual([
      "failed",
      "canceled",
    ]);
    const again = await server.ask<Problem>("PUT", `${prefix}/jobs/${job}`, { body: { status: "ready" } });
    expect([again.status, again.body.code]).toEqual([422, "NOT_HELD"]);
    expect((await server.ask("PUT", `${prefix}/jobs/19999999`, { body: { status: "ready" } })).status).toBe(
      404,
    );
  });

  it("POST /jobs/{id}/retry/{run_id}?max_retries=N: a failed job is ready with one more attempt", {
    tags: ["T13", "T18"],
  }, async () => {
    const server = await servers.start();
    const { run, job } = await failed(server);
    const { workflow_id } = (await server.running.store.readRun(run))!;
    const { status, body } = await server.ask("POST", `${prefix}/jobs/${job}/retry/${run}?max_retries=3`);
    expect(status).toBe(200);
    expect(body).toEqual({ id: job, workflow_id, name: "my_job", status: "ready", attempt_id: 2 });
    const log = await server.running.store.readEvents(run);
    const retried = log.flatMap(({ event }) => (event.type === "jobs.retried" ? [event] : []));
    expect(retried).toMatchObject([{ jobs: [job], max_attempts: 3 }]);
    let row = await server.running.store.readJob(job);
    while (row!.attempt_id < 2 || row!.status !== "failed") row = await server.running.store.readJob(job);
    expect(row!.attempt_id).toBe(2);
  });

  it("gives one of twelve who ask at once with max_retries=2 the retry, and refuses the others", {
    tags: ["T8", "T17"],
  }, async () => {
    const server = await servers.start();
    const { run, job } = await failed(server);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        server.ask<Problem & { attempt_id?: number }>(
          "POST",
          `${prefix}/jobs/${job}/retry/${run}?max_retries=2`,
        ),
      ),
    );
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken.map(({ body }) => body)).toMatchObject([{ id: job, status: "ready", attempt_id: 2 }]);
    const refused = answers.filter(({ status }) => status === 422).map(({ body }) => body.code);
    expect(refused).toHaveLength(11);
    for (const code of refused) expect(["NOT_RETRYABLE", "RETRIES_USED_UP"]).toContain(code);
    await server.until(run, "failed");
    expect((await server.running.store.readAttempts(run)).map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it("refuses a retry of an unknown job (404), of a wrong run, without or beyond max_retries (422)", {
    tags: ["T14", "T15", "T17"],
  }, async () => {
    const server = await servers.start();
    const { run, job } = await failed(server);
    const retry = async (path: string) => {
      const { status, body } = await server.ask<Problem>("POST", `${prefix}/jobs/${path}`);
      return `${status} ${body.code}`;
    };
    expect(await retry(`19999999/retry/${run}?max_retries=3`)).toBe("404 JOB_NOT_FOUND");
    expect(await retry(`19999999/retry/${run + 1}?max_retries=3`)).toBe("404 JOB_NOT_FOUND");
    expect(await retry(`my_jbo/retry/${run}?max_retries=3`)).toBe("404 STEP_NOT_FOUND");
    expect(await retry(`my_job/retry/${run}?max_retries=1`)).toBe("422 RETRIES_USED_UP");
    expect(await retry(`${job}/retry/${run + 1}?max_retries=3`)).toBe("422 WRONG_RUN");
    expect(await retry(`${job}/retry/${run}`)).toBe("422 INVALID_INPUT");
    expect(await retry(`${job}/retry/${run}?max_retries=many`)).toBe("422 INVALID_INPUT");
    expect(await retry(`${job}/retry/${run}?max_retries=1`)).toBe("422 RETRIES_USED_UP");
    expect((await server.running.store.readJob(job))!.attempt_id).toBe(1);
  });

  it("takes a canceled job, and refuses one that is completed or still waits for others", {
    tags: ["T16"],
  }, async () => {
    const server = await servers.start();
    const run = await server.run(
      'name: mixed\nsteps: { ok: { type: noop }, my_job: { type: command, exec: "exec sleep 60", depends_on: [ok] }, after: { type: noop, depends_on: [my_job] } }',
    );
    const retry = async (step: string) => {
      const path = `${prefix}/jobs/${await server.job(run, step)}/retry/${run}?max_retries=3`;
      const { status, body } = await server.ask<Problem>("POST", path);
      return [status, body.code ?? body.status];
    };
    const job = await server.job(run, "my_job");
    while ((await server.running.store.readJob(job))!.status !== "running");
    expect(await retry("ok")).toEqual([422, "STEP_COMPLETED"]);
    expect(await retry("after")).toEqual([422, "NOT_RETRYABLE"]);
    await server.ask("POST", `/api/v1/runs/${run}/control`, { body: { action: "cancel", reason: "enough" } });
    await server.until(run, "canceled");
    expect(await retry("my_job")).toEqual([200, "ready"]);
  });

  it("gives a recovery script the address of the server", { tags: ["T19"] }, async () => {
    const server = await servers.start();
    const rule = "{ exit_codes: [3], recovery_script: 'echo $DARUMA_API_URL', max_retries: 2 }";
    const run = await server.run(
      `failure_handlers: [{ name: h, rules: [${rule}] }]\njobs: [{ name: my_job, command: "exit 3", failure_handler: h }]`,
    );
    await server.until(run, "failed");
    const logs = join(server.outputDir, "output", "job_stdio", `run-${run}`);
    const said = readdirSync(logs).find((name) => name.endsWith("_a1.recovery.o"))!;
    expect(readFileSync(join(logs, said), "utf8")).toBe(`${server.url}\n`);
  });

  it("refuses a retry of a held job, saying to use PUT, and of one that runs elsewhere", {
    tags: ["T16"],
  }, async () => {
    const server = await servers.start();
    const run = await server.run(HANDLER);
    await server.until(run, "held");
    const held = await server.job(run, "my_job");
    const refused = await server.ask<Problem>("POST", `${prefix}/jobs/${held}/retry/${run}?max_retries=3`);
    expect([refused.status, refused.body.code]).toEqual([422, "NOT_RETRYABLE"]);
    expect(refused.body.hint).toContain(`PUT /jobs/${held}`);
    const busy = await server.run(RUNNING);
    await server.until(busy, "running");
    const running = await server.job(busy, "my_job");
    while ((await server.running.store.readJob(running))!.status !== "running");
    const again = await server.ask<Problem>("POST", `${prefix}/jobs/${running}/retry/${busy}?max_retries=3`);
    expect([again.status, again.body.code]).toEqual([422, "NOT_RETRYABLE"]);
  });
});
