import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { WorkflowInput } from "../../src/file/builder.js";
import { Daruma } from "../../src/host/daruma.js";
import type { RunDesignEvent } from "../../src/operations/runs/event-item.js";
import { defineWorkflow } from "../../src/operations/workflows/define-workflow.js";
import { readDefinition } from "../../src/run/engine/load-run.js";
import { SelfHealFiles } from "../../src/run/wiring/failure-files.js";
import { selfHealArtifact } from "../../src/run/worker/attempt-paths.js";
import { ReplayedRun } from "../../src/tell/lookup/replayed-log.js";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();

/** Fails twice, and then well: watched by self-heal without a workspace. */
const TEXT = (name: string): string => `name: ${name}
self_heal: { step_max_attempts: 3, step_no_progress_limit: 3 }
steps:
  plan: { type: noop }
  ask:
    type: agent
    prompt: do it
    exec: 'test "$DARUMA_ATTEMPT_ID" -gt 2 || { echo "cannot do it yet" >&2; exit 7; }'
    depends_on: [plan]
`;

interface HealFile {
  readonly attempt: number;
  readonly strategy: string | null;
  readonly exhausted: boolean;
}

/** As the listener leaves them that hears of all that is committed. */
async function filesOf(runId: number): Promise<HealFile[]> {
  const { store } = bench.context;
  const { definition_hash: hash } = (await store.readRun(runId))!;
  const definition = await readDefinition(store, runId, hash);
  const replay = new ReplayedRun(runId, () => definition);
  const output = join(bench.folder, `heal-${runId}`);
  const files = new SelfHealFiles(output);
  for (const logged of await store.readEvents(runId)) files.take(replay.fold(logged), [logged]);
  const folder = dirname(selfHealArtifact(output, runId, { step: 1, attempt: 1 }));
  const names = readdirSync(folder).sort();
  return names.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as HealFile);
}

const PAYLOAD = [
  "stepId",
  "stepIndex",
  "attempt",
  "failureClass",
  "failureSignature",
  "diffHash",
  "strategy",
];

describe("the events of design 004", () => {
  it("have its names and the payload that it requires, page by page and filtered", {
    tags: ["M29", "M30"],
  }, async () => {
    const { run_id } = await bench.run(TEXT("named"));
    const names = "design-004" as const;
    const { items, next } = await bench.call("list_run_events", { run_id, names });
    expect(next).toBeNull();
    const asked = items.filter(({ step }) => step === "ask");
    expect(asked.map(({ type, attempt, strategy }) => `${type} ${attempt} ${strategy}`)).toEqual([
      "task.step.attempt.started 1 null",
      "task.step.attempt.failed 1 null",
      "task.self_heal.triggered 1 soft_reset",
      "task.step.attempt.started 2 null",
      "task.step.attempt.failed 2 null",
      "task.self_heal.triggered 2 soft_reset",
      "task.step.attempt.started 3 null",
      "task.step.attempt.finished 3 null",
    ]);
    for (const item of items)
      expect(Object.keys(item)).toEqual(["seq", "at", "step", "scope", "type", ...PAYLOAD]);
    expect(asked[2]).toMatchObject({
      ...{ stepId: "ask", stepIndex: 1, attempt: 1, failureClass: "application", diffHash: null },
      failureSignature: expect.stringMatching(/^v2:[0-9a-f]{64}$/),
    });
    const paged: unknown[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page: Awaited<ReturnType<typeof bench.call<"list_run_events">>> = await bench.call(
        "list_run_events",
        {
          ...{ run_id, names, after, limit: 3 },
        },
      );
      expect(page.items.length).toBeLessThanOrEqual(3);
      paged.push(...page.items);
      after = page.next;
    }
    expect(paged).toEqual(items);
    const failures = await bench.call("list_run_events", { run_id, names, kind: "failures", step: "ask" });
    expect(failures.items.map(({ type }) => type)).toEqual([
      "task.step.attempt.failed",
      "task.step.attempt.failed",
    ]);
  });

  it("are a stream, too, which goes on after a seq", async () => {
    const { run_id } = await bench.run(TEXT("streamed"));
    const { items } = await bench.call("list_run_events", { run_id, names: "design-004" });
    const after = items[3]!.seq;
    const heard: unknown[] = [];
    for await (const { id, event, data } of bench.stream("list_run_events", {
      run_id,
      names: "design-004",
      after,
    }))
      heard.push([id, event, data]);
    expect(heard).toEqual(items.slice(4).map((item) => [String(item.seq), item.type, item]));
  });

  it("say nothing of self-heal where nothing was tried", async () => {
    const { run_id } = await bench.run(
      "name: hopeless\nself_heal: true\nsteps: { ask: { type: agent, prompt: p, exec: [/no/such/program] } }",
    );
    const { items } = await bench.call("list_run_events", { run_id, names: "design-004" });
    expect(items.map(({ type, failureClass }) => [type, failureClass])).toEqual([
      ["task.step.attempt.started", null],
      ["task.step.attempt.failed", "deterministic_contract"],
    ]);
    expect(await filesOf(run_id)).toMatchObject([{ attempt: 1, strategy: null, exhausted: false }]);
  });

  it("say what was tried last where self-heal is used up, and its file that nothing followed", async () => {
    const { run_id } = await bench.run(TEXT("spent").replace("-gt 2", "-gt 9"));
    const { items } = await bench.call("list_run_events", { run_id, names: "design-004" });
    expect(items.at(-1)).toMatchObject({
      type: "task.self_heal.exhausted",
      attempt: 3,
      strategy: "soft_reset",
    });
    expect((await filesOf(run_id)).map(({ strategy, exhausted }) => [strategy, exhausted])).toEqual([
      ["soft_reset", false],
      ["soft_reset", false],
      [null, true],
    ]);
  });

  it("are heard in a program as they are committed", async () => {
    const daruma = await Daruma.open({
      outputDir: join(bench.folder, "library"),
      actions: {
        work: async ({ attempt }) => {
          if (attempt === 1) throw new Error("not yet");
          return null;
        },
      },
    });
    const heard: RunDesignEvent[] = [];
    const stop = daruma.onEvents((events) => heard.push(...events), { names: "design-004" });
    const steps = { a: { type: "work", on_fail: { retry: { max: 1 } } } };
    const workflow = defineWorkflow({ name: "library", steps } as WorkflowInput, { actions: ["work"] });
    await (await daruma.start(workflow)).result;
    stop();
    await daruma.close();
    expect(
      heard.map(({ type, workflow: name, stepId, attempt, strategy }) => [
        type,
        name,
        stepId,
        attempt,
        strategy,
      ]),
    ).toEqual([
      ["task.step.attempt.started", "library", "a", 1, null],
      ["task.step.attempt.failed", "library", "a", 1, null],
      ["task.self_heal.triggered", "library", "a", 1, "soft_reset"],
      ["task.step.attempt.started", "library", "a", 2, null],
      ["task.step.attempt.finished", "library", "a", 2, null],
    ]);
  });
});
