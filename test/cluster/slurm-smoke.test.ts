import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { REAL_CLUSTER_TIMEOUT_MS, until } from "../support/cluster/real-allocations.js";
import { SlurmServer, steps } from "../support/cluster/slurm-server.js";
import { clusterSuite, whyNoCluster } from "../support/cluster/test-cluster.js";

const TIMEOUT = { timeout: REAL_CLUSTER_TIMEOUT_MS };

/** What every change must pass with a real Slurm; the other files with one are in test/support/long-tests.json. */
describe.skipIf(whyNoCluster("slurm") !== null)(clusterSuite("slurm", "a job on a real Slurm"), () => {
  const slurm = new SlurmServer();

  it("goes on with its allocation after a kill of the server, and submits none twice", TIMEOUT, async () => {
    await slurm.idle();
    const before = (await slurm.server.allocations()).length;
    const gate = slurm.server.gate("killed");
    const run = await slurm.server.submit("killed", steps(gate.command));
    await slurm.server.running(run, "a");
    await slurm.server.killAndStartAgain();
    gate.open();
    expect(await slurm.server.ends(run)).toBe("completed");
    const started = (await slurm.server.events(run)).filter(({ type }) => type === "attempt.started");
    expect(started).toHaveLength(1);
    expect((await slurm.server.allocations()).length).toBe(before + 1);
  });

  it("keeps an allocation's token from everybody else, and takes it back at the end", TIMEOUT, async () => {
    const gate = slurm.server.gate("token");
    const run = await slurm.server.submit("held", steps(gate.command));
    await slurm.server.running(run, "a");
    const [allocation] = await slurm.server.allocations({ live: true });
    const canary = slurm.server.token(allocation!);
    expect(canary).toMatch(/^drm_/);
    const { id } = allocation!;
    const told = [
      await slurm.cluster.command("scontrol", "show", "job", "-dd", id!),
      await slurm.cluster.command("squeue", "--jobs", id!, "--format=%all"),
      await slurm.cluster.command("sacct", "--jobs", id!, "--format=ALL", "--parsable2"),
      await slurm.cluster.command("sacct", "--jobs", id!, "--env-vars"),
      await slurm.cluster.command("sacct", "--jobs", id!, "--batch-script"),
      execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }),
    ].join("\n");
    expect(told).not.toContain(canary);
    const spool = spawnSync("grep", ["-rlF", canary, slurm.cluster.folder]);
    expect(spool.stdout.toString()).toBe("");
    const other = spawnSync("su", [
      "nobody",
      "-s",
      "/bin/sh",
      "-c",
      `cat ${slurm.server.tokenFile(allocation!)}; cat ${join(slurm.server.outputDir, "clusters/hpc", allocation!.key)}/*; grep -rF ${canary} ${slurm.cluster.folder} /proc/[0-9]*/environ /proc/[0-9]*/cmdline`,
    ]);
    expect(other.stdout.toString()).toBe("");
    expect(existsSync(slurm.server.tokenFile(allocation!))).toBe(true);
    gate.open();
    expect(await slurm.server.ends(run)).toBe("completed");
    await slurm.idle();
    expect(existsSync(slurm.server.tokenFile(allocation!))).toBe(false);
    const { stdout } = await slurm.server.ask("token", "list", "--json");
    const rows = JSON.parse(stdout) as { name: string; revoked_at: string | null }[];
    const own = rows.filter(({ name }) => name.startsWith("allocation "));
    expect(own.length).toBeGreaterThan(0);
    expect(own.every(({ revoked_at }) => revoked_at !== null)).toBe(true);
  });

  it(
    "says of a job that is larger than a node that it can never run, and runs the others",
    TIMEOUT,
    async () => {
      const run = await slurm.server.submit(
        "larger",
        `steps:
  large: { exec: "true", runs_on: [hpc], resource_requirements: { num_cpus: 99 } }
  small: { exec: "true", runs_on: [hpc] }
`,
      );
      await until("small has run", async () =>
        (await slurm.server.jobs(run)).some(({ step, status }) => step === "small" && status === "completed"),
      );
      const why = "it needs 99 cpus, and a node has 4";
      const told = async (...words: string[]) => (await slurm.server.ask(...words)).stdout;
      const { id } = (await slurm.server.jobs(run)).find(({ step }) => step === "large")!;
      // A pilot of an earlier run may take the small job before the server has looked at the large one.
      await until("the server has looked at the large job", async () =>
        (await told("allocations", "list")).includes(`hpc: job ${id} can never run there: ${why}`),
      );
      expect(await told("explain", String(run))).toContain(`large; cluster hpc can never run it: ${why}.`);
      await slurm.server.ask("cancel", String(run));
    },
  );
});
