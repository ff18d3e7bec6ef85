import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClusterServer } from "../support/cluster/cluster-server.js";
import { until } from "../support/cluster/real-allocations.js";
import { clusterSuite, startSlurm, type TestCluster, whyNoCluster } from "../support/cluster/test-cluster.js";

const TIMEOUT = { timeout: 170_000 };
const KEYS = `    tags: [hpc]
    partition: main
    allocation: { runtime: 10m, drain: 5s, idle_exit: 4s, job_memory: 100m, job_runtime: 5s }
    limits: { max_allocations: 3, cooldown: 1s }
`;

let cluster: TestCluster;
let server: ClusterServer;

describe.skipIf(whyNoCluster("slurm") !== null)(clusterSuite("slurm", "a server with a real Slurm"), () => {
  beforeAll(async () => {
    cluster = await startSlurm({ nodes: 3 });
    server = new ClusterServer(cluster, KEYS);
    await server.start();
  }, 120_000);
  afterAll(async () => {
    await server.dispose();
    await cluster.stop();
  });

  /** No allocation of an earlier test is left. */
  const idle = () =>
    until("the queue is empty", async () => (await server.allocations("--live")).length === 0);

  it("runs 300 jobs over three nodes, each once, and leaves the queue empty", {
    ...TIMEOUT,
    tags: ["T34"],
  }, async () => {
    const run = await server.submit(
      "many",
      `jobs:
  - name: job_{i}
    command: sleep 0.3
    parameters: { i: "1:300" }
    runs_on: [hpc]
    resource_requirements: { num_cpus: 1, memory: 100m, runtime: 30m }
`,
    );
    expect(await server.ends(run)).toBe("completed");
    const jobs = await server.jobs(run);
    expect(jobs).toHaveLength(300);
    expect(new Set(jobs.map(({ attempts }) => attempts))).toEqual(new Set([1]));
    const started = (await server.events(run)).filter(({ type }) => type === "attempt.started");
    expect(started).toHaveLength(300);
    expect(new Set(started.map(({ node }) => node))).toEqual(new Set(cluster.nodes));
    expect(
      started.every(({ allocation, restart }) => /^hpc\/\d+$/.test(String(allocation)) && restart === 0),
    ).toBe(true);
    await idle();
    expect(await cluster.command("squeue", "--noheader")).toBe("");
    expect((await server.allocations()).map(({ end }) => end?.code)).toEqual([
      "DRAINED",
      "DRAINED",
      "DRAINED",
    ]);
  });

  it("keeps an allocation's token from everybody else, and takes it back at the end", TIMEOUT, async () => {
    const run = await server.submit("held", steps("sleep 6"));
    await server.running(run, "a");
    const [allocation] = await server.allocations("--live");
    const canary = server.token(allocation!);
    expect(canary).toMatch(/^drm_/);
    const { id } = allocation!;
    const told = [
      await cluster.command("scontrol", "show", "job", "-dd", id!),
      await cluster.command("squeue", "--jobs", id!, "--format=%all"),
      await cluster.command("sacct", "--jobs", id!, "--format=ALL", "--parsable2"),
      await cluster.command("sacct", "--jobs", id!, "--env-vars"),
      await cluster.command("sacct", "--jobs", id!, "--batch-script"),
      execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }),
    ].join("\n");
    expect(told).not.toContain(canary);
    const spool = spawnSync("grep", ["-rlF", canary, cluster.folder]);
    expect(spool.stdout.toString()).toBe("");
    const other = spawnSync("su", [
      "nobody",
      "-s",
      "/bin/sh",
      "-c",
      `cat ${server.tokenFile(allocation!)}; cat ${join(server.outputDir, "clusters/hpc", allocation!.key)}/*; grep -rF ${canary} ${cluster.folder} /proc/[0-9]*/environ /proc/[0-9]*/cmdline`,
    ]);
    expect(other.stdout.toString()).toBe("");
    expect(await server.ends(run)).toBe("completed");
    await idle();
    expect(existsSync(server.tokenFile(allocation!))).toBe(false);
    const { stdout } = await server.ask("token", "list", "--json");
    const rows = JSON.parse(stdout) as { name: string; revoked_at: string | null }[];
    const own = rows.filter(({ name }) => name.startsWith("allocation "));
    expect(own.length).toBeGreaterThan(0);
    expect(own.every(({ revoked_at }) => revoked_at !== null)).toBe(true);
  });

  it("fails a job over its memory with OOM and one over its runtime with WALLTIME", TIMEOUT, async () => {
    const run = await server.submit(
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
    await server.ends(run);
    const jobs = await server.jobs(run);
    expect(jobs.map(({ step, error }) => [step, error?.code, error?.class])).toEqual([
      ["hungry", "OOM", "resource"],
      ["slow", "WALLTIME", "resource"],
    ]);
  });

  it("restarts the job elsewhere when its node goes down, and leaves that node out", TIMEOUT, async () => {
    await idle();
    const run = await server.submit("node", steps("sleep 8"));
    await server.running(run, "a");
    const [first] = await server.allocations("--live");
    const node = first!.nodes[0]!;
    await cluster.command("scontrol", "update", `nodename=${node}`, "state=down", "reason=test");
    expect(await server.ends(run)).toBe("completed");
    const events = await server.events(run);
    const started = events.filter(({ type }) => type === "attempt.started");
    expect(started.map(({ node: at }) => at === node)).toEqual([true, false]);
    expect(events.filter(({ type }) => type === "restart.granted")).toHaveLength(1);
    expect(events.find(({ type }) => type === "attempt.failed")).toMatchObject({
      error: { class: "infrastructure" },
    });
    await cluster.command("scontrol", "update", `nodename=${node}`, "state=resume").catch(() => "");
  });

  it("goes on with its allocation after a kill of the server, and submits none twice", TIMEOUT, async () => {
    await idle();
    const before = (await server.allocations()).length;
    const run = await server.submit("killed", steps("sleep 10"));
    await server.running(run, "a");
    await server.killAndStartAgain();
    expect(await server.ends(run)).toBe("completed");
    const started = (await server.events(run)).filter(({ type }) => type === "attempt.started");
    expect(started).toHaveLength(1);
    expect((await server.allocations()).length).toBe(before + 1);
  });

  it("heals by an exit-code rule with a recovery script in the allocation; a job that is ready later gets a new one", {
    ...TIMEOUT,
    tags: ["T34"],
  }, async () => {
    await idle();
    const run = await server.submit(
      "rule",
      `failure_handlers:
  - name: mend
    rules: [{ exit_codes: [7], recovery_script: "touch /tmp/daruma-mended-$DARUMA_RUN_ID-$DARUMA_JOB_ID", max_retries: 2 }]
steps:
  flaky:
    exec: 'test -e /tmp/daruma-mended-$DARUMA_RUN_ID-$DARUMA_JOB_ID || exit 7'
    runs_on: [hpc]
    failure_handler: mend
  later:
    depends_on: [flaky]
    exec: 'test "$DARUMA_ATTEMPT_ID" -gt 1 || exit 1'
    runs_on: [hpc]
    on_fail: { retry: { max: 1, backoff: { delay_ms: 12000 } } }
`,
    );
    expect(await server.ends(run)).toBe("completed");
    const started = (await server.events(run)).filter(({ type }) => type === "attempt.started");
    expect(started).toHaveLength(4);
    // The first allocation had left for want of work when the retry came due.
    expect(started[3]?.allocation).not.toBe(started[2]?.allocation);
    for (const file of readdirSync("/tmp"))
      if (file.startsWith("daruma-mended-")) execFileSync("rm", [`/tmp/${file}`]);
  });

  it(
    "submits nothing more after somebody's scancel until it is resumed; its jobs restart then",
    TIMEOUT,
    async () => {
      await idle();
      const run = await server.submit("canceled", steps("sleep 5"));
      await server.running(run, "a");
      const [allocation] = await server.allocations("--live");
      await cluster.command("scancel", allocation!.id!);
      await until("the cluster is suspended", async () =>
        (await server.ask("allocations", "list")).stdout.includes("hpc is suspended"),
      );
      expect((await server.jobs(run))[0]).toMatchObject({ status: "ready" });
      expect((await server.ask("allocations", "resume", "hpc")).stdout).toBe(
        "hpc: submits allocations again\n",
      );
      expect(await server.ends(run)).toBe("completed");
    },
  );

  it("hands back what runs and leaves nothing in the queue after allocations cancel", TIMEOUT, async () => {
    await idle();
    const run = await server.submit("ended", steps("sleep 100"));
    await server.running(run, "a");
    await server.ask("cancel", String(run));
    for (const { key } of await server.allocations("--live")) await server.ask("allocations", "cancel", key);
    await idle();
    expect(await cluster.command("squeue", "--noheader")).toBe("");
  });
});

function steps(exec: string): string {
  return `steps:\n  a: { exec: "${exec}", runs_on: [hpc], resource_requirements: { memory: 100m, runtime: 5m } }\n`;
}
