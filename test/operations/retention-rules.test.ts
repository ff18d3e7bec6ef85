import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  FINAL_STATUSES,
  NO_RETENTION,
  type RetentionRule,
  type RetentionSettings,
} from "../../src/file/settings/retention.js";
import { RetentionKeeper } from "../../src/host/retention-keeper.js";
import type { Context } from "../../src/operations/context.js";
import { applyRetention } from "../../src/operations/retention/apply-retention.js";
import { planRetention } from "../../src/operations/retention/plan-retention.js";
import {
  noteRemovedFiles,
  noteRemovedRuns,
  removeFiles,
  removeLogs,
} from "../../src/operations/retention/removed-files.js";
import { listPasses } from "../../src/operations/retention/retention-passes.js";
import { RunFiles } from "../../src/operations/retention/run-files.js";
import { systemClock } from "../../src/run/engine/clock.js";
import { LeaseKeeper } from "../../src/run/engine/lease-keeper.js";
import {
  logFile,
  logFolder,
  runFolder,
  runLogFolder,
  workFolderOf,
} from "../../src/run/worker/attempt-paths.js";
import { currentOwner, isDead } from "../../src/store/lease-owner.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const DAY_MS = 86_400_000;
const BIG = "head -c 100000 /dev/zero | tr '\\\\0' x";
const PRINTS = (name: string): string =>
  `name: ${name}\nsteps: { a: { type: command, exec: "echo out" }, b: { type: command, exec: "${BIG}" } }`;

const rule = (bounds: Partial<RetentionRule>): RetentionRule => ({
  ...{ olderThanMs: null, keepLast: null, maxBytes: null, status: FINAL_STATUSES },
  ...bounds,
});
const base = (): string => join(bench.folder, "out");
const later = (retention: Partial<RetentionSettings> = {}): Context => ({
  ...bench.context,
  now: () => Date.now() + 30 * DAY_MS,
  retention: () => ({ ...NO_RETENTION, ...retention }),
});
const ids = (items: readonly { readonly run_id: number }[]): number[] => items.map(({ run_id }) => run_id);
const isThere = async (run_id: number): Promise<boolean> =>
  (await bench.context.store.readRun(run_id)) !== null;

afterEach(async () => void (await callIn(later(), "prune_runs", { older_than: "0s" })));

describe("prune without a bound", () => {
  it("follows the rules of the settings, and a dry run shows what it would do", {
    tags: ["D2"],
  }, async () => {
    const runs = [];
    for (const _ of [1, 2, 3]) runs.push((await bench.run(PRINTS("a"))).run_id);
    const rare = (await bench.run(PRINTS("rare"))).run_id;
    const rules = {
      runs: rule({ keepLast: 2 }),
      logs: rule({ keepLast: 1 }),
      artifacts: rule({ maxBytes: 150_000 }),
    };
    const dry = await callIn(later(rules), "prune_runs", { dry_run: true });
    expect(dry).toMatchObject({ rules: "settings", ended_before: null });
    expect([ids(dry.removed), ids(dry.logs), ids(dry.artifacts)]).toEqual([
      [runs[0]],
      [runs[1]],
      [runs[2], runs[1]],
    ]);
    expect(dry.removed[0]).toMatchObject({ because: "a has 2 newer runs" });
    expect(dry.bytes).toBeGreaterThan(300_000);
    expect(await isThere(runs[0]!)).toBe(true);
    const done = await callIn(later(rules), "prune_runs", {});
    expect({ ...done, dry_run: true }).toEqual(dry);
    expect([await isThere(runs[0]!), await isThere(runs[1]!), await isThere(rare)]).toEqual([
      false,
      true,
      true,
    ]);
    expect(existsSync(runLogFolder(base(), runs[1]!))).toBe(false);
    expect(existsSync(runLogFolder(base(), runs[2]!))).toBe(true);
    expect(existsSync(runFolder(base(), runs[2]!))).toBe(false);
    expect(existsSync(runFolder(base(), rare))).toBe(true);
    const again = await callIn(later(rules), "prune_runs", {});
    expect([again.removed, again.logs, again.artifacts]).toEqual([[], [], []]);
  });

  it("is refused where nothing says what to remove", async () => {
    expect(await refusalOf(callIn(later(), "prune_runs", {}))).toBe("INVALID_INPUT");
    const rules = { runs: rule({ keepLast: 2 }) };
    expect(await refusalOf(callIn(later(rules), "prune_runs", { status: "failed" }))).toBe("INVALID_INPUT");
    expect(await refusalOf(callIn(later(), "prune_runs", { max_size: "much" }))).toBe("INVALID_INPUT");
  });

  it("leaves imported runs and those of the last hour alone, which a bound on the command line does not", async () => {
    const { run_id } = await bench.run(PRINTS("a"));
    const document = await bench.call("export_run", { run_id });
    const imported = (await bench.call("import_run", { document: document as never })).run_id;
    const rules = { runs: rule({ keepLast: 0 }) };
    const young = { ...later(rules), now: Date.now };
    expect(ids((await callIn(young, "prune_runs", {})).removed)).toEqual([]);
    expect(ids((await callIn(later(rules), "prune_runs", {})).removed)).toEqual([run_id]);
    expect(ids((await bench.call("prune_runs", { keep_last: 0 })).removed)).toEqual([imported]);
  });
});

describe("logs and artifacts that were removed", () => {
  it("are said to be removed, and not taken for a step that printed nothing", { tags: ["D2"] }, async () => {
    const { run_id, jobs } = await bench.run(
      "name: f\nsteps: { a: { type: command, exec: 'echo no; exit 3', on_fail: { retry: { max: 1 } } } }",
    );
    await callIn(later({ logs: rule({ keepLast: 0 }), artifacts: rule({ keepLast: 0 }) }), "prune_runs", {});
    const job_id = jobs[0]!.id;
    const refused = [
      await refusalOf(bench.call("get_job_logs", { job_id })),
      await refusalOf(bench.call("get_job_logs", { job_id, stream: "summary" })),
      await refusalOf(bench.call("get_artifact", { run_id, name: "summaries/x.txt" })),
    ];
    expect(refused).toEqual(["FILES_REMOVED", "FILES_REMOVED", "FILES_REMOVED"]);
    // What the log of the run itself holds is still there.
    const { jobs: after } = await bench.call("get_run", { run_id });
    expect(after[0]!.error).toMatchObject({ code: "EXIT_3", stdout_tail: "no\n" });
  });

  it("say nothing of attempts that come later", async () => {
    const { run_id, jobs } = await bench.run(
      "name: s\nsteps: { a: { type: command, exec: 'test -e there || echo no; test -e there' } }",
    );
    noteRemovedFiles(base(), run_id, "logs", new Date().toISOString());
    await removeLogs(base(), new Set([run_id]));
    expect(await refusalOf(bench.call("get_job_logs", { job_id: jobs[0]!.id }))).toBe("FILES_REMOVED");
    writeFileSync(join(workFolderOf(base(), run_id), "there"), "");
    await bench.call("retry_job", { job_id: jobs[0]!.id, max_retries: 9 } as never);
    await bench.until(run_id, ({ status }) => status === "completed");
    expect((await bench.call("get_job_logs", { job_id: jobs[0]!.id })).text).toBe("");
  });
});

describe("what somebody still needs", () => {
  it("stays: logs and artifacts of a run that was taken up again after the plan was made", {
    tags: ["D2"],
  }, async () => {
    const failing = "name: t\nsteps: { a: { type: command, exec: 'echo no; test -e there' } }";
    const { run_id, jobs } = await bench.run(failing);
    const { store } = bench.context;
    const now = Date.now() + 30 * DAY_MS;
    const place = { store, outputDir: base(), files: new RunFiles(base()), now, byItself: true };
    const all = rule({ keepLast: 0 });
    const plan = await planRetention(place, { runs: null, logs: all, artifacts: all });
    expect(plan).toMatchObject({ logs: [{ run: { id: run_id } }], artifacts: [{ run: { id: run_id } }] });
    writeFileSync(join(workFolderOf(base(), run_id), "there"), "");
    await bench.call("retry_job", { job_id: jobs[0]!.id, max_retries: 9 } as never);
    await bench.until(run_id, ({ status }) => status === "completed");
    const done = await applyRetention(place, plan);
    expect(done).toMatchObject({ logs: [], artifacts: [] });
    expect(done.kept).toContainEqual({ runId: run_id, because: "it is in use" });
    expect(existsSync(join(workFolderOf(base(), run_id), "there"))).toBe(true);
    expect(existsSync(runLogFolder(base(), run_id))).toBe(true);
  });

  it("stays: what a link that a step has left points to", { tags: ["D2"] }, async () => {
    const { run_id } = await bench.run(PRINTS("l"));
    const outside = mkdtempSync(join(tmpdir(), "daruma-outside-"));
    try {
      writeFileSync(join(outside, "job_wf1_j1_r1_a1.o"), "mine");
      for (const folder of [runFolder(base(), run_id), runLogFolder(base(), run_id)]) {
        rmSync(folder, { recursive: true, force: true });
        symlinkSync(outside, folder);
      }
      mkdirSync(workFolderOf(base(), run_id), { recursive: true });
      symlinkSync(outside, join(workFolderOf(base(), run_id), "link"));
      await callIn(later(), "prune_runs", { older_than: "0s" });
      expect(await isThere(run_id)).toBe(false);
      expect(readdirSync(outside)).toEqual(["job_wf1_j1_r1_a1.o"]);
      expect(existsSync(runFolder(base(), run_id))).toBe(false);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it("stays: the run that another, which is not over, reuses jobs of", async () => {
    const source = (more: string): string =>
      `name: r\nsteps: { a: { type: command, exec: "${BIG}" }, ask: { type: human, prompt: 'ok${more}', depends_on: [a] } }`;
    const first = await bench.call("start_run", { source: source("") });
    const waits = await bench.until(first.run_id, ({ jobs }) => jobs[1]?.status === "waiting");
    await bench.call("answer_job", { job_id: waits.jobs[1]!.id, choice: "approve" } as never);
    await bench.settled(first.run_id);
    const second = await bench.call("start_run", { source: source("?"), reuse: first.run_id } as never);
    await bench.until(second.run_id, ({ jobs }) => jobs[1]?.status === "waiting");
    const { kept, removed } = await callIn(later(), "prune_runs", { older_than: "1d" });
    expect([ids(kept), removed]).toEqual([[first.run_id], []]);
    await bench.call("control_run", { run_id: second.run_id, action: "cancel", wait_ms: 10_000 });
  });

  it("stays: a run that a campaign has yet to try", { tags: ["D3"] }, async () => {
    const { run_id } = await bench.run("name: k\nsteps: { a: { type: command, exec: 'exit 3' } }");
    const { store } = bench.context;
    const { jobs } = await bench.call("get_run", { run_id });
    const item = {
      ...{
        run_id,
        job_id: jobs[0]!.id,
        visit: 1,
        attempt: 1,
        kind: "failed" as const,
        state: "waiting" as const,
      },
      ...{ code: null, wave: null, sent_at: null },
    };
    const plan = {
      ...{ action: "retry" as const, canary: 1, factor: 2, per_minute: null, stop_at: 0.2, wait_ms: 1_000 },
      ...{ reason: "", by: "tester" },
    };
    const created = await store.createCampaign({
      ...{ state: "paused", why: null, created_at: 1, wave: 0, plan, items: [item], left_out: [] },
    });
    if ("taken" in created) throw new Error("taken");
    const { kept } = await callIn(later(), "prune_runs", { older_than: "1d" });
    expect(kept).toEqual([{ run_id, because: `campaign ${created.id} is not over` }]);
    await store.writeCampaign({ ...(await store.readCampaign(created.id))!, state: "stopped" });
    expect(ids((await callIn(later(), "prune_runs", { older_than: "1d" })).removed)).toEqual([run_id]);
  });

  it("stays counted in the failure book", { tags: ["D3"] }, async () => {
    const { run_id } = await bench.run(
      "name: booked\nsteps: { a: { type: command, exec: 'echo odd >&2; exit 3' } }",
    );
    const counts = async () =>
      (await bench.call("list_failures", { workflow: "booked" } as never)).items.map(
        ({ occurrences }) => occurrences,
      );
    const before = await counts();
    expect(before).toEqual([1]);
    expect(ids((await callIn(later(), "prune_runs", { keep_last: 0 })).removed)).toContain(run_id);
    expect(await counts()).toEqual(before);
  });
});

describe("a server with retention in its settings", () => {
  const keeperOf = (folder: string, rules: Partial<RetentionSettings>, told: string[]): RetentionKeeper => {
    const { store } = bench.context;
    const clock = { ...systemClock, now: () => Date.now() + 30 * DAY_MS };
    const owner = currentOwner("keeper");
    return new RetentionKeeper({
      ...{ store, clock, outputDir: folder, host: owner.host },
      leases: new LeaseKeeper(store, clock, owner, isDead),
      rules: { ...NO_RETENTION, ...rules },
      tell: (text) => told.push(text),
    });
  };

  it("removes what is beyond, says so, and leaves a record", { tags: ["D2"] }, async () => {
    const first = (await bench.run(PRINTS("a"))).run_id;
    const second = (await bench.run(PRINTS("a"))).run_id;
    const told: string[] = [];
    const keeper = keeperOf(base(), { runs: rule({ keepLast: 1 }), logs: rule({ keepLast: 0 }) }, told);
    keeper.start();
    while ((await isThere(first)) || existsSync(runLogFolder(base(), second)) || told.length < 2)
      await new Promise((resolve) => setTimeout(resolve, 20));
    await keeper.stop();
    expect(await isThere(second)).toBe(true);
    expect(told.join("\n")).toMatch(/retention: removed 1 run \(/);
    const [pass] = await listPasses(bench.context.store, Date.now());
    expect(pass).toMatchObject({ host: currentOwner("x").host, error: null });
    expect(pass!.removed).not.toBeNull();
  });

  it("removes tokens that have been over for as long, and no others", { tags: ["D2"] }, async () => {
    const { store } = bench.context;
    const put = (hash: string, expiresAt: number | null) =>
      store.putToken({ name: "x", role: "worker", hash, at: 1, expiresAt });
    const [revoked, valid, expired] = [await put("r", null), await put("v", null), await put("e", 5)];
    const fresh = await put("f", Date.now() + 29 * DAY_MS);
    await store.revokeToken(revoked.id, 5);
    const left = async () => (await store.listTokens()).map(({ id }) => id);
    const keeper = keeperOf(base(), { runs: rule({ olderThanMs: 2 * DAY_MS }) }, []);
    keeper.start();
    while ((await left()).includes(expired.id)) await new Promise((resolve) => setTimeout(resolve, 20));
    await keeper.stop();
    expect(await left()).toEqual([valid.id, fresh.id]);
  });

  it("removes the files of runs that it removed just before it was killed", async () => {
    const { run_id } = await bench.run(PRINTS("a"));
    const other = (await bench.run(PRINTS("a"))).run_id;
    const { store } = bench.context;
    await noteRemovedRuns(store, [run_id], Date.now());
    expect([await store.deleteRun(run_id), await store.deleteRun(other)]).toEqual([true, true]);
    expect(existsSync(runLogFolder(base(), run_id))).toBe(true);
    const keeper = keeperOf(base(), {}, []);
    keeper.start();
    while (existsSync(runFolder(base(), run_id)) || existsSync(runLogFolder(base(), run_id)))
      await new Promise((resolve) => setTimeout(resolve, 20));
    await keeper.stop();
    // A run whose removal nobody has noted keeps its files, though its row is gone.
    expect([existsSync(runFolder(base(), run_id)), existsSync(runLogFolder(base(), run_id))]).toEqual([
      false,
      false,
    ]);
    expect([existsSync(runFolder(base(), other)), existsSync(runLogFolder(base(), other))]).toEqual([
      true,
      true,
    ]);
    await removeFiles(base(), new Set([other]));
  });

  it("removes its own files of a run that another server of the store has removed, and of no other", async () => {
    const { run_id } = await bench.run(PRINTS("a"));
    const other = mkdtempSync(join(tmpdir(), "daruma-other-"));
    const name = { workflowId: 1, runId: run_id, jobId: 1, attempt: 1 };
    for (const run of [run_id, run_id + 1]) {
      mkdirSync(runFolder(other, run), { recursive: true });
      mkdirSync(runLogFolder(other, run), { recursive: true });
    }
    writeFileSync(logFile(other, name, "stdout"), "x");
    await callIn(later(), "prune_runs", { keep_last: 0 });
    const keeper = keeperOf(other, {}, []);
    keeper.start();
    while (existsSync(runFolder(other, run_id)) || existsSync(runLogFolder(other, run_id)))
      await new Promise((resolve) => setTimeout(resolve, 20));
    await keeper.stop();
    expect(readdirSync(logFolder(other))).toEqual([`run-${run_id + 1}`]);
    rmSync(other, { recursive: true });
  });
});
