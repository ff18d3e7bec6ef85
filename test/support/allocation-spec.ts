import type { AllocationSpec } from "../../src/fleet/allocations/provider.js";

/** One that every cluster of the tests can run. */
export function allocationSpec(change: Partial<AllocationSpec> = {}): AllocationSpec {
  return {
    key: "daruma-test",
    cluster: "hpc",
    shape: { nodes: 1, cpus: 1, memoryBytes: 100 * 1024 ** 2, gpus: 0, runtimeMs: 300_000 },
    target: null,
    tags: ["cpu"],
    excludeNodes: [],
    drainMs: 60_000,
    idleExitMs: 60_000,
    server: "http://127.0.0.1:4000",
    tokenFile: "/shared/token",
    logFile: "/dev/null",
    profile: { options: [], setup: [], program: ["daruma"] },
    ...change,
  };
}
