import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClusterServer, type ShownAttempt } from "../support/cluster/cluster-server.js";
import { killMachine } from "../support/cluster/kill-machine.js";
import { REAL_CLUSTER_TIMEOUT_MS, until } from "../support/cluster/real-allocations.js";
import { clusterSuite, startSlurm, type TestCluster, whyNoCluster } from "../support/cluster/test-cluster.js";

const TIMEOUT = { timeout: REAL_CLUSTER_TIMEOUT_MS };
const ALLOCATION = `    allocation: { runtime: 10m, drain: 5s, idle_exit: 4s, job_memory: 100m, job_runtime: 5s }
    limits: { max_allocations: 3, cooldown: 1s }
`;
/** A preempted job of `spot` goes back into the queue, one of `spotkill` ends. */
const CLUSTERS = {
  hpc: `    partition: main\n${ALLOCATION}`,
  spot: `    partition: spot\n    options: [--requeue]\n${ALLOCATION.replace("max_allocations: 3", "max_allocations: 1")}`,
  spotkill: `    partition: spotkill\n${ALLOCATION.replace("runtime: 10m", "runtime: 10m, memory: 400m")}`,
};

const LONG_AT_FIRST = "test $DARUMA_ATTEMPT_ID -gt 1 || sleep 100";
/** By its worker that was told to stop, or by the batch system if the worker had no time to say so. */
const TAKEN_AWAY = /^(EVICTED|WORKER_LOST) infrastructure$/;

let cluster: TestCluster;
let server: ClusterServer;

describe.skipIf(whyNoCluster("slurm") !== null)(clusterSuite("slurm", "a server with a real Slurm"), () => {
  beforeAll(async () => {
    cluster = await startSlurm({ nodes: 3 });
    server = new ClusterServer(cluster, CLUSTERS);
    await server.start();
  }, REAL_CLUSTER_TIMEOUT_MS);
  afterAll(async () => {
    await server.dispose();
    await cluster.stop();
  }, REAL_CLUSTER_TIMEOUT_MS);

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
    const gate = server.gate("token");
    const run = await server.submit("held", steps(gate.command));
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
    expect(existsSync(server.tokenFile(allocation!))).toBe(true);
    gate.open();
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

  it(
    "says of a job that is larger than a node that it can never run, and runs the others",
    TIMEOUT,
    async () => {
      const run = await server.submit(
        "larger",
        `steps:
  large: { exec: "true", runs_on: [hpc], resource_requirements: { num_cpus: 99 } }
  small: { exec: "true", runs_on: [hpc] }
`,
      );
      await until("small has run", async () =>
        (await server.jobs(run)).some(({ step, status }) => step === "small" && status === "completed"),
      );
      const why = "it needs 99 cpus, and a node has 4";
      const told = async (...words: string[]) => (await server.ask(...words)).stdout;
      expect(await told("explain", String(run))).toContain(`large; cluster hpc can never run it: ${why}.`);
      const { id } = (await server.jobs(run)).find(({ step }) => step === "large")!;
      expect(await told("allocations", "list")).toContain(`hpc: job ${id} can never run there: ${why}`);
      await server.ask("cancel", String(run));
    },
  );

  it("restarts the job elsewhere when its node goes down, and leaves that node out", TIMEOUT, async () => {
    await idle();
    const run = await server.submit("node", steps(LONG_AT_FIRST));
    await server.running(run, "a");
    const [{ node }] = (await server.attempts(run, "a")) as [ShownAttempt];
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
    const gate = server.gate("killed");
    const run = await server.submit("killed", steps(gate.command));
    await server.running(run, "a");
    await server.killAndStartAgain();
    gate.open();
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
    const mended = join(server.folder, "mended");
    const run = await server.submit(
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
    expect(await server.ends(run)).toBe("completed");
    const started = (await server.events(run)).filter(({ type }) => type === "attempt.started");
    expect(started).toHaveLength(4);
    // The first allocation had left for want of work when the retry came due.
    expect(started[3]?.allocation).not.toBe(started[2]?.allocation);
  });

  it(
    "submits nothing more after somebody's scancel until it is resumed; its jobs restart then",
    TIMEOUT,
    async () => {
      await idle();
      const run = await server.submit("canceled", steps(LONG_AT_FIRST));
      await server.running(run, "a");
      const [allocation] = await server.allocations("--live");
      await cluster.command("scancel", allocation!.id!);
      await until("the cluster is suspended", async () =>
        (await server.ask("allocations", "list")).stdout.includes("hpc is suspended"),
      );
      await until("its job waits", async () => (await server.jobs(run))[0]?.status === "ready");
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

  it(
    "gives a job wider than a node an allocation of its own, in which srun starts its ranks",
    TIMEOUT,
    async () => {
      const run = await server.submit(
        "wide",
        `steps:
  ranks:
    exec: srun --ntasks=2 --ntasks-per-node=1 sh -c 'echo rank $SLURM_PROCID on $SLURMD_NODENAME'
    runs_on: [hpc]
    resource_requirements: { num_nodes: 2, memory: 100m, runtime: 5m }
`,
      );
      expect(await server.ends(run)).toBe("completed");
      const [attempt, ...more] = await server.attempts(run, "ranks");
      expect([attempt?.ends, more]).toEqual([["succeeded"], []]);
      const own = (await server.allocations()).find(({ id }) => `hpc/${id}#0` === attempt!.place)!;
      expect(own.nodes).toHaveLength(2);
      const { stdout } = await server.ask("logs", String(run), "ranks");
      expect(stdout.trim().split("\n").sort()).toEqual(
        [...own.nodes].sort().map((node, rank) => `rank ${rank} on ${node}`),
      );
    },
  );

  it("fails a job wider than a node for good when somebody cancels its allocation", TIMEOUT, async () => {
    await idle();
    const run = await server.submit(
      "wide-canceled",
      `unhandled: fail
steps:
  ranks:
    exec: srun --ntasks=2 --ntasks-per-node=1 sleep 300
    runs_on: [hpc]
    resource_requirements: { num_nodes: 2, memory: 100m, runtime: 5m }
`,
    );
    await server.running(run, "ranks");
    await cluster.command("scancel", await idOf(run, "ranks"));
    expect(await server.ends(run)).toBe("failed");
    expect((await server.attempts(run, "ranks")).map(({ ends }) => ends)).toEqual([
      ["ALLOCATION_CANCELED deterministic_policy"],
    ]);
    await server.ask("allocations", "resume", "hpc");
  });

  it("restarts the job of a requeued allocation, in its next incarnation", TIMEOUT, async () => {
    const run = await server.submit("requeued", steps(LONG_AT_FIRST, "spot"));
    await server.running(run, "a");
    const id = await idOf(run, "a");
    await cluster.command("scontrol", "requeue", id);
    await startAgain(id);
    expect(await server.ends(run)).toBe("completed");
    expect(await server.attempts(run, "a")).toMatchObject([
      { place: `spot/${id}#0`, ends: [expect.stringMatching(TAKEN_AWAY)] },
      { place: `spot/${id}#1`, ends: ["succeeded"] },
    ]);
  });

  it(
    "gives a job more memory by its rule, up to the cluster's limit, and more time by recover",
    TIMEOUT,
    async () => {
      const run = await server.submit(
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
      expect(await server.ends(run)).toBe("failed");
      const hungry = await server.attempts(run, "hungry");
      expect(hungry.map(({ ends }) => ends)).toEqual([["OOM resource"], ["succeeded"]]);
      expect(hungry[1]!.place).not.toBe(hungry[0]!.place);
      await server.ask("recover", String(run));
      const slow = await server.attempts(run, "slow");
      expect(slow.map(({ ends }) => ends)).toEqual([["WALLTIME resource"], ["succeeded"]]);
      const raised = (await server.events(run)).flatMap((event) => event.raised ?? []);
      expect(raised).toMatchObject([
        { resource: "memory", from: 64 * 1024 ** 2, to: 400 * 1024 ** 2 },
        { resource: "runtime", from: 3_000, to: 60_000 },
      ]);
    },
  );

  it("restarts what a more important job takes the place of, requeued or ended", TIMEOUT, async () => {
    await idle();
    const run = await server.submit(
      "preempted",
      `steps:
  requeued: { exec: "${LONG_AT_FIRST}", runs_on: [spot], resource_requirements: { memory: 100m, runtime: 5m } }
  ended: { exec: "${LONG_AT_FIRST}", runs_on: [spotkill], resource_requirements: { memory: 100m, runtime: 5m } }
`,
    );
    await server.running(run, "requeued");
    await server.running(run, "ended");
    const [requeued, ended] = [await idOf(run, "requeued"), await idOf(run, "ended")];
    const urgent = ["--partition=urgent", "--nodes=3", "--exclusive", "--output=/dev/null", "--wrap=sleep 1"];
    await cluster.command("sbatch", ...urgent);
    await startAgain(requeued);
    expect(await server.ends(run)).toBe("completed");
    expect(await server.attempts(run, "requeued")).toMatchObject([
      { place: `spot/${requeued}#0`, ends: [expect.stringMatching(TAKEN_AWAY)] },
      { place: `spot/${requeued}#1`, ends: ["succeeded"] },
    ]);
    const again = await server.attempts(run, "ended");
    expect(again).toMatchObject([
      { place: `spotkill/${ended}#0`, ends: [expect.stringMatching(TAKEN_AWAY)] },
      { ends: ["succeeded"] },
    ]);
    expect(again[1]!.place).not.toBe(again[0]!.place);
    await idle();
    const ends = new Map((await server.allocations()).map(({ id, end }) => [id, end?.code]));
    expect([ends.get(ended), ends.get(requeued)]).toEqual(["PREEMPTED", "DRAINED"]);
  });

  it("restarts elsewhere what ran on a machine that dies", TIMEOUT, async () => {
    await idle();
    const run = await server.submit("dead", steps(LONG_AT_FIRST));
    await server.running(run, "a");
    const id = await idOf(run, "a");
    const [{ node }] = (await server.attempts(run, "a")) as [ShownAttempt];
    killMachine(cluster, node, id);
    expect(await server.ends(run)).toBe("completed");
    const attempts = await server.attempts(run, "a");
    expect(attempts.map(({ ends }) => ends)).toEqual([["WORKER_LOST infrastructure"], ["succeeded"]]);
    expect(attempts[1]!.node).not.toBe(node);
    await until("Slurm has given the machine up", async () => {
      const found = (await server.allocations()).find((each) => each.id === id);
      return found?.end?.code === "NODE_LOST";
    });
  });

  /** The number that Slurm gave the allocation of a step's first attempt. */
  async function idOf(run: number, step: string): Promise<string> {
    const [first] = await server.attempts(run, step);
    return /\/(\d+)#/.exec(first!.place)![1]!;
  }

  /** By itself a requeued job waits for two minutes, and Slurm takes the request only when it has cleaned up. */
  async function startAgain(id: string): Promise<void> {
    await until(`job ${id} has started again`, async () => {
      await cluster.command("scontrol", "update", `jobid=${id}`, "StartTime=now").catch(() => "");
      const told = await cluster.command("scontrol", "show", "job", id);
      return told.includes("Restarts=1") && /JobState=(RUNNING|COMPLETING|COMPLETED)/.test(told);
    });
  }
});

function steps(exec: string, on = "hpc"): string {
  return `steps:\n  a: { exec: "${exec}", runs_on: [${on}], resource_requirements: { memory: 100m, runtime: 5m } }\n`;
}
