import { describe, expect, it } from "vitest";
import type { AllocationStatus } from "../../src/fleet/allocations/provider.js";
import {
  type AccountingRow,
  mergeStatus,
  parseAccounting,
  type QueueRow,
} from "../../src/fleet/allocations/slurm/job-status.js";
import {
  parseExit,
  parseNodeList,
  parseTime,
  parseTimeLimit,
} from "../../src/fleet/allocations/slurm/parse-values.js";
import { classifySlurm } from "../../src/fleet/allocations/slurm/states.js";
import { parseRecords, readTargets } from "../../src/fleet/allocations/slurm/targets.js";
import { readSamples } from "../support/cluster-samples.js";

const SAMPLES = readSamples("slurm");
/** No pilot can have reached the server in these. */
const NEVER_REGISTERED = /^(bad-output|boot-fail|cancelled-pending|deadline)/;

/**
 * What became of each allocation, in order of its incarnations: the verdict, or the phase where it goes on. By what is
 * asked: queue and accounting together, the queue alone (accounting is off), accounting alone (the queue has forgotten).
 */
const EXPECTED: { readonly [sample: string]: readonly [both: string, queue: string, accounting: string] } = {
  "bad-output/final": ["LAUNCH_FAILED", "LAUNCH_FAILED", "LAUNCH_FAILED"],
  "bad-output/running": ["LAUNCH_FAILED", "LAUNCH_FAILED", "LAUNCH_FAILED"],
  "bad-output/settled": ["LAUNCH_FAILED", "LAUNCH_FAILED", "LAUNCH_FAILED"],
  "bad-workdir/final": ["DRAINED", "DRAINED", "DRAINED"],
  "bad-workdir/running": ["running", "running", "DRAINED"],
  "bad-workdir/settled": ["DRAINED", "DRAINED", "DRAINED"],
  "boot-fail-norequeue/final": ["pending", "pending", "unknown"],
  "boot-fail-norequeue/pending": ["pending", "pending", "unknown"],
  "boot-fail-norequeue/settled": ["NODE_LOST", "NODE_LOST", "NODE_LOST"],
  "boot-fail/final": ["NODE_LOST, pending", "REQUEUED?, pending", "NODE_LOST, unknown"],
  "boot-fail/pending": ["pending", "pending", "unknown"],
  "boot-fail/settled": ["NODE_LOST, pending", "REQUEUED?, pending", "NODE_LOST, unknown"],
  "cancelled-batchsig/final": ["DRAINED", "DRAINED", "DRAINED"],
  "cancelled-batchsig/running": ["running", "running", "unknown"],
  "cancelled-batchsig/settled": ["DRAINED", "DRAINED", "DRAINED"],
  "cancelled-pending/final": ["CANCELED", "CANCELED", "CANCELED"],
  "cancelled-pending/pending": ["pending", "pending", "unknown"],
  "cancelled-pending/settled": ["CANCELED", "CANCELED", "CANCELED"],
  "cancelled-running/final": ["CANCELED", "CANCELED", "CANCELED"],
  "cancelled-running/running": ["running", "running", "unknown"],
  "cancelled-running/settled": ["CANCELED", "CANCELED", "CANCELED"],
  "completed/final": ["DRAINED", "DRAINED", "DRAINED"],
  "completed/running": ["running", "running", "unknown"],
  "completed/settled": ["DRAINED", "DRAINED", "DRAINED"],
  "deadline/final": ["NEVER_STARTS", "NEVER_STARTS", "NEVER_STARTS"],
  "deadline/running": ["NEVER_STARTS", "NEVER_STARTS", "NEVER_STARTS"],
  "deadline/settled": ["NEVER_STARTS", "NEVER_STARTS", "NEVER_STARTS"],
  "failed-exit/final": ["PILOT_FAILED", "PILOT_FAILED", "PILOT_FAILED"],
  "failed-exit/running": ["running", "running", "unknown"],
  "failed-exit/settled": ["PILOT_FAILED", "PILOT_FAILED", "PILOT_FAILED"],
  "failed-signal/final": ["PILOT_FAILED", "PILOT_FAILED", "PILOT_FAILED"],
  "failed-signal/running": ["running", "running", "unknown"],
  "failed-signal/settled": ["PILOT_FAILED", "PILOT_FAILED", "PILOT_FAILED"],
  "failed-step/final": ["DRAINED", "DRAINED", "DRAINED"],
  "failed-step/running": ["running", "running", "unknown"],
  "failed-step/settled": ["DRAINED", "DRAINED", "DRAINED"],
  "nodbd-failed/final": ["PILOT_FAILED", "PILOT_FAILED", "unknown"],
  "nodbd-failed/running": ["running", "running", "unknown"],
  "nodbd-failed/settled": ["PILOT_FAILED", "PILOT_FAILED", "unknown"],
  "node-fail-requeue/final": ["NODE_LOST, pending", "REQUEUED?, pending", "NODE_LOST"],
  "node-fail-requeue/running": ["running", "running", "unknown"],
  "node-fail-requeue/settled": ["NODE_LOST, pending", "REQUEUED?, pending", "NODE_LOST"],
  "node-fail/final": ["NODE_LOST", "NODE_LOST", "NODE_LOST"],
  "node-fail/running": ["running", "running", "unknown"],
  "node-fail/settled": ["NODE_LOST", "NODE_LOST", "NODE_LOST"],
  "oom-batch/final": ["OOM", "OOM", "OOM"],
  "oom-batch/running": ["running", "running", "unknown"],
  "oom-batch/settled": ["OOM", "OOM", "OOM"],
  "oom-child/final": ["OOM", "OOM", "OOM"],
  "oom-child/running": ["running", "running", "unknown"],
  "oom-child/settled": ["OOM", "OOM", "OOM"],
  "oom-overmemorykill/final": ["OOM", "PILOT_FAILED", "OOM"],
  "oom-overmemorykill/running": ["running", "running", "unknown"],
  "oom-overmemorykill/settled": ["OOM", "PILOT_FAILED", "OOM"],
  "preempt-cancel/final": ["PREEMPTED", "PREEMPTED", "PREEMPTED"],
  "preempt-cancel/running": ["running", "running", "unknown"],
  "preempt-cancel/settled": ["PREEMPTED", "PREEMPTED", "PREEMPTED"],
  "preempt-requeue/final": ["PREEMPTED, pending", "REQUEUED?, pending", "PREEMPTED, unknown"],
  "preempt-requeue/running": ["running", "running", "unknown"],
  "preempt-requeue/settled": ["PREEMPTED, pending", "REQUEUED?, pending", "PREEMPTED, unknown"],
  "requeue-by-admin/final": ["REQUEUED, pending", "REQUEUED?, pending", "REQUEUED, unknown"],
  "requeue-by-admin/running": ["running", "running", "unknown"],
  "requeue-by-admin/settled": ["REQUEUED, pending", "REQUEUED?, pending", "REQUEUED, unknown"],
  "timeout-drained/final": ["DRAINED", "DRAINED", "DRAINED"],
  "timeout-drained/running": ["running", "running", "unknown"],
  "timeout-drained/settled": ["DRAINED", "DRAINED", "DRAINED"],
  "timeout/final": ["WALLTIME", "WALLTIME", "WALLTIME"],
  "timeout/running": ["running", "running", "unknown"],
  "timeout/settled": ["WALLTIME", "WALLTIME", "WALLTIME"],
};

/** scontrol was asked an instant before squeue. */
const SCONTROL_EARLIER: { readonly [sample: string]: string } = { "bad-output/running": "running" };

const moments = [...new Set([...SAMPLES.keys()].map((path) => path.split(".")[0]!))].filter(
  (moment) => !moment.startsWith("cluster/"),
);

describe("recorded samples of Slurm", () => {
  it("are all in the table, and nothing else is", () => {
    expect(Object.keys(EXPECTED).sort()).toEqual(moments.sort());
  });

  it.each(moments)("%s", (moment) => {
    const row = queueRow(moment);
    const records = accountingRows(moment);
    const verdicts = (queue: QueueRow[], accounting: readonly AccountingRow[]): string =>
      mergeStatus(row.id, { queue, accounting, whole: true })
        .map((status) => verdict(status, moment))
        .join(", ");
    expect([verdicts([row], records), verdicts([row], []), verdicts([], records)]).toEqual(EXPECTED[moment]);
    const fromScontrol = rowOfScontrol(SAMPLES.get(`${moment}.scontrol.txt`)!);
    expect(verdicts([fromScontrol], records), "scontrol says the same").toBe(
      SCONTROL_EARLIER[moment] ?? EXPECTED[moment]![0],
    );
  });

  const json = [...SAMPLES.keys()].filter((path) => path.endsWith(".sacct.json"));
  it.each(json)("%s has the same states, whatever exit code it claims", (path) => {
    const { jobs } = JSON.parse(SAMPLES.get(path)!) as {
      jobs: { job_id: number; state: { current: string } }[];
    };
    for (const { job_id, state } of jobs) {
      const wrongExit = {
        ...parseAccounting(`JobID|State|ExitCode\n${job_id}|${state.current}|0:0`).rows[0]!,
      };
      const [status] = mergeStatus(String(job_id), { queue: [], accounting: [wrongExit], whole: true });
      const claimed = verdict(status!, path);
      const acceptable = EXPECTED[path.split(".")[0]!]!.join(", ").split(", ");
      // Without the exit code and the memory that was used, FAILED is the pilot's fault.
      expect([...acceptable, "unknown", ...(state.current === "FAILED" ? ["PILOT_FAILED"] : [])]).toContain(
        claimed,
      );
    }
  });

  it("without accounting say so in a text that is no table", () => {
    for (const when of ["running", "final", "settled"])
      expect(parseAccounting(SAMPLES.get(`nodbd-failed/${when}.sacct.error.txt`)!)).toEqual({
        rows: [],
        whole: false,
      });
  });

  it("of the cluster give its partitions with their limits", () => {
    const targets = readTargets(
      SAMPLES.get("cluster/idle.partition.txt")!,
      SAMPLES.get("cluster/idle.node.txt")!,
    );
    const node = { cpus: 4, memoryBytes: 4000 * 1024 ** 2, gpus: 0 };
    const hour = { nodes: 3, runtimeMs: 3_600_000 };
    expect(targets).toEqual([
      { name: "main", max: hour, perNode: node, preemptible: false, up: true, isDefault: true },
      {
        name: "short",
        max: { nodes: 1, runtimeMs: 60_000 },
        perNode: node,
        preemptible: false,
        up: true,
        isDefault: false,
      },
      { name: "spot", max: hour, perNode: node, preemptible: true, up: true, isDefault: false },
      { name: "spotkill", max: hour, perNode: node, preemptible: true, up: true, isDefault: false },
      { name: "urgent", max: hour, perNode: node, preemptible: false, up: true, isDefault: false },
      // Its only node is not known to the controller yet.
      {
        name: "cloud",
        max: { runtimeMs: 3_600_000 },
        perNode: {},
        preemptible: false,
        up: true,
        isDefault: false,
      },
    ]);
  });
});

function verdict(status: AllocationStatus, moment: string): string {
  const registered = !NEVER_REGISTERED.test(moment) && status.phase !== "pending";
  const end = classifySlurm(status, { registered, cancelAsked: false, unknownForMs: 0 });
  return end === null ? status.phase : `${end.code}${end.certain ? "" : "?"}`;
}

interface SqueueJson {
  readonly jobs: readonly {
    readonly job_id: number;
    readonly name: string;
    readonly job_state: string;
    readonly state_reason: string;
    readonly restart_cnt: number;
    readonly exit_code: number;
    readonly nodes: string;
    readonly start_time: number;
    readonly end_time: number;
    readonly time_limit: number;
  }[];
}

function queueRow(moment: string): QueueRow {
  const [job] = (JSON.parse(SAMPLES.get(`${moment}.squeue.json`)!) as SqueueJson).jobs;
  return {
    id: String(job!.job_id),
    name: job!.name,
    state: job!.job_state,
    reason: job!.state_reason === "None" ? null : job!.state_reason,
    restarts: job!.restart_cnt,
    ...parseExit(String(job!.exit_code)),
    nodes: parseNodeList(job!.nodes),
    startedAt: job!.start_time * 1000,
    endedAt: job!.end_time * 1000,
    runtimeLimitMs: job!.time_limit * 60_000,
  };
}

function rowOfScontrol(text: string): QueueRow {
  const [record] = parseRecords(text);
  const value = (key: string): string => record?.get(key) ?? "";
  return {
    id: value("JobId"),
    name: value("JobName"),
    state: value("JobState"),
    reason: value("Reason") === "None" ? null : value("Reason"),
    restarts: Number(value("Restarts")),
    ...parseExit(value("ExitCode")),
    nodes: parseNodeList(value("NodeList")),
    startedAt: parseTime(value("StartTime")),
    endedAt: parseTime(value("EndTime")),
    runtimeLimitMs: parseTimeLimit(value("TimeLimit")),
  };
}

function accountingRows(moment: string): readonly AccountingRow[] {
  return parseAccounting(SAMPLES.get(`${moment}.sacct.txt`) ?? "").rows;
}
