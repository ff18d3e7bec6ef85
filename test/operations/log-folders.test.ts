import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { logFile, logFilesOf, logFolder, runLogFolder } from "../../src/run/worker/attempt-paths.js";
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

const logsAtTop = (): string[] => readdirSync(logFolder(base())).filter((name) => name.endsWith(".o"));

describe("log files", () => {
  it("lie in a folder for each run, under their names", { tags: ["D1"] }, async () => {
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

  it("go with their run, and only with it", { tags: ["D1"] }, async () => {
    const { run_id } = await bench.run(PRINTS);
    const exported = await bench.call("export_run", { run_id });
    const { run_id: taken } = await bench.call("import_run", { document: exported as never });
    expect(await textOf(taken)).toBe("out\n");
    expect(readdirSync(runLogFolder(base(), taken))).toHaveLength(4);
    const neighbour = (await bench.run(PRINTS)).run_id;
    await bench.context.store.deleteRun(neighbour);
    await bench.call("prune_runs", { older_than: "0s" });
    expect(logFilesOf(base(), new Set([run_id, taken]))).toEqual([]);
    expect(logFilesOf(base(), new Set([neighbour]))).toHaveLength(4);
  });

  it("that an earlier database left are not taken for what an attempt printed", async () => {
    const folder = join(fresh.folder, "out");
    const next = { workflowId: 1, runId: 1, jobId: 10_000_001, attempt: 1 };
    mkdirSync(runLogFolder(folder, next.runId), { recursive: true });
    writeFileSync(logFile(folder, next, "stdout"), "of another database");
    const { run_id, jobs } = await fresh.run("name: silent\nsteps: { a: { type: command, exec: 'true' } }");
    expect([run_id, jobs[0]!.id]).toEqual([next.runId, next.jobId]);
    const { text } = await fresh.call("get_job_logs", { job_id: next.jobId, stream: "stdout" });
    expect(text).toBe("");
  });
});
