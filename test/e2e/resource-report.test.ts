import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { OutputOf } from "../../src/operations/client.js";
import { CliFolder } from "../support/cli-folder.js";
import { LiveServers } from "../support/live-server.js";
import { LiveWorker } from "../support/live-worker.js";

type Resources = OutputOf<"get_resources">;

const cli = new CliFolder();
/** Holds 30 MiB until samples of it have been taken. */
const HOLDING = `perl -e '$x = "x" x (30*1024*1024); select(undef, undef, undef, 1.2)'`;
const FLOW = `
name: sampled
resource_monitor: { granularity: time_series, sample_interval_seconds: 0.1 }
jobs:
  - name: "hold_{i}"
    parameters: { i: "1:2" }
    command: ${JSON.stringify(HOLDING)}
    resource_requirements: { num_cpus: 1, memory: 4g, runtime: PT2H }
`;
const HEADER = "ms,processes,memory_bytes,cpu_ms,read_bytes,written_bytes";

describe.runIf(process.platform === "linux")("daruma resources", () => {
  it("says who asked for too much, and has samples of every attempt", { tags: ["L2"] }, async () => {
    const { report } = await cli.runJson(FLOW);
    const run = String(report.run_id);
    const { value } = await cli.json<Resources>("resources", run);
    expect(value).toMatchObject({ jobs: 2, attempts: 2, measured: 2, groups_left_out: 0, timeline: null });
    const [group] = value.groups;
    expect(group).toMatchObject({ name: "hold_*", jobs: 2, asked: { memory_bytes: 4 * 1024 ** 3 } });
    expect(group!.findings.map(({ kind, resource }) => `${kind} ${resource}`)).toEqual([
      "asked_too_much memory",
      "asked_too_much runtime",
    ]);
    expect(group!.suggestion).toMatch(
      /^resource_requirements: \{ num_cpus: 1, memory: \d+m, runtime: 1m \}$/,
    );
    const { stdout: text } = await cli.daruma("resources", run);
    expect(text).toContain("Asked for ten times too much:");
    expect(text).toContain(group!.suggestion!);
    const { stdout: samples } = await cli.daruma("logs", run, "hold_1", "--usage");
    const [header, first] = samples.split("\n");
    expect(header).toBe(HEADER);
    expect(first).toMatch(/^\d+(?:,\d+){5}$/);
  });

  it("takes no samples where nobody asked for them", async () => {
    const { report } = await cli.runJson("name: plain\njobs: [{ name: a, command: 'sleep 0.3' }]");
    const names = readdirSync(join(cli.outputDir, "output", "job_stdio"), {
      recursive: true,
      encoding: "utf8",
    });
    expect(names.filter((name) => name.includes(`_r${report.run_id}_`) && name.endsWith(".csv"))).toEqual([]);
    const refused = await cli.daruma("logs", String(report.run_id), "a", "--usage");
    expect(refused.stderr).toContain("nothing was sampled");
  });

  it("goes with the run when it is exported, imported and pruned", async () => {
    const exported = await cli.daruma("export", "1");
    const { value } = await cli.json<{ run_id: number }>("import", cli.write("run.json", exported.stdout));
    const run = String(value.run_id);
    expect((await cli.daruma("logs", run, "hold_1", "--usage")).stdout.split("\n")[0]).toBe(HEADER);
    expect((await cli.json<Resources>("resources", run)).value.groups[0]).toMatchObject({ name: "hold_*" });
    await cli.daruma("prune", "--older-than", "0s");
    expect(readdirSync(join(cli.outputDir, "output", "job_stdio"))).toEqual([]);
  });
});

describe.runIf(process.platform === "linux")("samples of attempts on other machines", () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-sampled-"));
  const servers = new LiveServers();
  let worker: LiveWorker | null = null;
  afterAll(async () => {
    await worker?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  it("arrive with the logs, and REST has the report", async () => {
    const server = await servers.start({ maxParallel: 0 });
    worker = new LiveWorker(folder, { servers: [server.url], slots: 2 });
    const run = await server.run(FLOW.replace("memory: 4g", "memory: 256m"));
    expect(await server.until(run, "completed", "held", "failed")).toBe("completed");
    const { body } = await server.ask<Resources>("GET", `/api/v1/runs/${run}/resources?series=5`);
    expect(body.series.map(({ name }) => name).sort()).toEqual(["hold_1", "hold_2"]);
    expect(Math.max(...body.series[0]!.samples.map(({ memory_bytes }) => memory_bytes))).toBeGreaterThan(
      20 * 1024 ** 2,
    );
    expect(body.timeline!.running.length).toBeGreaterThan(1);
    expect(body.total.cpu_ms).toBeGreaterThan(0);
    expect(existsSync(join(server.outputDir, "output", "job_stdio"))).toBe(true);
  });
});
