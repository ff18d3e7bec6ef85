import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refuseClusterSteps, refuseWorkspaceOnCluster } from "../../src/file/settings/cluster-steps.js";
import { callOperation } from "../../src/operations/call-operation.js";
import type { ClusterControl, Context } from "../../src/operations/context.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import { FakeCluster } from "../support/fake-cluster.js";
import { jobs, SupervisorBench, settingsOf } from "../support/supervisor-bench.js";

const WORKFLOW = `steps:
  small: { exec: "true", runs_on: [hpc], resource_requirements: { num_cpus: 2, memory: 100m, runtime: 5m } }
  huge: { exec: "true", runs_on: [hpc], resource_requirements: { num_cpus: 64 } }
  here: { exec: "true" }
`;

function contextWith(changes: Partial<Context> = {}): Context {
  const cluster = new FakeCluster();
  const settings = settingsOf("    account: project\n");
  const clusters: ClusterControl = {
    settings: [settings],
    server: () => "http://login1:7420",
    targets: async () => cluster.targets,
    planOf: (_name, spec, targets) => cluster.plan(spec, targets),
    planNow: async () => null,
    impossible: () => [],
    wake: () => {},
  };
  return {
    store: createMemoryStore(),
    outputDir: "/out",
    principal: { name: "me", role: "admin" },
    now: () => 0,
    operate: () => Promise.reject(new Error("no runs")),
    runner: null,
    clusters,
    customActions: [],
    ...changes,
  };
}

describe("plan_cluster", () => {
  it("shows for a file what would be submitted, with script and reason, and what can never run", async () => {
    const plan = await callOperation(contextWith(), "plan_cluster", { source: WORKFLOW, dry_run: true });
    expect(plan).toMatchObject({
      dry_run: true,
      items: [{ cluster: "hpc", cpus: 2, num_nodes: 1, steps: ["small"], reason: "1 job is waiting" }],
      waits: [],
      impossible: [{ cluster: "hpc", step: "huge", reason: "it needs 64 cpus, and a node has 4" }],
    });
    const [item] = (plan as { items: { command: string; script: string }[] }).items;
    expect(item?.command).toContain("--account=project");
    expect(item?.script).toContain("worker --server=");
  });

  it("says that the batch system does not answer, with its words", async () => {
    const context = contextWith();
    const silent = { ...context.clusters!, targets: () => Promise.reject(new Error("sinfo did not answer")) };
    await expect(
      callOperation({ ...context, clusters: silent }, "plan_cluster", { source: WORKFLOW, dry_run: true }),
    ).rejects.toMatchObject({ code: "CLUSTER_UNREACHABLE", message: "hpc: sinfo did not answer" });
  });

  it("submits nothing for a file, and plans nothing without clusters", async () => {
    await expect(callOperation(contextWith(), "plan_cluster", { source: WORKFLOW })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    const none = contextWith({ clusters: null });
    await expect(
      callOperation(none, "plan_cluster", { source: WORKFLOW, dry_run: true }),
    ).rejects.toMatchObject({ code: "CLUSTER_NOT_FOUND" });
  });
});

describe("allocations", () => {
  it("are listed and found by id, and one that is canceled ends with the next look", async () => {
    const bench = new SupervisorBench();
    bench.demands = jobs(1);
    await bench.supervisor().start();
    const context = contextWith({ store: bench.store });
    expect(await callOperation(context, "list_allocations", { live: true })).toMatchObject({
      items: [{ cluster: "hpc", id: "1", state: "pending", cpus: 1 }],
      suspended: [],
    });
    bench.demands = [];
    const target = "hpc/1";
    expect(await callOperation(context, "control_allocations", { action: "cancel", target })).toEqual({
      target: "daruma-hpc-1",
      state: "ending",
    });
    await bench.polls(2);
    expect(bench.cluster.canceled).toEqual(["1 now"]);
    const shown = await callOperation(context, "list_allocations", { allocation: "1" });
    expect(shown).toMatchObject({ items: [{ state: "ended", end: { code: "DRAINED" }, log: "" }] });
    await expect(
      callOperation(context, "control_allocations", { action: "drain", target: "7" }),
    ).rejects.toMatchObject({ code: "ALLOCATION_NOT_FOUND" });
  });

  it("whose log is a pipe do not keep the server waiting for somebody to write to it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "daruma-allocations-"));
    const bench = new SupervisorBench();
    bench.demands = jobs(1);
    await bench.supervisor(1, { folder }).start();
    const [row] = await bench.store.listAllocations({});
    mkdirSync(row!.folder);
    execFileSync("mkfifo", [join(row!.folder, "worker.log")]);
    const context = contextWith({ store: bench.store });
    expect(await callOperation(context, "list_allocations", { allocation: "1" })).toMatchObject({
      items: [{ state: "pending", log: "" }],
    });
    rmSync(folder, { recursive: true });
  });

  it("of a suspended cluster are submitted again after resume", async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
    bench.demands = jobs(1);
    bench.cluster.answers.push({ refused: "DENIED", message: "invalid account", retryable: false });
    await bench.supervisor().start();
    const context = contextWith({ store: bench.store });
    expect(await callOperation(context, "list_allocations", {})).toMatchObject({
      suspended: [{ cluster: "hpc", kind: "refused" }],
    });
    const resume = { action: "resume", target: "hpc" };
    expect(await callOperation(context, "control_allocations", resume)).toEqual({
      target: "hpc",
      state: "resumed",
    });
    await bench.polls();
    expect(bench.cluster.submitted).toHaveLength(1);
    await expect(
      callOperation(context, "control_allocations", { action: "resume", target: "other" }),
    ).rejects.toMatchObject({ code: "CLUSTER_NOT_FOUND" });
  });
});

describe("steps that ask for a cluster", () => {
  const clusters = [{ name: "hpc", tags: ["hpc"] }];
  const step = (changes: object) => ({ steps: [{ id: "a", runsOn: ["hpc"], ...changes }] as never });

  it("are refused where they work in the workspace, and by who has no server", () => {
    expect(() => refuseWorkspaceOnCluster(step({ usesWorkspace: true }), clusters)).toThrow(
      "step a works in the run's workspace and asks for the cluster hpc",
    );
    expect(() => refuseWorkspaceOnCluster(step({ usesWorkspace: false }), clusters)).not.toThrow();
    expect(() => refuseClusterSteps(step({}), clusters)).toThrow("which is the cluster hpc");
    expect(() => refuseClusterSteps(step({ runsOn: ["linux"] }), clusters)).not.toThrow();
  });
});
