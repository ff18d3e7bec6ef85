import { describe, expect, it } from "vitest";
import {
  mergeStatus,
  parseAccounting,
  parseOutputPath,
  parseQueue,
  saysNothingIsThere,
} from "../../src/fleet/allocations/gridengine/job-status.js";
import { classifyGridEngine } from "../../src/fleet/allocations/gridengine/states.js";
import { readTargets } from "../../src/fleet/allocations/gridengine/targets.js";
import type { AllocationStatus } from "../../src/fleet/allocations/provider.js";
import { readSamples } from "../support/cluster-samples.js";

const SAMPLES = readSamples("gridengine");
/** No pilot can have reached the server in these. */
const NEVER_REGISTERED = /^(bad-output|qdel-pending)/;

/**
 * What became of each job, in order of its incarnations: the verdict, or the phase where it goes on. By what is asked:
 * queue and accounting together, the queue alone, accounting alone.
 */
const EXPECTED: { readonly [sample: string]: readonly [both: string, queue: string, accounting: string] } = {
  "bad-output/final": ["LAUNCH_FAILED", "NEVER_STARTS", "LAUNCH_FAILED"],
  "bad-output/running": ["LAUNCH_FAILED", "running", "LAUNCH_FAILED"],
  "done/final": ["DRAINED", "unknown", "DRAINED"],
  "done/running": ["running", "running", "unknown"],
  "exit-100-error/final": ["PILOT_FAILED", "NEVER_STARTS", "PILOT_FAILED"],
  "exit-100-error/running": ["PILOT_FAILED", "running", "PILOT_FAILED"],
  "exit-99-requeue/final": ["REQUEUED, DRAINED", "unknown", "REQUEUED, DRAINED"],
  "exit-99-requeue/running": ["running", "running", "unknown"],
  "failed-exit/final": ["PILOT_FAILED", "unknown", "PILOT_FAILED"],
  "failed-exit/running": ["running", "running", "unknown"],
  "failed-signal/final": ["PILOT_FAILED?", "unknown", "PILOT_FAILED?"],
  "failed-signal/running": ["running", "running", "unknown"],
  "h-rss/final": ["DRAINED", "unknown", "DRAINED"],
  "h-rss/running": ["running", "running", "unknown"],
  "h-rt-notify/final": ["WALLTIME", "unknown", "WALLTIME"],
  "h-rt-notify/running": ["running", "running", "unknown"],
  "h-rt/final": ["WALLTIME", "unknown", "WALLTIME"],
  "h-rt/running": ["running", "running", "unknown"],
  "h-vmem-node/final": ["DRAINED", "unknown", "DRAINED"],
  "h-vmem-node/running": ["DRAINED", "running", "DRAINED"],
  "h-vmem-sum/final": ["OOM", "unknown", "OOM"],
  "h-vmem-sum/running": ["running", "running", "unknown"],
  "h-vmem/final": ["PILOT_FAILED", "unknown", "PILOT_FAILED"],
  "h-vmem/running": ["running", "running", "unknown"],
  "host-lost/final": ["REQUEUED?, pending", "REQUEUED?, pending", "REQUEUED?, unknown"],
  "host-lost/running": ["running", "running", "unknown"],
  "qdel-pending/final": ["unknown", "unknown", "unknown"],
  "qdel-pending/pending": ["NEVER_STARTS", "NEVER_STARTS", "unknown"],
  "qdel-running/final": ["PILOT_FAILED?", "unknown", "PILOT_FAILED?"],
  "qdel-running/running": ["running", "running", "unknown"],
  "rescheduled/final": ["REQUEUED?, DRAINED", "unknown", "REQUEUED?, DRAINED"],
  "rescheduled/running": ["running", "running", "unknown"],
  "s-rt-drained/final": ["DRAINED", "unknown", "DRAINED"],
  "s-rt-drained/running": ["running", "running", "unknown"],
};

const moments = [...new Set([...SAMPLES.keys()].map((path) => path.split(".")[0]!))].filter(
  (moment) => !moment.startsWith("cluster/"),
);

describe("recorded samples of Grid Engine", () => {
  it("are all in the table, and nothing else is", () => {
    expect(Object.keys(EXPECTED).sort()).toEqual(moments.sort());
  });

  it.each(moments)("%s", (moment) => {
    const id = idOf(moment);
    const sample = (command: string): string => SAMPLES.get(`${moment}.${command}`)!;
    const accounting = readAccounting(sample("qacct.txt"));
    const verdicts = (queue: string | null, records = accounting): string =>
      mergeStatus(id, { queue: queue === null ? [] : readQueue(queue), accounting: records, whole: true })
        .map((status) => verdict(status, moment))
        .join(", ");
    const both = verdicts(sample("qstat.xml"));
    expect([both, verdicts(sample("qstat.xml"), []), verdicts(null)]).toEqual(EXPECTED[moment]);
    expect(verdicts(sample("qstat-ext.xml")), "with the resources that were asked for").toBe(both);
    // A list of what has ended says nothing of how, and some of it never ran.
    const done = readQueue(sample("qstat-done.xml")).map((row) =>
      mergeStatus(row.id, { queue: [row], accounting: [], whole: true }),
    );
    expect(done.flat().filter(({ phase }) => phase !== "unknown")).toEqual([]);
  });

  it.each(moments)("%s names the file of its output while it is in the queue", (moment) => {
    const text = SAMPLES.get(`${moment}.qstat-j.xml`)!;
    const name = moment.split("/")[0]!;
    const file = parseOutputPath(text)?.split("/").at(-1);
    expect(file).toBe(
      text.includes("unknown_jobs") ? undefined : name === "bad-output" ? "y" : `${name}.out`,
    );
  });

  const hosts = [...SAMPLES.keys()].filter((path) => path.endsWith(".qhost.xml"));
  it.each(hosts)("%s shows the queue with its limits, and whether its host answers", (path) => {
    expect(readTargets(SAMPLES.get(path)!, SAMPLES.get("cluster/idle.qconf-sq.txt")!)).toEqual([
      {
        name: "main.q",
        max: { nodes: 1 },
        perNode: { cpus: 8, memoryBytes: 23.5 * 1024 ** 3 },
        preemptible: false,
        up: path !== "host-lost/final.qhost.xml",
        isDefault: false,
      },
    ]);
  });

  it("reads the limits of a job that runs", () => {
    const rows = readQueue(SAMPLES.get("s-rt-drained/running.qstat-ext.xml")!);
    expect(rows.find(({ name }) => name === "s-rt-drained")).toMatchObject({
      node: "node1",
      runtimeLimitMs: 40_000,
    });
  });
});

function verdict(status: AllocationStatus, moment: string): string {
  const registered = !NEVER_REGISTERED.test(moment);
  const end = classifyGridEngine(status, { registered, cancelAsked: false, unknownForMs: 0 });
  return end === null ? status.phase : `${end.code}${end.certain ? "" : "?"}`;
}

/** The number of the job that a case is about. */
function idOf(moment: string): string {
  const [name] = moment.split("/");
  for (const [path, text] of SAMPLES) {
    if (!path.startsWith(`${name}/`) || !path.endsWith(".qstat.xml")) continue;
    const row = readQueue(text).find((candidate) => candidate.name === name);
    if (row !== undefined) return row.id;
  }
  throw new Error(`no sample of ${name} shows its job`);
}

function readQueue(text: string): ReturnType<typeof parseQueue>["rows"] {
  const { rows, whole } = parseQueue(text);
  expect(whole).toBe(true);
  return rows;
}

function readAccounting(text: string): ReturnType<typeof parseAccounting>["rows"] {
  if (saysNothingIsThere(text)) return [];
  const { rows, whole } = parseAccounting(text);
  expect(whole).toBe(true);
  return rows;
}
