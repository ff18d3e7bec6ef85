import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot, runCli } from "../support/cli.js";
import { listAttempts, type RecordedRun, runAndRead, statusOfJobs } from "../support/recorded-run.js";

interface ExampleCase {
  readonly file: string;
  /** Attempts in the order of their start. Names in an inner list may start in any order among themselves. */
  readonly order: readonly (string | readonly string[])[];
  /** Jobs that do not end `completed`. */
  readonly otherStatuses?: Readonly<Record<string, string>>;
  /** Rungs taken, in order, as `step rung`, and `step rung to` where the rung leads to another step. */
  readonly routes: readonly string[];
  /** `completed`, exit code 0, unless told. */
  readonly ends?: { readonly status: string; readonly exitCode: number };
  readonly args?: readonly string[];
  /** Steps that belong to another branch: they run once, at any time. */
  readonly beside?: readonly string[];
}

const CASES: readonly ExampleCase[] = [
  {
    file: "demo.yaml",
    order: [
      ...["fetch", "fetch", "fetch", "prepare", "lint", "tidy-up", "lint", "build"],
      ...["prepare", "lint", "build", "stand-up"],
    ],
    routes: ["fetch retry", "fetch retry", "lint remediate tidy-up", "build goto prepare"],
  },
  {
    file: "lab-05-retry.yaml",
    order: ["setup-env", "unit-tests", "unit-tests", "unit-tests", "summary"],
    routes: ["unit-tests retry", "unit-tests retry"],
  },
  { file: "concurrency.yaml", order: ["build", "ship"], routes: [] },
  {
    file: "schedule.yaml",
    order: ["collect", "report"],
    routes: [],
  },
  {
    file: "webhook.yaml",
    order: ["build", "deploy"],
    routes: [],
  },
  {
    file: "remediate.yaml",
    order: ["build", "fix", "build", "after"],
    routes: ["build remediate fix"],
  },
  {
    file: "goto.yaml",
    order: ["setup", "build", "build", "build", "setup", "build", "after"],
    routes: ["build retry", "build retry", "build goto setup"],
    beside: ["docs"],
  },
  {
    file: "for-each.yaml",
    order: ["cities", ["visit@cities[0]", "visit@cities[1]", "visit@cities[1]", "visit@cities[2]"], "report"],
    routes: ["visit retry"],
  },
  {
    file: "undo.yaml",
    order: ["flight", "hotel", "pay", "cancel-hotel", "cancel-hotel", "cancel-flight", "report"],
    routes: ["hotel undo cancel-hotel", "cancel-hotel retry", "flight undo cancel-flight"],
    ends: { status: "failed", exitCode: 1 },
    otherStatuses: { pay: "failed" },
  },
  {
    file: "on-success.yaml",
    order: ["unit-tests", "summary", "notify", "unit-tests", "summary", "notify", "publish"],
    routes: ["summary on_success notify", "summary on_success unit-tests", "summary on_success notify"],
  },
  {
    file: "dynamic-routing.yaml",
    order: ["install", "check", "lint-fix", "check", "install", "check", "report"],
    routes: ["check remediate lint-fix", "check goto install"],
  },
  {
    file: "http-and-script.yaml",
    order: ["sample", "total", "print"],
    otherStatuses: { fetch: "skipped" },
    routes: [],
  },
  {
    file: "failure-handler.yaml",
    order: ["simulate", "simulate", "simulate", "report"],
    routes: ["simulate rule", "simulate rule"],
  },
  {
    file: "failure-edge.yaml",
    order: ["build", "deploy", "deploy", "roll-back"],
    otherStatuses: { deploy: "failed", announce: "skipped", "page-somebody": "skipped" },
    routes: ["deploy retry", "deploy edge roll-back"],
  },
  {
    file: "fix-then-retry.yaml",
    order: ["test", "fix", "test", "publish"],
    routes: ["test edge fix", "fix on_success test"],
  },
  {
    file: "hold.yaml",
    order: ["migrate"],
    otherStatuses: { migrate: "held", deploy: "blocked" },
    routes: [],
    beside: ["docs"],
    ends: { status: "held", exitCode: 3 },
  },
  {
    file: "whole-ladder.yaml",
    order: [
      ...["setup", "test", "test", "lint-fix", "test"],
      ...["setup", "test", "test", "lint-fix", "test"],
      "fallback",
    ],
    otherStatuses: { test: "failed", publish: "blocked", fallback: "held" },
    routes: [
      ...["test retry", "test remediate lint-fix", "test goto setup"],
      ...["test retry", "test remediate lint-fix", "test edge fallback"],
    ],
    ends: { status: "held", exitCode: 3 },
  },
  {
    file: "batch.yaml",
    order: [
      ...["train_0.1_01", "train_0.1_02", "train_0.01_01", "train_0.01_02", "train_0.1_02"],
      ...["score_01", "score_02", "best"],
    ],
    routes: ["train_0.1_02 rule"],
    args: ["--max-parallel", "1"],
  },
  {
    file: "conditions.yaml",
    order: ["survey", "bulk", "download", "mirror", "install"],
    otherStatuses: { download: "failed", "one-by-one": "skipped", queue: "skipped", "give-up": "skipped" },
    routes: ["survey on_success bulk", "download edge mirror"],
  },
  {
    file: "sub-workflow.yaml",
    order: ["prepare", "ship", "ship", "report"],
    routes: ["ship retry"],
  },
  {
    file: "retry-policy.yaml",
    order: ["quote", "quote", "quote", "order", "manual-order"],
    otherStatuses: { order: "failed" },
    routes: ["quote retry", "quote retry", "order edge manual-order"],
  },
  {
    file: "agent.yaml",
    order: ["brief", "mend", "mend", "publish"],
    routes: ["mend retry"],
  },
  {
    file: "self-heal.yaml",
    order: ["where", "draft", "mend", "mend", "mend", "mend", "publish"],
    routes: ["mend retry", "mend retry", "mend reset"],
  },
];

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "daruma-examples-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const runs = new Map<string, Promise<RecordedRun>>();

/** Each is run once, in an output folder of its own, and looked at by several tests. */
function runExample(file: string): Promise<RecordedRun> {
  const { args = [] } = CASES.find((example) => example.file === file)!;
  const run = runs.get(file) ?? runAndRead(join("examples", file), folderOf(file), args);
  runs.set(file, run);
  return run;
}

const folderOf = (file: string): string => join(folder, file);

/** Sorts what may come in any order, so that the whole can be compared at once. */
function sortGroups(order: ExampleCase["order"], attempts: readonly string[]): string[] {
  const sorted: string[] = [];
  let place = 0;
  for (const entry of order) {
    const size = typeof entry === "string" ? 1 : entry.length;
    sorted.push(...attempts.slice(place, place + size).sort());
    place += size;
  }
  return [...sorted, ...attempts.slice(place)];
}

function nameRoute({ step, rung, to }: RecordedRun["routes"][number]): string {
  return to === step ? `${step} ${rung}` : `${step} ${rung} ${to}`;
}

const outputOf = (run: RecordedRun, step: string): unknown =>
  run.jobs.find((job) => job.step === step)?.output;

describe("examples", () => {
  it("each have a case here", async () => {
    const files = (await readdir(join(repositoryRoot, "examples"))).filter((name) => name.endsWith(".yaml"));
    expect(files.sort()).toEqual(CASES.map((example) => example.file).sort());
  });

  it.each(CASES)("$file ends as it says, by exactly the attempts it announces", async (example) => {
    const run = await runExample(example.file);
    const beside = new Set(example.beside);
    const attempts = listAttempts(run);
    expect(attempts.filter((name) => beside.has(name)).sort()).toEqual([...beside].sort());
    const main = attempts.filter((name) => !beside.has(name));
    expect(sortGroups(example.order, main)).toEqual(example.order.flat());

    const statuses = statusOfJobs(run);
    const others = example.otherStatuses ?? {};
    for (const name of [...example.order.flat(), ...beside])
      expect(statuses[name], name).toBe(others[name] ?? "completed");
    expect(statuses).toMatchObject(others);
    expect(run.routes.map(nameRoute)).toEqual(example.routes);
    const { status, exitCode } = example.ends ?? { status: "completed", exitCode: 0 };
    expect(run.status).toBe(status);
    expect(run.exitCode).toBe(exitCode);
  });

  it("tell the story of self-heal.yaml in about twenty lines", { tags: ["M1"] }, async () => {
    const outputDir = folderOf("self-heal.yaml");
    const run = await runExample("self-heal.yaml");
    expect(outputOf(run, "publish")).toBe("Fall seven times, stand up eight");
    const { stdout } = await runCli(["explain", "last", "--output-dir", outputDir]);
    const lines = stdout.split("\n").filter((line) => line.trim() !== "");
    expect(
      lines.map((line) =>
        line
          .trim()
          .replace(/(?:after|in) [\d.]+ m?s/, "*")
          .replace(/ \/.*/, ""),
      ),
    ).toEqual([
      "Run 1 of give the page a better title completed *: 4 of 4 steps completed, 3 failures.",
      "mend: completed",
      "Attempt 1 failed *: exit code 1: review: the title has not changed (EXIT_1).",
      "It left changes in .agent.lock: daruma artifact 1 patches/attempts/j10000003_a1.patch",
      "- retry: yes, EXIT_1: retry 1 of 3.",
      "Attempt 2 failed *: printed nothing for 1.5 s (IDLE_TIMEOUT).",
      'It printed on stdout: "Somebody else is editing. I wait until the lock is gone.".',
      "It left changes in .agent.lock: daruma artifact 1 patches/attempts/j10000003_a2.patch",
      "- retry: yes, IDLE_TIMEOUT: retry 2 of 3.",
      "Attempt 3 failed the same way * (IDLE_TIMEOUT).",
      expect.stringContaining("No progress: the same failure 2 times"),
      "It left changes in .agent.lock: daruma artifact 1 patches/attempts/j10000003_a3.patch",
      expect.stringContaining("- reset: yes, "),
      "A fresh workspace was built beside the old one, from the pinned commit and checkpoint 1.",
      "Attempt 4 completed *.",
      "It changed title.txt (+1 -1 lines): daruma artifact 1 patches/steps/step-0002.patch",
      "The run goes on in the fresh workspace:",
      "Nothing is left to do.",
    ]);
  });

  it("go on with whole-ladder.yaml once its hold is resolved", async () => {
    const outputDir = folderOf("whole-ladder.yaml");
    await runExample("whole-ladder.yaml");
    const word = ["--complete", '"release 6"', "--reason", "put back by hand", "--output-dir", outputDir];
    expect((await runCli(["resolve", "last", "fallback", ...word])).exitCode).toBe(0);
    const resumed = await runCli(["resume", "last", "--json", "--output-dir", outputDir]);
    expect(resumed.exitCode).toBe(1);
    const run = JSON.parse(resumed.stdout) as RecordedRun;
    expect(statusOfJobs(run)).toMatchObject({ test: "failed", publish: "canceled", fallback: "completed" });
    expect(run.status).toBe("failed");
  });

  it("can be run again in the same folder with the same outcome", async () => {
    const first = await runAndRead("examples/remediate.yaml", join(folder, "again"));
    const second = await runAndRead("examples/remediate.yaml", join(folder, "again"));
    expect(second.runId).not.toBe(first.runId);
    expect(listAttempts(second)).toEqual(["build", "fix", "build", "after"]);
  });

  it.each(["lab-05-retry.yaml", "retry-policy.yaml"])(
    "%s is retried with the backoff that it asks for",
    { tags: ["V78", "W1"] },
    async (file) => {
      const run = await runExample(file);
      expect(run.routes.slice(0, 2).map(({ rung }) => rung)).toEqual(["retry", "retry"]);
      const delays = run.events
        .filter((event) => event.type === "retry.scheduled")
        .map((event) => event.delay_ms);
      expect(delays).toEqual([200, 400]);
    },
  );

  it("run the recovery script of failure-handler.yaml once, for the rule that names the code", async () => {
    const run = await runExample("failure-handler.yaml");
    const reserved = run.events.filter((event) => event.type === "rule.reserved");
    expect(reserved.map(({ rule, exit_code, next }) => ({ rule, exit_code, next }))).toEqual([
      { rule: 2, exit_code: 10, next: 2 },
      { rule: 1, exit_code: 75, next: 3 },
    ]);
    const logs = await readdir(join(folderOf("failure-handler.yaml"), "output/job_stdio/run-1"));
    const recovery = logs.filter((name) => name.endsWith("_a1.recovery.o"));
    expect(recovery).toHaveLength(1);
    expect(
      await readFile(
        join(folderOf("failure-handler.yaml"), "output/job_stdio/run-1", recovery[0] ?? ""),
        "utf8",
      ),
    ).toBe("mending attempt 1 of simulate after exit code 10\n");
    expect(logs.filter((name) => name.includes(".recovery.")).every((name) => name.includes("_a1."))).toBe(
      true,
    );
  });

  it("bring the failure to the step that the edge of failure-edge.yaml leads to", async () => {
    const run = await runExample("failure-edge.yaml");
    expect(outputOf(run, "roll-back")).toBe(
      "back to release 6, because deploy failed with EXIT_4:\nerror: the target refused the upload, its disk is full",
    );
  });

  it("go on behind the hold of hold.yaml once somebody has decided it", async () => {
    const outputDir = folderOf("hold.yaml");
    const { runId } = await runExample("hold.yaml");
    const said = ["--complete", '{"rows": 3}', "--reason", "migrated by hand", "--output-dir", outputDir];
    expect((await runCli(["resolve", String(runId), "migrate", ...said])).exitCode).toBe(0);
    const resumed = await runCli(["resume", String(runId), "--json", "--output-dir", outputDir]);
    expect(resumed.exitCode).toBe(0);
    const { jobs } = JSON.parse(resumed.stdout) as { jobs: { step: string; output: unknown }[] };
    expect(jobs.find((job) => job.step === "deploy")?.output).toBe("deployed after 3 rows");
  });

  it("start a child run for each attempt of the step in sub-workflow.yaml", async () => {
    const outputDir = folderOf("sub-workflow.yaml");
    const run = await runExample("sub-workflow.yaml");
    const listed = await runCli(["list", "--json", "--output-dir", outputDir]);
    const runs = JSON.parse(listed.stdout) as { workflow: string; status: string }[];
    expect(runs.map(({ workflow, status }) => `${workflow} ${status}`)).toEqual([
      "ship-region completed",
      "ship-region failed",
      "sub-workflow completed",
    ]);
    expect(outputOf(run, "report")).toBe("sent to north");
  });

  it("tell the agent of agent.yaml what went wrong before", async () => {
    const run = await runExample("agent.yaml");
    expect(outputOf(run, "mend")).toEqual({
      title: "Fall seven times, stand up eight",
      learned: "the title has not changed",
    });
    expect(outputOf(run, "publish")).toBe("published as Fall seven times, stand up eight");
  });

  it("give the reducer of for-each.yaml the outputs in the order of the items", async () => {
    const run = await runExample("for-each.yaml");
    const output = JSON.stringify(run.jobs.find((job) => job.step === "report")?.output);
    expect(output).toMatch(/"branches":3.*seen alpha.*seen beta.*seen gamma/);
  });

  it("fetch over HTTP where http-and-script.yaml is given an address", async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.writeHead(requests === 1 ? 503 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(requests === 1 ? {} : [{ name: "salt", price: 2 }]));
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    try {
      const { port } = server.address() as AddressInfo;
      const run = await runAndRead("examples/http-and-script.yaml", join(folder, "fetched"), [
        "--input",
        `url=http://127.0.0.1:${port}/prices.json`,
      ]);
      expect(listAttempts(run)).toEqual(["fetch", "fetch", "total", "print"]);
      expect(statusOfJobs(run)).toMatchObject({ sample: "skipped", print: "completed" });
      expect(JSON.stringify(run.jobs.find((job) => job.step === "total")?.output)).toContain('"sum":2');
      expect(run.exitCode).toBe(0);
    } finally {
      server.close();
    }
  });
});
