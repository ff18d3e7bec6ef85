import { describe, expect, it } from "vitest";
import type { CommandAnswer } from "../../src/fleet/allocations/command.js";
import { createAllocationProvider } from "../../src/fleet/allocations/create-provider.js";
import type {
  AllocationProvider,
  AllocationSpec,
  Plan,
  Refusal,
} from "../../src/fleet/allocations/provider.js";
import { isRefusal } from "../../src/fleet/allocations/provider.js";
import { allocationSpec } from "../support/allocation-spec.js";
import { phasesOf, scriptedProvider } from "../support/scripted-commands.js";

const SIGNAL = new AbortController().signal;
const HEADER = "JobID|State|ExitCode|NodeList|Start|End|Timelimit|ReqMem|MaxRSS|JobName";
const RUNNING = "7|RUNNING|None|0|0|node[1-2]|1794740557|1794740857|5:00|daruma-a|\n";

type Answers = Parameters<typeof scriptedProvider>[1];
const slurm = (answers: Answers) => scriptedProvider("slurm", answers);

describe("status on Slurm", () => {
  it("reads what the queue says of a running job, and asks nobody else", async () => {
    const { commands, provider } = slurm({ squeue: RUNNING });
    expect((await provider.status(["7"], SIGNAL)).get("7")).toEqual([
      {
        id: "7",
        key: "daruma-a",
        restart: 0,
        phase: "running",
        stuck: false,
        native: { state: "RUNNING", reason: null, exitCode: 0, signal: null },
        nodes: ["node1", "node2"],
        startedAt: 1794740557000,
        endedAt: null,
        limit: { runtimeMs: 300_000, memoryBytes: null },
        peakMemoryBytes: null,
        source: "queue",
      },
    ]);
    expect(commands.programs).toEqual(["squeue"]);
  });

  it("asks twice for 300 ids", async () => {
    const ids = Array.from({ length: 300 }, (_, index) => String(index + 1));
    const rows = ids.map((id) => `${id}|COMPLETED|0:0|node1|1|2|00:05:00|50M||daruma-${id}`);
    const { commands, provider } = slurm({ squeue: "", sacct: [HEADER, ...rows, ""].join("\n") });
    const all = await provider.status(ids, SIGNAL);
    expect(commands.programs).toEqual(["squeue", "sacct"]);
    expect([...all.values()].every(([only]) => only?.phase === "ended")).toBe(true);
  });

  it.each([
    ["squeue hangs", { squeue: { failure: "timeout" as const }, sacct: HEADER }],
    [
      "squeue fails",
      { squeue: { exitCode: 1, stderr: "Unable to contact slurm controller" }, sacct: HEADER },
    ],
    ["squeue prints garbage", { squeue: "<html>502</html>\n", sacct: HEADER }],
    ["squeue is cut short in the row", { squeue: RUNNING.slice(0, 40), sacct: HEADER }],
    ["sacct hangs", { squeue: "", sacct: { failure: "timeout" as const } }],
    ["sacct prints garbage", { squeue: "", sacct: "Segmentation fault\n" }],
    ["sacct is cut short", { squeue: "", sacct: `${HEADER}\n7|COMPLETED|0:0|no` }],
  ])("is unknown and unreachable where %s", async (_, answers) => {
    expect(await phasesOf(slurm(answers).provider)).toEqual(["0 unknown (unreachable)"]);
  });

  it("is unknown, not ended, where the queue has forgotten and accounting has not heard", async () => {
    const late = slurm({ squeue: "", sacct: HEADER });
    expect(await phasesOf(late.provider)).toEqual(["0 unknown (none)"]);
    const stale = slurm({
      squeue: "",
      sacct: `${HEADER}\n7|RUNNING|0:0|node1|1|Unknown|00:05:00|50M||daruma-a\n`,
    });
    expect(await phasesOf(stale.provider)).toEqual(["0 unknown (none)"]);
  });

  it("is unknown where the queue has forgotten and accounting is off", async () => {
    const { provider } = slurm({
      squeue: "",
      sacct: { exitCode: 1, stderr: "Slurm accounting storage is disabled\n" },
    });
    expect(await phasesOf(provider)).toEqual(["0 unknown (none)"]);
  });

  it("takes an end from accounting while the controller is silent", async () => {
    const { provider } = slurm({
      squeue: { failure: "timeout" },
      sacct: `${HEADER}\n7|TIMEOUT|0:0|node1|1|2|00:05:00|50M||daruma-a\n`,
    });
    expect(await phasesOf(provider)).toEqual(["0 ended (accounting)"]);
  });

  it("counts incarnations by the queue where accounting lags behind", async () => {
    const { provider } = slurm({
      squeue: RUNNING.replace("|None|0|", "|None|2|"),
      sacct: `${HEADER}\n7|NODE_FAIL|0:0|node1|1|2|00:05:00|50M||daruma-a\n`,
    });
    expect(await phasesOf(provider)).toEqual([
      "0 ended (accounting)",
      "1 ended (queue)",
      "2 running (queue)",
    ]);
  });

  it("ignores records of an older job that had the same number", async () => {
    const { provider } = slurm({
      squeue: "",
      sacct: `${HEADER}\n7|FAILED|1:0|node1|1|2|00:05:00|50M||assembly\n7|COMPLETED|0:0|node1|3|4|00:05:00|50M||daruma-a\n`,
    });
    expect(await phasesOf(provider)).toEqual(["0 ended (accounting)"]);
  });

  it.each([
    ["4:59", 299, "WALLTIME"],
    ["5:00", 9, "PREEMPTED"],
  ])("takes a TIMEOUT with the limit %s after %i s for %s", async (limit, seconds, code) => {
    const { provider } = slurm({
      squeue: `7|TIMEOUT|TimeLimit|0|0|node1|1000|${1000 + seconds}|${limit}|daruma-a|\n`,
    });
    const [status] = (await provider.status(["7"], SIGNAL)).get("7")!;
    const end = provider.classify(status!, { registered: true, cancelAsked: false, unknownForMs: 0 });
    expect(end).toMatchObject({ code, wideClass: code === "WALLTIME" ? "resource" : "infrastructure" });
  });

  it("marks a job that no scheduler will ever start", async () => {
    const { provider } = slurm({ squeue: "7|PENDING|PartitionTimeLimit|0|0||0|0|5:00|daruma-a|\n" });
    const [status] = (await provider.status(["7"], SIGNAL)).get("7")!;
    expect(status).toMatchObject({ phase: "pending", stuck: true, startedAt: null });
    expect(
      provider.classify(status!, { registered: false, cancelAsked: false, unknownForMs: 0 }),
    ).toMatchObject({
      code: "NEVER_STARTS",
    });
  });
});

describe("cancel on Slurm", () => {
  const PENDING = "7|PENDING|Priority|0|0||0|0|5:00|daruma-a|\n";

  it("drains a job that has started while it was to leave the queue", async () => {
    const { commands } = slurm({ squeue: PENDING, scancel: "" });
    const provider = createAllocationProvider("slurm", {
      env: {},
      run: (argv, options) => {
        if (argv[0] === "scancel") commands.answer("squeue", RUNNING);
        return commands.run(argv, options);
      },
    });
    expect(await provider.cancel("7", "drain", SIGNAL)).toBe("asked");
    expect(commands.calls.filter(([program]) => program === "scancel")).toEqual([
      ["scancel", "--state=PENDING", "7"],
      ["scancel", "--batch", "--signal=USR1", "7"],
    ]);
  });

  it("has asked only if the controller has heard it, or the job has just ended", async () => {
    const stderr = "Unable to contact slurm controller (connect failure)";
    const unheard = slurm({ squeue: RUNNING, scancel: { exitCode: 1, stderr } });
    await expect(unheard.provider.cancel("7", "drain", SIGNAL)).rejects.toThrow(stderr);
    const ended = "Kill job error on job id 7: Job/step already completing or completed";
    const over = slurm({ squeue: RUNNING, scancel: { exitCode: 1, stderr: ended } });
    expect(await over.provider.cancel("7", "drain", SIGNAL)).toBe("asked");
  });
});

describe("submit on Slurm", () => {
  const plan = planned(createAllocationProvider("slurm", { env: {} }), allocationSpec({ key: "daruma-a" }));

  it("gives the script on standard input and reads the id", async () => {
    const { commands, provider } = slurm({ squeue: "", sacct: HEADER, sbatch: "12;cluster\n" });
    expect(await provider.submit(plan, SIGNAL)).toEqual({ id: "12", found: false });
    expect(commands.inputs.at(-1)).toBe(plan.script);
  });

  it.each([
    ["in the queue", { squeue: RUNNING, sacct: HEADER }],
    [
      "in accounting only",
      { squeue: "", sacct: `${HEADER}\n7|COMPLETED|0:0|node1|1|2|00:05:00|50M||daruma-a\n` },
    ],
  ])("finds an allocation with its key %s instead of starting another", async (_, answers) => {
    const { commands, provider } = slurm({ ...answers, sbatch: "99\n" });
    expect(await provider.submit(plan, SIGNAL)).toEqual({ id: "7", found: true });
    expect(commands.programs).not.toContain("sbatch");
  });

  it("submits again what Slurm refused and keeps as failed, and lists it no more", async () => {
    const refused = "7|FAILED|0:1|None assigned|1|1|00:05:00|50M||daruma-a";
    const { provider } = slurm({ squeue: "", sacct: `${HEADER}\n${refused}\n`, sbatch: "99\n" });
    expect(await provider.submit(plan, SIGNAL)).toEqual({ id: "99", found: false });
    expect(await provider.list("daruma-", SIGNAL)).toEqual([]);
  });

  it.each([
    ["Batch job submission failed: Requested node configuration is not available", "TOO_BIG", false],
    ["Batch job submission failed: Invalid partition name specified", "NO_TARGET", false],
    ["unrecognized option '--foo'", "BAD_OPTION", false],
    [
      "Batch job submission failed: Invalid account or account/partition combination specified",
      "DENIED",
      false,
    ],
    ["Batch job submission failed: Access/permission denied", "DENIED", false],
    ["Batch job submission failed: Unable to contact slurm controller (connect failure)", "BUSY", true],
    ["Batch job submission failed: Socket timed out on send/recv operation", "BUSY", true],
  ])("refuses: %s", async (stderr, refused, retryable) => {
    const { provider } = slurm({ squeue: "", sacct: HEADER, sbatch: { exitCode: 1, stderr } });
    expect(await provider.submit(plan, SIGNAL)).toMatchObject({ refused, retryable });
  });

  it("may be tried again when sbatch does not answer, or the queue cannot be asked first", async () => {
    const hangs = slurm({ squeue: "", sacct: HEADER, sbatch: { failure: "timeout" } });
    expect(await hangs.provider.submit(plan, SIGNAL)).toMatchObject({ refused: "BUSY", retryable: true });
    const silent = slurm({ squeue: { failure: "timeout" }, sacct: HEADER, sbatch: "99\n" });
    expect(await silent.provider.submit(plan, SIGNAL)).toMatchObject({ refused: "BUSY", retryable: true });
    expect(silent.commands.programs).not.toContain("sbatch");
  });

  it.each<[string, string | Partial<CommandAnswer>, true | undefined]>([
    ["sbatch hangs", { failure: "timeout" }, true],
    ["sbatch is killed with the server", { failure: "canceled" }, true],
    ["sbatch is not there", { failure: "missing" }, undefined],
    ["sbatch prints no id", "ok\n", true],
    ["the controller is slow", { exitCode: 1, stderr: "Socket timed out on send/recv operation" }, true],
    [
      "nobody listens",
      { exitCode: 1, stderr: "Unable to contact slurm controller (connect failure)" },
      undefined,
    ],
    ["it is denied", { exitCode: 1, stderr: "Access/permission denied" }, undefined],
  ])("knows whether it may have been accepted all the same: %s", async (_, sbatch, lost) => {
    const answer = await slurm({ squeue: "", sacct: HEADER, sbatch }).provider.submit(plan, SIGNAL);
    expect(answer).toMatchObject({ refused: expect.any(String) });
    expect((answer as Refusal).answerLost).toBe(lost);
  });
});

function planned(provider: AllocationProvider, spec: AllocationSpec): Plan {
  const answer = provider.plan(spec, []);
  if (isRefusal(answer)) throw new Error(answer.message);
  return answer;
}
