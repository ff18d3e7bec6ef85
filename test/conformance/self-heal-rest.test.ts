import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import type { LiveControl } from "../../src/fleet/desk/protocol.js";
import { makeRepository } from "../support/git-repository.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";

const servers = new LiveServers();
const folder = mkdtempSync(join(tmpdir(), "daruma-conformance-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

interface Steered {
  readonly action: string;
  readonly status: string;
  readonly before: string;
  readonly changed: { step: string; to: string }[];
  readonly target: { step: string } | null;
  readonly reason: string;
}

interface Shown {
  readonly status: string;
  readonly jobs: { step: string; status: string; attempts: number; visits: number }[];
  readonly live_control: LiveControl;
}

/** A run of a workflow on a server, with a file that its steps can wait for. */
async function begin(
  file: (place: { flag: string; repo: string }) => string,
): Promise<{ server: LiveServer; run: number; raise: () => void; show: () => Promise<Shown> }> {
  count += 1;
  const flag = join(folder, `flag-${count}`);
  const repo = makeRepository(join(folder, `repo-${count}`), { "a.txt": "one\n" });
  const server = await servers.start();
  const run = await server.run(file({ flag, repo }));
  const show = async () => (await server.ask<Shown>("GET", `/api/v1/runs/${run}`)).body;
  return { server, run, raise: () => writeFileSync(flag, ""), show };
}

async function control(
  server: LiveServer,
  run: number,
  action: string,
  more: { stepId?: string; force?: boolean; reason?: string } = {},
) {
  const body = { action, reason: "operator recovery", ...more };
  return server.ask<Steered & { code?: string }>("POST", `/api/v1/runs/${run}/control`, { body });
}

async function until(show: () => Promise<Shown>, isThere: (run: Shown) => boolean): Promise<Shown> {
  for (;;) {
    const run = await show();
    if (isThere(run)) return run;
    await delay(20);
  }
}

const WAITING = ({ flag }: { flag: string }) => `name: waiting
steps:
  first: { type: command, exec: "while [ ! -f ${flag} ]; do sleep 0.02; done; exit 1", on_fail: { retry: { max: 1 } } }
`;
const FAILING = ({ flag, repo }: { flag: string; repo: string }) => `name: failing
workspace: { repo: ${repo}, ref: HEAD }
steps:
  plan: { type: command, exec: "echo two > b.txt" }
  edit: { type: command, exec: "test -f b.txt && test -f ${flag}", depends_on: [plan] }
`;

describe("POST /runs/{id}/control", () => {
  it("pause blocks before the next attempt, resume lets it begin", {
    tags: ["M22", "M25", "M26", "M42"],
  }, async () => {
    const { server, run, raise, show } = await begin(WAITING);
    await until(show, ({ jobs }) => jobs[0]!.status === "running");
    const paused = await control(server, run, "pause", { reason: "look at it first" });
    expect(paused).toMatchObject({
      status: 200,
      body: { action: "pause", before: "running", status: "paused", reason: "look at it first" },
    });
    raise();
    // The failure is decided, its retry is due, and nothing begins.
    const held = await until(show, ({ jobs }) => jobs[0]!.status === "ready");
    expect(held).toMatchObject({ status: "paused", live_control: { paused: true, takeover: false } });
    expect(held.jobs[0]!.attempts).toBe(1);
    expect((await control(server, run, "resume")).body.status).toBe("running");
    expect((await until(show, ({ status }) => status === "failed")).jobs[0]!.attempts).toBe(2);
  });

  it("takeover pauses, and a hard reset may be asked for at once", {
    tags: ["M23", "M25", "M26"],
  }, async () => {
    const { server, run, raise, show } = await begin(
      ({ flag, repo }) => `name: taken
workspace: { repo: ${repo}, ref: HEAD }
steps:
  edit: { type: command, exec: "while [ ! -f ${flag} ]; do sleep 0.02; done" }
`,
    );
    await until(show, ({ jobs }) => jobs[0]!.status === "running");
    expect((await control(server, run, "takeover")).body).toMatchObject({
      action: "takeover",
      status: "paused",
    });
    expect((await show()).live_control).toEqual({ paused: true, takeover: true, recovery: null });
    const busy = await control(server, run, "hard_reset_step", { stepId: "edit" });
    expect([busy.status, busy.body.code]).toEqual([409, "WORKSPACE_BUSY"]);
    const reset = await control(server, run, "hard_reset_step", { stepId: "edit", force: true });
    expect(reset).toMatchObject({ status: 200, body: { target: { step: "edit" } } });
    await until(show, ({ jobs }) => jobs[0]!.status === "ready");
    raise();
    await control(server, run, "resume");
    const over = await until(show, ({ status }) => status === "completed");
    expect(over.live_control).toMatchObject({
      paused: false,
      takeover: false,
      recovery: { action: "hard_reset_step", step_id: "edit" },
    });
    expect(over.jobs[0]).toMatchObject({ attempts: 2, visits: 1 });
  });

  it.each([
    ["retry_step", "edit", [1, 2]],
    ["hard_reset_step", "edit", [1, 2]],
    ["resume_from_step", "plan", [2, 2]],
  ] as const)(
    "%s of a run that has failed: it goes on there",
    { tags: ["M25", "M26", "M27"] },
    async (action, stepId, attempts) => {
      const { server, run, raise, show } = await begin(FAILING);
      await until(show, ({ status }) => status === "failed");
      raise();
      const { status, body } = await control(server, run, action, { stepId });
      expect([status, body.action, body.target?.step, body.before]).toEqual([200, action, stepId, "failed"]);
      expect(body.reason).toBe("operator recovery");
      const over = await until(show, (shown) => shown.status === "completed");
      expect(over.jobs.map((job) => job.attempts)).toEqual(attempts);
      expect(over.live_control.recovery).toMatchObject({ action, step_id: stepId });
      expect(Date.parse(over.live_control.recovery!.updated_at)).toBeGreaterThan(0);
      const log = await server.running.store.readEvents(run);
      const reasons = log.flatMap(({ event }) => ("reason" in event ? [event.reason] : []));
      expect(reasons).toContain("operator recovery");
    },
  );

  it("reset_failed begins everything that failed anew, and is about no step", async () => {
    const { server, run, raise, show } = await begin(FAILING);
    await until(show, ({ status }) => status === "failed");
    raise();
    expect((await control(server, run, "reset_failed")).body.changed).toMatchObject([{ step: "edit" }]);
    expect((await until(show, ({ status }) => status === "completed")).live_control.recovery).toBeNull();
  });

  it("cancel preempts a retry that is due", { tags: ["M21"] }, async () => {
    const { server, run, show } = await begin(
      () => `name: retried
steps: { a: { type: command, exec: "exit 1", on_fail: { retry: { max: 5, backoff: { delay_ms: 60s } } } } }
`,
    );
    await until(show, ({ jobs }) => jobs[0]!.status === "waiting");
    expect((await control(server, run, "cancel")).status).toBe(200);
    const over = await until(show, ({ status }) => status === "canceled");
    expect(over.jobs[0]).toMatchObject({ status: "canceled", attempts: 1 });
  });

  it("says by its code why something is refused", async () => {
    const { server, run, raise, show } = await begin(FAILING);
    raise();
    await until(show, ({ status }) => status === "completed");
    const refused = async (action: string, stepId?: string) => {
      const { status, body } = await control(server, run, action, stepId === undefined ? {} : { stepId });
      return [status, body.code];
    };
    expect(await refused("retry_step", "edit")).toEqual([422, "STEP_COMPLETED"]);
    expect(await refused("hard_reset_step", "edit")).toEqual([422, "STEP_COMPLETED"]);
    expect(await refused("hard_reset_step", "none")).toEqual([404, "STEP_NOT_FOUND"]);
    expect(await refused("resume_from_step")).toEqual([422, "INVALID_INPUT"]);
    expect(await refused("pause")).toEqual([422, "RUN_OVER"]);
    expect((await refused("rewind", "edit"))[0]).toBe(422);
  });
});

describe("the live-control document", () => {
  it("comes with the answer to the heartbeat of a worker that has attempts of the run", {
    tags: ["M27"],
  }, async () => {
    const server = await servers.start({ maxParallel: 0 });
    const offer = { slots: 1, cpus: 1, memory_bytes: 1_000_000, tags: [], actions: ["command"] };
    const registered = await server.ask<{ worker_id: string; session: string }>("POST", "/api/v1/workers", {
      body: { instance: "aaaaaaaa-0000", name: "w1", ...offer, attempts: [] },
    });
    const at = `/api/v1/workers/${registered.body.worker_id}`;
    const run = await server.run(WAITING({ flag: "/nowhere" }));
    const claimed = await server.ask<{ assignments: { token: string; jobId: number }[] }>(
      "POST",
      `${at}/claim`,
      {
        body: { session: registered.body.session },
      },
    );
    const { token, jobId } = claimed.body.assignments[0]!;
    const beat = async () => {
      const body = { attempts: [{ job: jobId, attempt: 1, recovery: false, token }], draining: false };
      return (await server.ask<{ control: object }>("POST", `${at}/heartbeat`, { body })).body.control;
    };
    const nothing = { paused: false, takeover: false, recovery: null };
    expect(await beat()).toEqual({ [run]: { live_control: nothing } });
    await control(server, run, "takeover");
    expect(await beat()).toEqual({ [run]: { live_control: { ...nothing, paused: true, takeover: true } } });
    await control(server, run, "resume_from_step", { stepId: "first", force: true });
    const updated_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const recovery = { action: "resume_from_step", step_id: "first", updated_at };
    expect(await beat()).toEqual({ [run]: { live_control: { paused: true, takeover: true, recovery } } });
    await server.ask("DELETE", at);
  });
});
