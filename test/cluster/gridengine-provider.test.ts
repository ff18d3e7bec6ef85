import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createAllocationProvider } from "../../src/fleet/allocations/create-provider.js";
import { isRefusal, type Plan } from "../../src/fleet/allocations/provider.js";
import { allocationSpec } from "../support/allocation-spec.js";
import { phasesOf, scriptedProvider } from "../support/scripted-commands.js";

const SIGNAL = new AbortController().signal;
const EMPTY = "<?xml version='1.0'?>\n<job_info>\n</job_info>\n";
const NO_RECORD = { exitCode: 1, stderr: "error: job name daruma-* not found\n" };

function queued(state: string, id = "7", name = "daruma-a"): string {
  return `<?xml version='1.0'?>
<job_info><queue_info><job_list state="running"><JB_job_number>${id}</JB_job_number><JB_name>${name}</JB_name>
<state>${state}</state><JAT_start_time>2026-11-15T11:05:01</JAT_start_time><queue_name>main.q@node1</queue_name><slots>2</slots>
<hard_request name="h_rt">60</hard_request><hard_request name="h_vmem">1G</hard_request></job_list></queue_info></job_info>`;
}

function record(failed: string, exitStatus: number, id = "7", name = "daruma-a"): string {
  return `${"=".repeat(62)}
qname        main.q
hostname     node1
jobname      ${name}
jobnumber    ${id}
start_time   Sun Nov 15 11:05:02 2026
end_time     Sun Nov 15 11:05:05 2026
slots        2
failed       ${failed}
exit_status  ${exitStatus}
maxvmem      5.293MB
category     -l h_rt=60,h_vmem=1G -pe smp 2
`;
}

type Answers = Parameters<typeof scriptedProvider>[1];
const gridengine = (answers: Answers) => scriptedProvider("gridengine", answers);

describe("status on Grid Engine", () => {
  it("reads what the queue says of a running job, and asks nobody else", async () => {
    const { commands, provider } = gridengine({ qstat: queued("r") });
    expect((await provider.status(["7"], SIGNAL)).get("7")).toEqual([
      {
        id: "7",
        key: "daruma-a",
        restart: 0,
        phase: "running",
        stuck: false,
        native: { state: "r", reason: null, exitCode: null, signal: null },
        nodes: ["node1"],
        startedAt: new Date("2026-11-15T11:05:01").getTime(),
        endedAt: null,
        limit: { runtimeMs: 60_000, memoryBytes: 2 * 1024 ** 3 },
        peakMemoryBytes: null,
        source: "queue",
      },
    ]);
    expect(commands.programs).toEqual(["qstat"]);
  });

  it("asks twice for 300 ids", async () => {
    const ids = Array.from({ length: 300 }, (_, index) => String(index + 1));
    const { commands, provider } = gridengine({
      qstat: EMPTY,
      qacct: ids.map((id) => record("0", 0, id, `daruma-${id}`)).join(""),
    });
    const all = await provider.status(ids, SIGNAL);
    expect(commands.calls).toEqual([
      ["qstat", "-u", userInfo().username, "-r", "-xml"],
      ["qacct", "-o", userInfo().username, "-j", "daruma-*"],
    ]);
    expect([...all.values()].every(([only]) => only?.phase === "ended")).toBe(true);
  });

  it.each([
    ["qstat hangs", { qstat: { failure: "timeout" as const }, qacct: NO_RECORD }],
    ["qstat fails", { qstat: { exitCode: 1, stderr: "error: commlib error" }, qacct: NO_RECORD }],
    ["qstat prints garbage", { qstat: "<html>502</html>", qacct: NO_RECORD }],
    ["qstat is cut short", { qstat: queued("r").slice(0, 120), qacct: NO_RECORD }],
    ["qacct hangs", { qstat: EMPTY, qacct: { failure: "timeout" as const } }],
    ["qacct fails", { qstat: EMPTY, qacct: { exitCode: 1, stderr: "Segmentation fault" } }],
    ["qacct is cut short in the record", { qstat: EMPTY, qacct: record("0", 0).slice(0, 200) }],
  ])("is unknown and unreachable where %s", async (_, answers) => {
    expect(await phasesOf(gridengine(answers).provider)).toEqual(["0 unknown (unreachable)"]);
  });

  it.each([
    ["has no record yet", NO_RECORD],
    ["has no file yet", { exitCode: 1, stderr: "/cell/common/accounting: No such file or directory\n" }],
    ["has only records of others", record("0", 0, "8", "daruma-b")],
  ])("is unknown, not ended, where the queue has forgotten and accounting %s", async (_, qacct) => {
    expect(await phasesOf(gridengine({ qstat: EMPTY, qacct }).provider)).toEqual(["0 unknown (none)"]);
  });

  it("counts incarnations by the records, and by the letter R where accounting lags behind", async () => {
    const twice = gridengine({
      qstat: queued("Rr"),
      qacct: record("25  : rescheduling", 0) + record("25  : rescheduling", 99),
    });
    expect(await phasesOf(twice.provider)).toEqual([
      "0 ended (accounting)",
      "1 ended (accounting)",
      "2 running (queue)",
    ]);
    const late = gridengine({ qstat: queued("Rr"), qacct: NO_RECORD });
    expect(await phasesOf(late.provider)).toEqual(["0 ended (queue)", "1 running (queue)"]);
    const between = gridengine({ qstat: EMPTY, qacct: record("25  : rescheduling", 0) });
    expect(await phasesOf(between.provider)).toEqual(["0 ended (accounting)", "1 unknown (none)"]);
  });

  it("goes on where the record is that of an earlier incarnation, which outlived its reschedule", async () => {
    const later = queued("Rr").replace("11:05:01", "11:05:30");
    const { provider } = gridengine({ qstat: later, qacct: record("0", 0) });
    expect(await phasesOf(provider)).toEqual(["0 ended (accounting)", "1 running (queue)"]);
    const same = gridengine({ qstat: queued("Rr"), qacct: record("0", 0) });
    expect(await phasesOf(same.provider)).toEqual(["0 ended (accounting)"]);
  });

  it("takes the reason of a job in error from its record", async () => {
    const { provider } = gridengine({
      qstat: queued("Eqw"),
      qacct: record("26  : opening input/output file", 0),
    });
    const [status] = (await provider.status(["7"], SIGNAL)).get("7")!;
    expect(status).toMatchObject({
      phase: "pending",
      stuck: true,
      native: { reason: "opening input/output file" },
    });
    expect(
      provider.classify(status!, { registered: false, cancelAsked: false, unknownForMs: 0 }),
    ).toMatchObject({
      code: "LAUNCH_FAILED",
      nodeSuspect: true,
    });
  });
});

describe("the verdict on Grid Engine", () => {
  const verdictOn = async (failed: string, exitStatus: number, cancelAsked = false): Promise<string> => {
    const { provider } = gridengine({ qstat: EMPTY, qacct: record(failed, exitStatus) });
    const [status] = (await provider.status(["7"], SIGNAL)).get("7")!;
    const end = provider.classify(status!, { registered: true, cancelAsked, unknownForMs: 0 })!;
    return `${end.code}${end.certain ? "" : "?"}`;
  };

  it("goes by the exit code of the script alone where it was told to leave", async () => {
    expect(await verdictOn("0", 75)).toBe("CANCELED");
    expect(await verdictOn("0", 0)).toBe("DRAINED");
    expect(await verdictOn("37  : qmaster enforced h_rt, h_cpu, or h_vmem limit", 75)).toBe("WALLTIME?");
  });

  it("takes a kill for its own where it has asked for one", async () => {
    expect(await verdictOn("100 : assumedly after job", 137, true)).toBe("CANCELED");
    expect(await verdictOn("100 : assumedly after job", 137)).toBe("PILOT_FAILED?");
  });

  it("needs less silence for a job that was canceled while it waited", async () => {
    const { provider } = gridengine({ qstat: EMPTY, qacct: NO_RECORD });
    const [status] = (await provider.status(["7"], SIGNAL)).get("7")!;
    const code = (cancelAsked: boolean, unknownForMs: number): string | undefined =>
      provider.classify(status!, { registered: false, cancelAsked, unknownForMs })?.code;
    expect([code(true, 29_999), code(true, 30_000)]).toEqual([undefined, "CANCELED"]);
    expect([code(false, 299_999), code(false, 300_000)]).toEqual([undefined, "VANISHED"]);
  });
});

describe("submit on Grid Engine", () => {
  const plan = planned();

  it("gives the script on standard input and reads the id, whatever warnings come with it", async () => {
    const { commands, provider } = gridengine({
      qstat: EMPTY,
      qacct: NO_RECORD,
      qsub: "warning: late\n12\n",
    });
    expect(await provider.submit(plan, SIGNAL)).toEqual({ id: "12", found: false });
    expect(commands.inputs.at(-1)).toBe(plan.script);
  });

  it.each([
    ["in the queue", { qstat: queued("qw", "7", "daruma-test"), qacct: NO_RECORD }],
    ["in accounting only", { qstat: EMPTY, qacct: record("0", 0, "7", "daruma-test") }],
  ])("finds an allocation with its key %s instead of starting another", async (_, answers) => {
    const { commands, provider } = gridengine({ ...answers, qsub: "99\n" });
    expect(await provider.submit(plan, SIGNAL)).toEqual({ id: "7", found: true });
    expect(commands.programs).not.toContain("qsub");
  });

  it.each([
    ["Unable to run job: error: no suitable queues", "TOO_BIG", false],
    ['Unable to run job: Job was rejected because job requests unknown queue "nope.q"', "NO_TARGET", false],
    ['Unable to run job: unknown resource "foo"', "BAD_OPTION", false],
    ['qsub: invalid option argument "--bad"', "BAD_OPTION", false],
    ['Unable to run job: job rejected: the requested project "nope" does not exist', "BAD_OPTION", false],
    ["Unable to run job: denied: host is no submit host", "DENIED", false],
    ["error: commlib error: got select error (Connection refused)", "BUSY", true],
  ])("refuses: %s", async (stderr, refused, retryable) => {
    const { provider } = gridengine({ qstat: EMPTY, qacct: NO_RECORD, qsub: { exitCode: 1, stderr } });
    expect(await provider.submit(plan, SIGNAL)).toMatchObject({ refused, retryable });
  });

  it.each([
    [{ failure: "timeout" as const }, true],
    [
      {
        exitCode: 1,
        stderr: "failed receiving gdi request response (got syncron message receive timeout error)",
      },
      true,
    ],
    [{ exitCode: 1, stderr: "error: commlib error: got select error (Connection refused)" }, undefined],
  ])("knows whether it may have been accepted all the same: %o", async (qsub, lost) => {
    const answer = await gridengine({ qstat: EMPTY, qacct: NO_RECORD, qsub }).provider.submit(plan, SIGNAL);
    expect(answer).toMatchObject({ refused: "BUSY", retryable: true, ...(lost && { answerLost: true }) });
    expect("answerLost" in answer).toBe(lost === true);
  });

  it("submits nothing while it cannot look for the key first", async () => {
    const { commands, provider } = gridengine({ qstat: EMPTY, qacct: { failure: "timeout" }, qsub: "99\n" });
    expect(await provider.submit(plan, SIGNAL)).toMatchObject({ refused: "BUSY", retryable: true });
    expect(commands.programs).not.toContain("qsub");
  });
});

describe("cancel on Grid Engine", () => {
  it("asks a running job to drain with a file beside its log, and deletes one that waits", async () => {
    const folder = mkdtempSync(join(tmpdir(), "daruma-drain-"));
    try {
      const running = gridengine({});
      running.commands.answer("qstat", queued("r"));
      const detailed = `<JB_stdout_path_list><path_list><PN_path>${folder}/log</PN_path></path_list></JB_stdout_path_list>`;
      const provider = createAllocationProvider("gridengine", {
        env: {},
        run: (argv, options) => {
          if (argv.includes("-j")) running.commands.answer("qstat", detailed);
          return running.commands.run(argv, options);
        },
      });
      expect(await provider.cancel("7", "drain", SIGNAL)).toBe("asked");
      expect(readdirSync(folder)).toEqual(["log.drain"]);
      expect(running.commands.programs).toEqual(["qstat", "qstat"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
    const waiting = gridengine({ qstat: queued("qw"), qdel: "" });
    expect(await waiting.provider.cancel("7", "drain", SIGNAL)).toBe("asked");
    expect(waiting.commands.calls.at(-1)).toEqual(["qdel", "7"]);
  });

  it("says gone for what is not in the queue, and nothing while nobody answers", async () => {
    expect(await gridengine({ qstat: EMPTY }).provider.cancel("7", "now", SIGNAL)).toBe("gone");
    const silent = gridengine({ qstat: { failure: "timeout" } });
    await expect(silent.provider.cancel("7", "now", SIGNAL)).rejects.toThrow("did not answer");
    const unheard = gridengine({
      qstat: queued("r"),
      qdel: { exitCode: 1, stderr: "error: commlib error: got select error (Connection refused)" },
    });
    await expect(unheard.provider.cancel("7", "now", SIGNAL)).rejects.toThrow("commlib error");
  });
});

function planned(): Plan {
  const answer = createAllocationProvider("gridengine", { env: {} }).plan(allocationSpec(), []);
  if (isRefusal(answer)) throw new Error(answer.message);
  return answer;
}
