import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Context } from "../../src/operations/context.js";
import type { RunDocument } from "../../src/operations/exchange/run-document.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import type { AllocationRow } from "../../src/store/cluster-rows.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";
import { portableRun } from "../support/portable-run.js";

const bench = new OperationBench();
const DAY_MS = 86_400_000;
const BIG = "head -c 100000 /dev/zero | tr '\\\\0' x";
const STORY = `name: story
unhandled: hold
failure_handlers:
  - { name: fix, rules: [{ exit_codes: [9], max_retries: 2, recovery_script: "echo repaired" }] }
steps:
  list: { type: script, content: "return ['x', 'y']", forEach: true }
  each: { type: command, exec: "echo {{ outputs.list }}", depends_on: [list] }
  sum: { type: command, exec: "echo {{ outputs.each }}", depends_on: [each], fanout: reduce }
  big: { type: command, exec: "${BIG}" }
  shaky: { type: command, exec: "exit 9", failure_handler: fix, depends_on: [big] }
  flaky: { type: command, exec: "exit 4", on_fail: { retry: { max: 1 }, run: [repair] } }
  repair: { type: noop }
  fallback: { type: noop }
  routed: { type: command, exec: "exit 5", depends_on: [big], on_fail: { goto: big } }
routing: { max_loops: 3 }
`;
const SHORT = `name: short
steps:
  a: { type: command, exec: "echo out; exit 3" }
  b: { type: command, exec: "${BIG}" }
`;

function allocationRow(changes: Partial<AllocationRow>): AllocationRow {
  return {
    ...{ key: "daruma-a", cluster: "hpc", id: "1", restart: 0, state: "running" },
    shape: { nodes: 1, cpus: 1, memoryBytes: 1, gpus: 0, runtimeMs: 1 },
    ...{
      tags: [],
      job_id: null,
      reason: "",
      server: "",
      token_id: null,
      folder: "",
      nodes: [],
      cancel: null,
    },
    owner: { host: "h", bootId: "b", pid: 1, processStart: "s", engine: "e" },
    ...{ created_at: 1, submitted_at: null, started_at: null, pilot_at: null, unknown_since: null },
    ...{ ended_at: null, outcome: null },
    ...changes,
  };
}

const exported = async (run_id: number, files = true): Promise<RunDocument> =>
  (await bench.call("export_run", { run_id, files })) as unknown as RunDocument;

describe("prune_runs", () => {
  it("removes allocations and tokens that have been over for as long, with their folders, and no others", async () => {
    const { store } = bench.context;
    const put = (hash: string, expiresAt: number | null) =>
      store.putToken({ name: "x", role: "worker", hash, at: 1, expiresAt });
    const [revoked, valid] = [await put("a", null), await put("b", null)];
    await put("c", 5);
    await store.revokeToken(revoked.id, 5);
    const folder = join(bench.folder, "allocation");
    mkdirSync(folder);
    const { cluster } = await store.readCluster("hpc");
    const ended = allocationRow({ key: "daruma-a", folder, state: "ended", ended_at: 5 });
    const live = allocationRow({ key: "daruma-b", folder: bench.folder });
    await store.writeCluster({ cluster, allocations: [ended, live] });
    const dry = await bench.call("prune_runs", { older_than: "1d", dry_run: true });
    expect([dry.allocations, dry.tokens, existsSync(folder)]).toEqual([1, 2, true]);
    const done = await bench.call("prune_runs", { older_than: "1d" });
    expect([done.allocations, done.tokens, existsSync(folder)]).toEqual([1, 2, false]);
    expect((await store.listAllocations({})).map(({ key }) => key)).toEqual(["daruma-b"]);
    expect((await store.listTokens()).map(({ id }) => id)).toEqual([valid.id]);
  });

  const later = (context: Context): Context => ({ ...context, now: () => Date.now() + 30 * DAY_MS });
  const filesOf = (run_id: number): string[] => {
    const output = join(bench.folder, "out", "output");
    const below = [output, join(output, "job_stdio"), join(bench.folder, "out", "work")];
    return below.map((folder) => join(folder, `run-${run_id}`)).filter((folder) => existsSync(folder));
  };

  it("removes runs that ended long ago with all their files, and only those", async () => {
    const [first, second] = [await bench.run(SHORT), await bench.run(SHORT)];
    const waiting = await bench.call("start_run", {
      source: "name: w\nsteps: { a: { type: human, prompt: 'ok?' } }",
    });
    expect((await bench.call("prune_runs", { older_than: "1d" })).removed).toEqual([]);
    const dry = await callIn(later(bench.context), "prune_runs", { older_than: "29d", dry_run: true });
    expect(dry.removed.map(({ run_id }) => run_id)).toEqual([second.run_id, first.run_id]);
    expect(filesOf(first.run_id)).toHaveLength(3);
    const only = { older_than: "29d", status: "completed" };
    expect((await callIn(later(bench.context), "prune_runs", only)).removed).toEqual([]);
    const done = await callIn(later(bench.context), "prune_runs", { older_than: "29d" });
    expect(done.removed).toEqual(dry.removed);
    expect([...filesOf(first.run_id), ...filesOf(second.run_id)]).toEqual([]);
    expect(await refusalOf(bench.call("get_run", { run_id: first.run_id }))).toBe("RUN_NOT_FOUND");
    expect((await bench.call("get_run", { run_id: waiting.run_id })).status).toBe("running");
    await bench.call("control_run", { run_id: waiting.run_id, action: "cancel", wait_ms: 10_000 });
  });

  it("keeps a run as long as one that is forked from it, directly or not, is under way", async () => {
    const source =
      "name: f\nsteps: { a: { type: noop }, ask: { type: human, prompt: 'ok?', depends_on: [a] } }";
    const first = await bench.call("start_run", { source });
    await bench.until(first.run_id, ({ jobs }) => jobs[1]?.status === "waiting");
    const second = await bench.call("fork_run", { run_id: first.run_id, step: "ask" });
    const third = await bench.call("fork_run", { run_id: second.run_id, step: "ask" });
    for (const { run_id } of [first, second])
      await bench.call("control_run", { run_id, action: "cancel", wait_ms: 10_000 });
    const request = { older_than: "29d" };
    const { kept } = await callIn(later(bench.context), "prune_runs", request);
    expect(kept.map(({ run_id }) => run_id)).toEqual([second.run_id, first.run_id]);
    await bench.call("control_run", { run_id: third.run_id, action: "cancel", wait_ms: 10_000 });
    const { removed } = await callIn(later(bench.context), "prune_runs", request);
    expect(removed.map(({ run_id }) => run_id)).toEqual(
      expect.arrayContaining([first.run_id, second.run_id, third.run_id]),
    );
  });

  it("takes only durations", async () => {
    expect(await refusalOf(bench.call("prune_runs", { older_than: "long" }))).toBe("INVALID_INPUT");
  });
});

describe("export_run and import_run", () => {
  it("bring a run into the same state under a new number, in the same store and in another", async () => {
    const old = await bench.run(STORY);
    expect(old.routes.length).toBeGreaterThan(2);
    const document = JSON.parse(JSON.stringify(await exported(old.run_id))) as RunDocument;
    const elsewhere: Context = {
      ...bench.context,
      store: createMemoryStore(),
      outputDir: join(bench.folder, "elsewhere"),
    };
    for (const context of [bench.context, elsewhere]) {
      const { run_id, status, exported_run_id } = await callIn(context, "import_run", {
        document: document as never,
      });
      expect([exported_run_id, status]).toEqual([old.run_id, old.status]);
      const before = portableRun((await loadRun(bench.context.store, old.run_id)).run);
      expect(portableRun((await loadRun(context.store, run_id)).run)).toEqual(before);
      const shown = await callIn(context, "get_run", { run_id });
      expect(shown.jobs.map(({ id }) => id - run_id * 10_000_000)).toEqual(shown.jobs.map((_, at) => at + 1));
      expect(shown.routes.map(({ step, rung, to, seq }) => [seq, step, rung, to])).toEqual(
        old.routes.map(({ step, rung, to, seq }) => [seq, step, rung, to]),
      );
      // Beside the story there is advice, which differs: an imported run has no server that goes on with it.
      const told = async (place: typeof context, id: number) => {
        const { lines } = await callIn(place, "explain_run", { run_id: id });
        return lines.map((line) => line.replaceAll(/\d+/g, "N"));
      };
      expect(await told(context, run_id)).toEqual(await told(bench.context, old.run_id));
    }
  });

  it("bring logs and large outputs along, and say what was left out", async () => {
    const old = await bench.run(SHORT);
    const document = await exported(old.run_id);
    expect(JSON.stringify(document)).not.toContain(bench.folder);
    const { run_id, files } = await bench.call("import_run", { document: document as never });
    expect(files).toBe(document.files.length);
    const { jobs } = await bench.call("get_run", { run_id });
    expect((await bench.call("get_job_logs", { job_id: jobs[0]!.id })).text).toBe("out\n");
    const output = jobs[1]!.output as { artifact: string; sha256: string };
    expect(output.artifact).toContain(`run-${run_id}`);
    expect(JSON.parse(readFileSync(output.artifact, "utf8"))).toBe("x".repeat(100_000));
    const bare = await exported(old.run_id, false);
    expect(bare.files).toEqual([]);
    expect((await bench.call("import_run", { document: bare as never })).status).toBe("failed");
  });

  it("leave a run that was under way as it was: nobody goes on with it by himself", async () => {
    const { run_id } = await bench.call("start_run", {
      source: "name: w\nsteps: { a: { type: human, prompt: 'ok?' } }",
      key: "of the original",
    });
    await bench.until(run_id, ({ jobs }) => jobs[0]?.status === "waiting");
    const imported = await bench.call("import_run", { document: (await exported(run_id)) as never });
    expect(imported.status).toBe("running");
    const row = (await bench.context.store.readRun(imported.run_id))!;
    expect([row.managed, row.wanted, row.parent, row.cause]).toEqual([false, false, null, null]);
    await bench.call("control_run", { run_id: imported.run_id, action: "cancel", wait_ms: 10_000 });
  });

  it("refuse what export did not write, and write nothing", async () => {
    const { run_id } = await bench.run(SHORT);
    const good = JSON.parse(JSON.stringify(await exported(run_id))) as RunDocument;
    const runs = await bench.call("list_runs", {});
    const target = join(bench.folder, "escaped");
    mkdirSync(join(bench.folder, "victim"));
    writeFileSync(join(bench.folder, "victim", "secret"), "secret");
    const withEvent = (at: number, change: object): RunDocument => ({
      ...good,
      events: good.events.map((logged, index) =>
        index === at ? { ...logged, event: { ...logged.event, ...change } as never } : logged,
      ),
    });
    const big = good.events.findIndex(
      ({ event }) => event.type === "attempt.succeeded" && event.output.kind === "artifact",
    );
    const file = (name: string): RunDocument => ({ ...good, files: [{ name, base64: "eA==" }] });
    const output = (path: string): RunDocument =>
      withEvent(big, { output: { kind: "artifact", path, bytes: 1, sha256: "", preview: "" } });
    const hostile: [string, unknown][] = [
      ["garbage", { format: "x", version: 1 }],
      ["a later version", { ...good, version: 4 }],
      ["an earlier version", { ...good, version: 2 }],
      ["an empty log", { ...good, events: [] }],
      ["a gap", { ...good, events: good.events.filter((_, at) => at !== 2) }],
      ["an unknown event", withEvent(1, { type: "run.exploded" })],
      ["a prototype's name as event", withEvent(1, { type: "constructor" })],
      ["a job that is not there", withEvent(1, { type: "job.released", job: run_id * 10_000_000 + 99 })],
      ["another status", { ...good, run: { ...good.run, status: "completed" } }],
      ["another workflow", { ...good, run: { ...good.run, workflow: "other" } }],
      ["no definition", { ...good, definition: "{" }],
      ["an empty definition", { ...good, definition: "null" }],
      ["a run id that is no number", { ...good, run: { ...good.run, id: 1e300 } }],
      ["a file above", file(`artifacts/../../../../${target}`)],
      ["an absolute file", file("artifacts//etc/cron.d/x")],
      ["a hidden file", file("artifacts/.bashrc")],
      ["a file elsewhere", file("daruma.db")],
      ["a log above", file("logs/../1_a1.o")],
      ["a file with a zero", file("artifacts/a\0b")],
      ["a git store", file("artifacts/workspace/store.git/config")],
      ["a git store in capitals", file("artifacts/Workspace/store.git/config")],
      ["a bare repository", file("artifacts/HEAD")],
      ["settings of git", file("artifacts/outputs/Config")],
      ["a repository beside", file("artifacts/state/evil.git/objects")],
      ["a place of git's settings", file("artifacts/outputs/commondir")],
      ["no base64", { ...good, files: [{ name: "artifacts/a", base64: "%%%" }] }],
      ["an output above", output("../../../victim/secret")],
      ["an absolute output", output(join(bench.folder, "victim", "secret"))],
      ["an output without a path", output(7 as never)],
    ];
    for (const [what, document] of hostile)
      expect([what, await refusalOf(bench.call("import_run", { document: document as never }))]).toEqual([
        what,
        "IMPORT_INVALID",
      ]);
    expect(existsSync(target)).toBe(false);
    expect(await bench.call("list_runs", {})).toEqual(runs);
  });
});
