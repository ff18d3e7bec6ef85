import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunDocument } from "../../src/operations/exchange/run-document.js";
import { earlierLogFile, logFilesOf, logFolder, runLogFolder } from "../../src/worker/attempt-paths.js";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();
/** Nothing has run on it yet. */
const fresh = new OperationBench();
const PRINTS =
  "name: prints\nsteps: { a: { type: command, exec: 'echo out; echo err >&2; exit 3', on_fail: { retry: { max: 1 } } } }";

const base = (): string => join(bench.folder, "out");
const textOf = async (run_id: number, stream: "stdout" | "stderr" = "stdout"): Promise<string> => {
  const { jobs } = await bench.call("get_run", { run_id });
  return (await bench.call("get_job_logs", { job_id: jobs[0]!.id, stream })).text;
};

/** As a version before the folders by run left them: all logs of all runs side by side. */
function moveToEarlierPlace(runId: number): void {
  const folder = runLogFolder(base(), runId);
  for (const name of readdirSync(folder)) renameSync(join(folder, name), join(logFolder(base()), name));
}

const logsAtTop = (): string[] => readdirSync(logFolder(base())).filter((name) => name.endsWith(".o"));

describe("log files", () => {
  it("lie in a folder for each run, under the names they always had", { tags: ["D1"] }, async () => {
    const first = await bench.run(PRINTS);
    const second = await bench.run(PRINTS);
    for (const { run_id, jobs } of [first, second]) {
      const names = ["a1.e", "a1.o", "a2.e", "a2.o"].map(
        (end) => `job_wf1_j${jobs[0]!.id}_r${run_id}_${end}`,
      );
      expect(readdirSync(runLogFolder(base(), run_id)).sort()).toEqual(names);
    }
    expect(logsAtTop()).toEqual([]);
  });

  it("of a run that an earlier version made are shown, exported and pruned where they lie", {
    tags: ["D1"],
  }, async () => {
    const { run_id } = await bench.run(PRINTS);
    const before = (await bench.call("export_run", { run_id })) as unknown as RunDocument;
    moveToEarlierPlace(run_id);
    const neighbour = (await bench.run(PRINTS)).run_id;
    moveToEarlierPlace(neighbour);
    expect([await textOf(run_id), await textOf(run_id, "stderr")]).toEqual(["out\n", "err\n"]);
    const after = (await bench.call("export_run", { run_id })) as unknown as RunDocument;
    expect(after.files).toEqual(before.files);
    expect(after.files.map(({ name }) => name)).toContain("logs/1_a2.o");
    const { run_id: taken } = await bench.call("import_run", { document: after as never });
    expect(await textOf(taken)).toBe("out\n");
    expect(readdirSync(runLogFolder(base(), taken))).toHaveLength(4);
    const { store } = bench.context;
    await store.deleteRun(neighbour);
    await bench.call("prune_runs", { older_than: "0s" });
    expect(logFilesOf(base(), new Set([run_id, taken]))).toEqual([]);
    // Only what belongs to the pruned run is gone.
    expect(logFilesOf(base(), new Set([neighbour]))).toHaveLength(4);
  });

  it("of a run that goes on with this version are read from both places", async () => {
    const { run_id, jobs } = await bench.run(PRINTS);
    moveToEarlierPlace(run_id);
    await bench.call("retry_job", { job_id: jobs[0]!.id, max_retries: 9, reason: "again" } as never);
    await bench.settled(run_id);
    const attempt = async (number: number): Promise<string> =>
      (await bench.call("get_job_logs", { job_id: jobs[0]!.id, attempt: number, stream: "stdout" })).text;
    expect([await attempt(1), await attempt(3)]).toEqual(["out\n", "out\n"]);
    const places = logFilesOf(base(), new Set([run_id])).filter((file) => file.endsWith(".o"));
    expect(places.map((file) => basename(join(file, "..")))).toEqual([
      `run-${run_id}`,
      `run-${run_id}`,
      "job_stdio",
      "job_stdio",
    ]);
  });

  it("that an earlier database left in the earlier place are not taken for what an attempt printed", async () => {
    const folder = join(fresh.folder, "out");
    const next = { workflowId: 1, runId: 1, jobId: 10_000_001, attempt: 1 };
    mkdirSync(logFolder(folder), { recursive: true });
    writeFileSync(earlierLogFile(folder, next, "stdout"), "of another database");
    const { run_id, jobs } = await fresh.run("name: silent\nsteps: { a: { type: command, exec: 'true' } }");
    expect([run_id, jobs[0]!.id]).toEqual([next.runId, next.jobId]);
    const { text } = await fresh.call("get_job_logs", { job_id: next.jobId, stream: "stdout" });
    expect(text).toBe("");
  });
});
