import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { REAL_CLUSTER_TIMEOUT_MS, until } from "../support/cluster/real-allocations.js";
import { LONG_AT_FIRST, SlurmServer, steps } from "../support/cluster/slurm-server.js";
import { clusterSuite, whyNoCluster } from "../support/cluster/test-cluster.js";

const TIMEOUT = { timeout: REAL_CLUSTER_TIMEOUT_MS };

describe.skipIf(whyNoCluster("slurm") !== null)(clusterSuite("slurm", "a server with a real Slurm"), () => {
  const slurm = new SlurmServer();

  it("runs 300 jobs over three nodes, each once, and leaves the queue empty", {
    ...TIMEOUT,
    tags: ["T34"],
  }, async () => {
    const run = await slurm.server.submit(
      "many",
      `jobs:
  - name: job_{i}
    command: sleep 0.3
    parameters: { i: "1:300" }
    runs_on: [hpc]
    resource_requirements: { num_cpus: 1, memory: 100m, runtime: 30m }
`,
    );
    expect(await slurm.server.ends(run)).toBe("completed");
    const jobs = await slurm.server.jobs(run);
    expect(jobs).toHaveLength(300);
    expect(new Set(jobs.map(({ attempts }) => attempts))).toEqual(new Set([1]));
    const started = (await slurm.server.events(run)).filter(({ type }) => type === "attempt.started");
    expect(started).toHaveLength(300);
    expect(new Set(started.map(({ node }) => node))).toEqual(new Set(slurm.cluster.nodes));
    expect(
      started.every(({ allocation, restart }) => /^hpc\/\d+$/.test(String(allocation)) && restart === 0),
    ).toBe(true);
    await slurm.idle();
    expect(await slurm.cluster.command("squeue", "--noheader")).toBe("");
    expect((await slurm.server.allocations()).map(({ end }) => end?.code)).toEqual([
      "DRAINED",
      "DRAINED",
      "DRAINED",
    ]);
  });

  it("fails a job over its memory with OOM and one over its runtime with WALLTIME", TIMEOUT, async () => {
    const run = await slurm.server.submit(
      "limits",
      `steps:
  hungry:
    exec: 'x=a; while :; do x=$x$x; done'
    runs_on: [hpc]
    resource_requirements: { memory: 64m, runtime: 2m }
  slow:
    exec: sleep 60
    runs_on: [hpc]
    resource_requirements: { memory: 64m, runtime: 3s }
`,
    );
    await slurm.server.ends(run);
    const jobs = await slurm.server.jobs(run);
    expect(jobs.map(({ step, error }) => [step, error?.code, error?.class])).toEqual([
      ["hungry", "OOM", "resource"],
      ["slow", "WALLTIME", "resource"],
    ]);
  });

  it("heals by an exit-code rule with a recovery script in the allocation; a job that is ready later gets a new one", {
    ...TIMEOUT,
    tags: ["T34"],
  }, async () => {
    await slurm.idle();
    const mended = join(slurm.server.folder, "mended");
    const run = await slurm.server.submit(
      "rule",
      `failure_handlers:
  - name: mend
    rules: [{ exit_codes: [7], recovery_script: "touch ${mended}", max_retries: 2 }]
steps:
  flaky:
    exec: 'test -e ${mended} || exit 7'
    runs_on: [hpc]
    failure_handler: mend
  later:
    depends_on: [flaky]
    exec: 'test "$DARUMA_ATTEMPT_ID" -gt 1 || exit 1'
    runs_on: [hpc]
    on_fail: { retry: { max: 1, backoff: { delay_ms: 20000 } } }
`,
    );
    expect(await slurm.server.ends(run)).toBe("completed");
    const started = (await slurm.server.events(run)).filter(({ type }) => type === "attempt.started");
    expect(started).toHaveLength(4);
    // The first allocation had left for want of work when the retry came due.
    expect(started[3]?.allocation).not.toBe(started[2]?.allocation);
  });

  it(
    "submits nothing more after somebody's scancel until it is resumed; its jobs restart then",
    TIMEOUT,
    async () => {
      await slurm.idle();
      const run = await slurm.server.submit("canceled", steps(LONG_AT_FIRST));
      await slurm.server.running(run, "a");
      const [allocation] = await slurm.server.allocations({ live: true });
      await slurm.cluster.command("scancel", allocation!.id!);
      await until("the cluster is suspended", async () =>
        (await slurm.server.ask("allocations", "list")).stdout.includes("hpc is suspended"),
      );
      await until("its job waits", async () => (await slurm.server.jobs(run))[0]?.status === "ready");
      expect((await slurm.server.ask("allocations", "resume", "hpc")).stdout).toBe(
        "hpc: submits allocations again\n",
      );
      expect(await slurm.server.ends(run)).toBe("completed");
    },
  );

  it("hands back what runs and leaves nothing in the queue after allocations cancel", TIMEOUT, async () => {
    await slurm.idle();
    const run = await slurm.server.submit("ended", steps("sleep 100"));
    await slurm.server.running(run, "a");
    await slurm.server.ask("cancel", String(run));
    for (const { key } of await slurm.server.allocations({ live: true }))
      await slurm.server.ask("allocations", "cancel", key);
    await slurm.idle();
    expect(await slurm.cluster.command("squeue", "--noheader")).toBe("");
  });

  it(
    "gives a job more memory by its rule, up to the cluster's limit, and more time by recover",
    TIMEOUT,
    async () => {
      const run = await slurm.server.submit(
        "more",
        `failure_handlers:
  - name: more
    rules: [{ exit_codes: [137], max_retries: 2, scale: { memory: 8 } }]
steps:
  hungry:
    exec: 'head -c 150m /dev/zero | tail -c 140m | (sleep 1; wc -c)'
    runs_on: [spotkill]
    failure_handler: more
    resource_requirements: { memory: 64m, runtime: 2m }
  slow:
    exec: sleep 5
    runs_on: [hpc]
    resource_requirements: { memory: 64m, runtime: 3s }
`,
      );
      expect(await slurm.server.ends(run)).toBe("failed");
      const hungry = await slurm.server.attempts(run, "hungry");
      expect(hungry.map(({ ends }) => ends)).toEqual([["OOM resource"], ["succeeded"]]);
      expect(hungry[1]!.place).not.toBe(hungry[0]!.place);
      await slurm.server.ask("recover", String(run));
      const slow = await slurm.server.attempts(run, "slow");
      expect(slow.map(({ ends }) => ends)).toEqual([["WALLTIME resource"], ["succeeded"]]);
      const raised = (await slurm.server.events(run)).flatMap((event) => event.raised ?? []);
      expect(raised).toMatchObject([
        { resource: "memory", from: 64 * 1024 ** 2, to: 400 * 1024 ** 2 },
        { resource: "runtime", from: 3_000, to: 60_000 },
      ]);
    },
  );
});
