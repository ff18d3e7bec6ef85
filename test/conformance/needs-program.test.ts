import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openLocalClient } from "../../src/host/local-client.js";
import { COMMAND_LINE } from "../../src/host/local-operate.js";
import { ServerParts } from "../../src/host/server-parts.js";
import { Daruma, defineWorkflow } from "../../src/index.js";
import { HANG_MS } from "../support/hang.js";
import { RealRuns } from "../support/real-run.js";

const real = new RealRuns();
const SLOW = { timeout: HANG_MS, interval: 20 };

/** `ship` is a function of the program, and fails while the file `bad` is there. */
function program(calls: string[], isBad = (): boolean => false) {
  return {
    ship: async () => {
      calls.push("ship");
      if (isBad()) throw new Error("no truck");
      return "shipped";
    },
    unship: async () => {
      calls.push("unship");
      return null;
    },
  };
}

const ORDER = defineWorkflow(
  {
    name: "orders",
    steps: {
      charge: { exec: "true" },
      ship: { type: "ship", depends_on: ["charge"] } as never,
      mail: { exec: "true", depends_on: ["ship"] },
    },
  },
  { actions: ["ship"] },
);

const log = async (daruma: Daruma, runId: number): Promise<string[]> =>
  (await daruma.store.readEvents(runId)).map(({ event }) => event.type);

/** An order of a program that is gone before anything was shipped. */
async function interrupted(): Promise<{ outputDir: string; runId: number }> {
  const outputDir = (await real.start()).outputDir;
  const hanging = { ship: () => new Promise<never>(() => {}) };
  const first = await Daruma.open({ outputDir, actions: hanging });
  const { runId } = await first.start(ORDER, { key: "order-17" });
  await expect.poll(async () => (await first.store.readJobs(runId))[1]!.status, SLOW).toBe("running");
  await first.close();
  return { outputDir, runId };
}

describe("an unmanaged run that needs its program", () => {
  it("is refused elsewhere before its lease, with nothing recorded, and goes on with the program", {
    tags: ["R10"],
  }, async () => {
    const { outputDir, runId } = await interrupted();
    const other = await real.start({ outputDir });
    const before = await log(other, runId);
    const file = process.argv[1];
    await expect(other.resume(runId)).rejects.toMatchObject({
      code: "NEEDS_PROGRAM",
      message: `run ${runId} needs the program with ship: ${file} (key order-17)`,
    });
    await expect(other.start(ORDER)).rejects.toMatchObject({
      code: "NEEDS_PROGRAM",
      message: "orders needs a program with ship",
    });
    expect([await log(other, runId), await other.store.readLease(runId)]).toEqual([before, null]);
    expect((await other.store.listRuns({})).map(({ id }) => id)).toEqual([runId]);
    expect(await other.get(runId)).toMatchObject({ needs_program: { file, key: "order-17" } });
    expect((await other.explain(runId)).text).toContain(
      `The run goes on when ${file} (key order-17) starts.`,
    );
    await other.close();
    const calls: string[] = [];
    const again = await real.start({ outputDir, actions: program(calls) });
    const { result } = await again.start(ORDER, { key: "order-17" });
    expect([(await result).status, calls]).toEqual(["completed", ["ship"]]);
  });

  it("takes decisions from anywhere and goes on with them when the program is back", {
    tags: ["R10"],
  }, async () => {
    const outputDir = (await real.start()).outputDir;
    const calls: string[] = [];
    const first = await Daruma.open({ outputDir, actions: program(calls, () => true) });
    const started = await first.start(ORDER, { key: "order-18" });
    expect((await started.result).status).toBe("failed");
    await first.close();
    const other = await real.start({ outputDir });
    const retry = { run_id: started.runId, action: "retry_step", step_id: "ship" } as const;
    expect(await other.call("control_run", retry as never)).toMatchObject({ status: "running", owner: null });
    await expect(other.resume(started.runId)).rejects.toMatchObject({ code: "NEEDS_PROGRAM" });
    await other.close();
    const again = await real.start({ outputDir, actions: program(calls) });
    expect((await (await again.resume(started.runId)).result).status).toBe("completed");
    expect(calls).toEqual(["ship", "ship"]);
  });

  it("has its pause lifted from anywhere, which begins nothing, and goes on with the program", {
    tags: ["R10"],
  }, async () => {
    const { outputDir, runId } = await interrupted();
    const other = await real.start({ outputDir });
    await other.operate(runId, { type: "run.pause", takeover: false, reason: "lunch", key: null });
    const before = await log(other, runId);
    const resume = { run_id: runId, action: "resume" } as const;
    const tried = await other.call("control_run", { ...resume, dry_run: true });
    expect([tried.before, tried.status, await log(other, runId)]).toEqual(["paused", "running", before]);
    expect(await other.call("control_run", resume)).toMatchObject({
      before: "paused",
      status: "running",
      owner: null,
    });
    expect([await log(other, runId), await other.store.readLease(runId)]).toEqual([
      [...before, "run.unpaused"],
      null,
    ]);
    await expect(other.call("control_run", resume)).rejects.toMatchObject({ code: "NEEDS_PROGRAM" });
    await other.close();
    const calls: string[] = [];
    const again = await real.start({ outputDir, actions: program(calls) });
    const { result } = await again.start(ORDER, { key: "order-17" });
    expect([(await result).status, calls]).toEqual(["completed", ["ship"]]);
  });

  it("is undone by its program; cancel --now ends that", { tags: ["R10"] }, async () => {
    const outputDir = (await real.start()).outputDir;
    const calls: string[] = [];
    const hanging = { ...program(calls), wait: () => new Promise<never>(() => {}) };
    const UNDONE = defineWorkflow(
      {
        name: "undone",
        steps: {
          ship: { type: "ship", undo: "unship" } as never,
          wait: { type: "wait", depends_on: ["ship"] } as never,
          unship: { type: "unship" } as never,
        },
      },
      { actions: ["ship", "wait", "unship"] },
    );
    const first = await Daruma.open({ outputDir, actions: hanging });
    const runs: number[] = [];
    for (const key of ["one", "two"]) {
      const { runId } = await first.start(UNDONE, { key });
      await expect.poll(async () => (await first.store.readJobs(runId))[1]!.status, SLOW).toBe("running");
      runs.push(runId);
    }
    await first.close();
    const [one, two] = runs as [number, number];
    const other = await real.start({ outputDir });
    await other.cancel(one, "no");
    await other.cancel(two, "no");
    const status = async (run: number) => (await other.store.readRun(run))?.status;
    expect([await status(one), await status(two)]).toEqual(["running", "running"]);
    await other.operate(two, { type: "run.cancel", now: true, reason: "enough", key: null });
    expect(await status(two)).toBe("canceled");
    await other.close();
    const again = await real.start({ outputDir, actions: hanging });
    expect((await (await again.resume(one)).result).status).toBe("canceled");
    expect(calls).toEqual(["ship", "ship", "unship"]);
  });
});

describe("a managed run that needs a program", () => {
  const MIXED = `name: mixed
deadline: DEADLINE
steps:
  before: { exec: "echo before >> MARK" }
  ship: { type: ship, depends_on: [before] }
  beside: { exec: "echo beside >> MARK" }`;

  async function served(deadline: string) {
    const outputDir = (await real.start()).outputDir;
    const mark = `${outputDir}/mark`;
    const author = await Daruma.open({ outputDir, actions: program([]) });
    const text = MIXED.replace("DEADLINE", deadline).replaceAll("MARK", mark);
    const workflow = author.load(real.write("mixed.yaml", text));
    await author.close();
    const server = await ServerParts.open({ outputDir });
    const context = server.context(COMMAND_LINE);
    const runId = await context.runner!.start(workflow, {});
    const statuses = async () => (await context.store.readJobs(runId)).map(({ status }) => status);
    return { server, context, runId, mark, statuses };
  }

  it("is taken up: its command steps run, and the others stay ready for a program", {
    tags: ["R11"],
    timeout: HANG_MS,
  }, async () => {
    const { server, context, runId, mark, statuses } = await served("1h");
    try {
      await expect.poll(statuses, SLOW).toEqual(["completed", "ready", "completed"]);
      expect(readFileSync(mark, "utf8").split("\n").sort().join(" ")).toBe(" before beside");
      const events = (await context.store.readEvents(runId)).map(({ event }) => event.type);
      expect(events).not.toContain("attempt.failed");
      expect(context.runner!.listWaiting()).toMatchObject([
        { step: "ship", kind: "worker", reason: "it waits for a program with ship" },
      ]);
    } finally {
      await server.close();
    }
  });

  it("waits in a process that has no other workers, too", { tags: ["R11"] }, async () => {
    const outputDir = (await real.start()).outputDir;
    const author = await Daruma.open({ outputDir, actions: program([]) });
    const text = MIXED.replace("DEADLINE", "1h").replaceAll("MARK", `${outputDir}/mark`);
    const workflow = author.load(real.write("alone.yaml", text));
    await author.close();
    const alone = await real.start({ outputDir });
    const { runId } = await alone.begin(workflow, { managed: true });
    const statuses = async () => (await alone.store.readJobs(runId)).map(({ status }) => status);
    await expect.poll(statuses, SLOW).toEqual(["completed", "ready", "completed"]);
    expect(await log(alone, runId)).not.toContain("attempt.failed");
    const client = openLocalClient({ outputDir });
    const ship = await client.call("get_job", { run_id: runId, job_id: "ship" });
    expect(ship.waits_for).toMatchObject({ kind: "worker", text: "it waits for a program with ship" });
    await client.close();
  });

  it("ends at its deadline, and can be canceled", { tags: ["R11"], timeout: HANG_MS }, async () => {
    const { server, context, runId, statuses } = await served("1s");
    try {
      await expect.poll(async () => (await context.store.readRun(runId))?.status, SLOW).toBe("canceled");
      expect((await context.store.readRun(runId))?.error?.code).toBe("DEADLINE");
      expect(await statuses()).toEqual(["completed", "canceled", "completed"]);
      expect(existsSync(context.outputDir)).toBe(true);
    } finally {
      await server.close();
    }
  });
});
