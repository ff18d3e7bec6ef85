import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Daruma } from "../../src/host/daruma.js";
import { callOperation } from "../../src/operations/call-operation.js";
import type { RunDocument } from "../../src/operations/exchange/run-document.js";
import { OPERATIONS } from "../../src/operations/operations.js";
import { bareServer } from "../support/api-server.js";
import { runCli } from "../support/cli.js";
import { OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();

async function publish(name: string, text: string): Promise<void> {
  await bench.call("save_draft", { name, source: text });
  await bench.call("publish_workflow", { name });
}

/** An exported run whose steps now do something else. */
async function forged(run_id: number, exec: string): Promise<RunDocument> {
  const document = (await bench.call("export_run", { run_id })) as unknown as RunDocument;
  const definition = JSON.parse(document.definition) as { steps: { action: { exec: string } }[] };
  for (const { action } of definition.steps) action.exec = exec;
  return { ...document, definition: JSON.stringify(definition) };
}

const importOf = async (document: RunDocument): Promise<number> =>
  (await bench.call("import_run", { document: document as never })).run_id;

const greeting = (name: string, words: string): string =>
  `name: ${name}\nsteps: { a: { type: command, exec: "echo ${words}" } }`;

describe("a workflow that is started by name", () => {
  const outputOf = async (name: string): Promise<unknown> => {
    const { run_id } = await bench.call("start_run", { workflow: name });
    return (await bench.settled(run_id)).jobs[0]!.output;
  };

  it("is the published one, whatever an import or a text of the same name brought since", async () => {
    await publish("release", greeting("release", "published"));
    const { run_id } = await bench.call("start_run", { workflow: "release" });
    await bench.settled(run_id);
    const imported = await importOf(await forged(run_id, "echo IMPORTED"));
    expect(await outputOf("release")).toBe("published");
    await bench.run(greeting("release", "ADHOC"));
    expect(await outputOf("release")).toBe("published");
    const shown = await bench.call("get_workflow", { name: "release" });
    expect(shown.versions.map(({ published }) => published)).toEqual([false, false, true]);
    expect([shown.version, shown.published]).toEqual([1, true]);
    const listed = (await bench.call("list_workflows", {})).items.find(({ name }) => name === "release");
    expect(listed).toMatchObject({ version: 1, published: true });
    const { workflow_id } = await bench.call("get_run", { run_id: imported });
    const start = (what: object) => refusalOf(bench.call("start_run", what));
    expect(await start({ workflow: "release", version: 2 })).toBe("WORKFLOW_NOT_PUBLISHED");
    expect(await start({ workflow: workflow_id })).toBe("WORKFLOW_NOT_PUBLISHED");
    await publish("release", greeting("release", "second"));
    expect(await outputOf("release")).toBe("second");
  });

  it("is refused where none of its versions was published", async () => {
    await bench.run(greeting("adhoc", "x"));
    expect(await refusalOf(bench.call("start_run", { workflow: "adhoc" }))).toBe("WORKFLOW_NOT_PUBLISHED");
  });

  it("is found by its id although an import is called like that id", async () => {
    await publish("numbered", greeting("numbered", "mine"));
    const { id } = await bench.call("get_workflow", { name: "numbered" });
    await bench.run(greeting(`"${id}"`, "NAMED LIKE AN ID"));
    const { run_id } = await bench.call("start_run", { workflow: String(id) });
    expect((await bench.settled(run_id)).jobs[0]!.output).toBe("mine");
  });
});

const STANDING = `name: standing
unhandled: hold
steps:
  done: { type: command, exec: "true" }
  broken: { type: command, exec: "exit 3", depends_on: [done] }
  ask: { type: human, prompt: "ok?" }
`;

/** What each operation is asked about a run and one of its jobs. */
function requests(run_id: number, job_id: number): { [operation: string]: object[] } {
  const control = (action: string) => ({ run_id, action, step_id: "broken" });
  return {
    control_run: [
      ...["pause", "resume", "takeover", "retry_step", "hard_reset_step", "resume_from_step"].map(control),
      control("reset_failed"),
    ],
    resolve_holds: [
      { classifications: [{ job_id, action: "retry" }] },
      { classifications: [{ job_id, action: "fail" }], dry_run: true },
      { classifications: [{ job_id: "broken", action: "retry" }], run_id },
      { classifications: [{ job_id: String(job_id), action: "retry" }] },
    ],
    update_job: [
      { job_id, status: "ready" },
      { job_id: "broken", run_id, status: "ready" },
    ],
    retry_job: [{ job_id, run_id, max_retries: 9 }],
    redrive_job: [{ job_id }],
    start_campaign: [{ run_id }, { run_id, dry_run: true, kind: ["hold"] }],
    decide_problems: [
      { jobs: [job_id], action: "retry" },
      { jobs: [job_id], action: "set_aside", dry_run: true },
    ],
    answer_job: [{ job_id, choice: "approve" }],
    recover_run: [{ run_id }, { run_id, dry_run: true, retry_unknown: true }],
    plan_cluster: [{ run_id }, { run_id, dry_run: true }],
    fork_run: [{ run_id, step: "broken" }],
    apply_run: [{ run_id }, { run_id, branch: "result" }],
  };
}

describe("an imported run", () => {
  it("is refused by every operation that acts on a run, at every interface, and stays as it is", async () => {
    const { run_id } = await bench.call("start_run", { source: STANDING });
    await bench.until(run_id, ({ jobs }) => jobs.some(({ status }) => status === "held"));
    const imported = await importOf(await forged(run_id, "touch /tmp/never"));
    const before = await bench.call("get_run", { run_id: imported });
    const asked = requests(imported, before.jobs.find(({ step }) => step === "broken")!.id);
    const acting = OPERATIONS.filter(({ actsOn }) => actsOn !== undefined).map(({ name }) => name);
    expect(Object.keys(asked).sort()).toEqual(acting.sort());
    const { context } = bench;
    const { app } = await bareServer({ store: context.store, context: () => context });
    let refused = 0;
    for (const [name, inputs] of Object.entries(asked))
      for (const input of inputs) {
        // MCP and the library call operations by name.
        expect([name, await refusalOf(callOperation(context, name, input))]).toEqual([name, "IMPORTED_RUN"]);
        const { rest } = OPERATIONS.find((operation) => operation.name === name)!;
        const given: { [field: string]: unknown } = { ...input };
        const path = rest.path.replace(/\{(\w+)\}/g, (_, field: string) => {
          const value = String(given[field]);
          delete given[field];
          return value;
        });
        const query = (rest.query ?? []).map((field) => `${field}=${String(given[field])}`).join("&");
        for (const field of rest.query ?? []) delete given[field];
        const answer = await app.inject({
          method: rest.method as "POST",
          url: `/api/v1${path}?${query}`,
          headers: { host: "127.0.0.1" },
          payload: given,
        });
        expect([name, answer.statusCode, answer.json<{ code: string }>().code]).toEqual([
          name,
          422,
          "IMPORTED_RUN",
        ]);
        refused += 2;
      }
    await app.close();
    expect(await bench.call("get_run", { run_id: imported })).toEqual(before);
    console.log(`imported runs: ${refused} requests to act on one, ${refused} refused`);
    await bench.call("control_run", { run_id, action: "cancel", wait_ms: 10_000 });
  });

  it("is marked, waits for nobody, is advised nothing, and can be canceled, so that it can be pruned", async () => {
    const { run_id } = await bench.call("start_run", { source: STANDING });
    await bench.until(run_id, ({ jobs }) => jobs.some(({ status }) => status === "held"));
    const imported = await importOf(await forged(run_id, "true"));
    const shown = await bench.call("get_run", { run_id: imported });
    expect([shown.imported, shown.interrupted, shown.status]).toEqual([true, false, "running"]);
    const { items } = await bench.call("list_runs", { limit: 2 });
    expect(items.map(({ imported: mark }) => mark)).toEqual([true, false]);
    const holds = await bench.call("list_holds", {});
    expect(new Set(holds.items.map((hold) => hold.run_id))).toEqual(new Set([run_id]));
    const problems = await bench.call("list_problems", {});
    expect(new Set(problems.items.flatMap((each) => each.items.map((job) => job.run_id)))).toEqual(
      new Set([run_id]),
    );
    const { advice } = await bench.call("explain_run", { run_id: imported });
    expect(advice.map(({ kind }) => kind)).toEqual(["nothing"]);
    const canceled = await bench.call("control_run", { run_id: imported, action: "cancel" });
    expect(canceled.status).toBe("canceled");
    await bench.call("control_run", { run_id, action: "cancel", wait_ms: 10_000 });
  });
});

it("every operation that changes something of a run says which runs those are", () => {
  const NAMES = ["run_id", "job_id", "classifications", "jobs"];
  for (const { name, effect, input, actsOn } of OPERATIONS) {
    const isAboutARun = effect !== "reads" && NAMES.some((field) => field in input.shape);
    expect([name, actsOn !== undefined]).toEqual([name, isAboutARun]);
  }
});

describe("on the command line and in a program", () => {
  let folder = "";
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "daruma-imported-"))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("an imported run is neither resumed, forked from, applied nor operated on", async () => {
    const file = join(folder, "flow.yaml");
    const mark = join(folder, "ran");
    writeFileSync(file, `unhandled: hold\nsteps: { a: { exec: "exit 3" } }\n`);
    const place = ["--output-dir", join(folder, "out")];
    await runCli(["run", file, ...place]);
    const { stdout } = await runCli(["export", "1", ...place]);
    const document = JSON.parse(stdout) as RunDocument;
    const definition = JSON.parse(document.definition) as { steps: { action: { exec: string } }[] };
    definition.steps[0]!.action.exec = `touch ${mark}`;
    const saved = join(folder, "run.json");
    writeFileSync(saved, JSON.stringify({ ...document, definition: JSON.stringify(definition) }));
    expect((await runCli(["import", saved, ...place])).exitCode).toBe(0);
    for (const words of [
      ["resume", "2"],
      ["fork", "2", "--from", "a"],
      ["retry", "2", "a"],
      ["reset", "2", "--failed-only"],
      ["apply", "2"],
      ["resolve", "2", "a", "--retry"],
    ]) {
      const { exitCode, stderr } = await runCli([...words, ...place]);
      expect([words[0], exitCode, stderr]).toEqual([words[0], 2, expect.stringContaining("IMPORTED_RUN")]);
    }
    expect((await runCli(["list", ...place])).stdout).toContain("held (imported)");
    expect((await runCli(["show", "2", ...place])).stdout).toContain("held (imported)");
    const daruma = await Daruma.open({ outputDir: join(folder, "out") });
    const command = { type: "run.reset", reason: "", key: null } as const;
    const fork = { run: 2, step: "a" };
    for (const ask of [
      () => daruma.resume(2),
      () => daruma.operate(2, command),
      () => daruma.start(daruma.load(file), { fork }),
    ])
      expect(await refusalOf(ask())).toBe("IMPORTED_RUN");
    await daruma.close();
    expect(execFileSync("ls", [folder]).toString()).not.toContain("ran");
  });
});

describe("a document that no export has written", () => {
  const exported = async (): Promise<RunDocument> => {
    const { run_id } = await bench.call("start_run", { source: greeting("plain", "x") });
    await bench.settled(run_id);
    return (await bench.call("export_run", { run_id })) as unknown as RunDocument;
  };
  const withFiles = (document: RunDocument, ...names: string[]): RunDocument => ({
    ...document,
    files: names.map((name) => ({ name, base64: "eA==" })),
  });
  const renamed = (document: RunDocument, name: string): RunDocument => {
    const [{ event: created, ...first }, ...others] = document.events as [
      RunDocument["events"][number],
      ...RunDocument["events"],
    ];
    return {
      ...document,
      run: { ...document.run, workflow: name },
      definition: JSON.stringify({ ...JSON.parse(document.definition), name }),
      events: [{ ...first, event: { ...created, workflow: name } as never }, ...others],
    };
  };

  it.each([
    ["artifacts/outputs", "artifacts/outputs/j10000001_a1.json"],
    ["artifacts/outputs/j10000001_a1.json", "artifacts/outputs/j10000001_a1.json/x"],
    ["artifacts/Outputs", "artifacts/outputs/x"],
    ["artifacts/a", "artifacts/a"],
    ["logs/1_a1.o", "logs/1_a1.o"],
  ])("is refused where one file would have to be two things: %s and %s", async (one, other) => {
    const document = await exported();
    expect(await refusalOf(importOf(withFiles(document, one, other)))).toBe("IMPORT_INVALID");
    expect(await refusalOf(importOf(withFiles(document, other, one)))).toBe("IMPORT_INVALID");
  });

  it.each([["a\n\u001b[2Jb"], ["x".repeat(201)]])("is refused where its name is none: %j", async (name) => {
    expect(await refusalOf(importOf(renamed(await exported(), name)))).toBe("IMPORT_INVALID");
  });

  it("is taken with another name and with files of its own", async () => {
    const document = withFiles(await exported(), "artifacts/a/x", "artifacts/ab", "logs/1_a1.o");
    expect(await importOf(renamed(document, "x".repeat(200)))).toBeGreaterThan(0);
  });
});
