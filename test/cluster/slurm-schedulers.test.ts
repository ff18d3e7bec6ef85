import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClusterServer } from "../support/cluster/cluster-server.js";
import { until } from "../support/cluster/real-allocations.js";
import { clusterSuite, startSlurm, type TestCluster, whyNoCluster } from "../support/cluster/test-cluster.js";
import { repositoryRoot } from "../support/repository-root.js";

const TIMEOUT = { timeout: 600_000 };
const SETTINGS = `    partition: main
    allocation: { runtime: 10m, drain: 5s, idle_exit: 4s, job_memory: 100m, job_runtime: 5s }
    limits: { max_allocations: 4, cooldown: 1s }
    schedulers: { accounts: [my-project], options: [comment, constraint], idle_exit: 10s }
`;

let cluster: TestCluster;
let server: ClusterServer;

describe.skipIf(whyNoCluster("slurm") !== null)(
  clusterSuite("slurm", "files with schedulers on a real Slurm"),
  () => {
    beforeAll(async () => {
      cluster = await startSlurm({ nodes: 3 });
      await cluster.command("sacctmgr", "--immediate", "add", "account", "my-project");
      await cluster.command("sacctmgr", "--immediate", "add", "user", "root", "account=my-project");
      server = new ClusterServer(cluster, { hpc: SETTINGS });
      await server.start();
    }, 120_000);
    afterAll(async () => {
      await server.dispose();
      await cluster.stop();
    });

    /** What Slurm has on record of every allocation, by its id. */
    async function recorded(): Promise<Map<string, string>> {
      const lines = await cluster.command(
        ...(["sacct", "--allocations", "--noheader", "--parsable2"] as const),
        "--format=JobID,Account,Partition,TimelimitRaw,NNodes,ReqMem",
      );
      return new Map(
        lines
          .trim()
          .split("\n")
          .map((line) => [line.split("|", 1)[0]!, line.slice(line.indexOf("|") + 1)]),
      );
    }

    it(
      "run unchanged: each stage with the nodes, account and time of its scheduler, and the commands around them",
      TIMEOUT,
      async () => {
        const file = join(server.folder, "staged-pipeline.yaml");
        copyFileSync(join(repositoryRoot, "examples/batch/staged-pipeline.yaml"), file);
        const { stdout } = await server.ask("run", file, "--folder", server.folder, "--detach", "--json");
        const { run_id: run } = JSON.parse(stdout) as { run_id: number };
        expect(await server.ends(run)).toBe("completed");
        expect(readFileSync(join(server.folder, "staged/total.txt"), "utf8")).toBe("10+20+30+40\n");
        expect(readFileSync(join(server.folder, "staged/log.txt"), "utf8")).toBe(
          "started\nworked\ncomplete\n",
        );
        const placeOf = async (step: string) =>
          (await server.attempts(run, step))[0]!.place.split(/[/#]/)[1]!;
        let records = await recorded();
        await until("accounting has all of them", async () => {
          records = await recorded();
          return records.has(await placeOf("add"));
        });
        expect(records.get(await placeOf("make-inputs"))).toMatch(/^my-project\|main\|10\|1\|/);
        expect(records.get(await placeOf("work_1"))).toMatch(/^my-project\|main\|20\|1\|600M$/);
        expect(records.get(await placeOf("add"))).toMatch(/^my-project\|main\|10\|1\|/);
        const stages = [await placeOf("make-inputs"), await placeOf("work_1"), await placeOf("add")];
        expect(new Set(stages).size).toBe(3);
        expect(await placeOf("action_1_on_workflow_start")).toBe(stages[0]);
        expect(await placeOf("action_6_on_workflow_complete")).toBe(stages[2]);

        const works = ["work_1", "work_2", "work_3", "work_4"];
        const ids = new Map((await server.jobs(run)).map(({ step, id }) => [id, step]));
        const atWork = new Map<string, number>();
        const most = new Map<string, number>();
        const where = new Map<unknown, string>();
        for (const { type, job, allocation } of await server.events(run)) {
          if (!works.includes(ids.get(job as number) ?? "")) continue;
          if (type === "attempt.started") where.set(job, String(allocation));
          const change = type === "attempt.started" ? 1 : type === "attempt.succeeded" ? -1 : 0;
          const place = where.get(job)!;
          atWork.set(place, (atWork.get(place) ?? 0) + change);
          most.set(place, Math.max(most.get(place) ?? 0, atWork.get(place)!));
        }
        expect(most.size).toBeLessThanOrEqual(2);
        expect(new Set(most.values())).toEqual(new Set([1]));
        await server.idle();
      },
    );

    it(
      "are refused with an account or an option that the settings do not allow, before anything is submitted",
      TIMEOUT,
      async () => {
        const before = (await server.allocations()).length;
        const refusalOf = async (scheduler: string) =>
          server
            .submit(
              "refused",
              `slurm_schedulers: [{ name: s, ${scheduler} }]\njobs: [{ name: a, command: x }]`,
            )
            .then(
              () => "accepted",
              ({ stdout }: { stdout: string }) =>
                (JSON.parse(stdout) as { error: { code: string } }).error.code,
            );
        expect(await refusalOf("account: other")).toBe("SCHEDULER_NOT_ALLOWED");
        expect(await refusalOf("account: my-project, partition: urgent")).toBe("SCHEDULER_NOT_ALLOWED");
        expect(await refusalOf('account: my-project, extra: "--uid=0"')).toBe("SCHEDULER_NOT_ALLOWED");
        expect((await server.allocations()).length).toBe(before);
      },
    );

    it(
      "that Slurm refuses wait alone: other jobs of the cluster run, and it is not suspended",
      TIMEOUT,
      async () => {
        await server.idle();
        const wrong = await server.submit(
          "wrong",
          'slurm_schedulers: [{ name: s, account: my-project, extra: "--constraint=nowhere" }]\njobs: [{ name: a, command: "true" }]',
        );
        await until("it was refused", async () =>
          (await server.allocations()).some(({ end }) => end?.code === "REFUSED"),
        );
        const good = await server.submit("good", 'jobs: [{ name: a, command: "true", runs_on: [hpc] }]');
        expect(await server.ends(good)).toBe("completed");
        const { stdout } = await server.ask("allocations", "list", "--json");
        expect((JSON.parse(stdout) as { suspended: unknown[] }).suspended).toEqual([]);
        expect(await server.status(wrong)).toBe("running");
        await server.ask("cancel", String(wrong));
      },
    );
  },
);
