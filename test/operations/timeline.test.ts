import { describe, expect, it } from "vitest";
import type { OutputOf } from "../../src/operations/client.js";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();
const FAN_OUT = `name: fan
steps:
  list: { exec: "echo '[1,2,3,4]'", forEach: true }
  each:
    exec: "[ $N != 2 ] || exit 1"
    env: { N: "{{ outputs.list }}" }
    depends_on: [list]
    on_fail: { retry: { max: 1, backoff: { delay_ms: 1 } } }
`;

describe("the timeline of a run", () => {
  it("is the same however often it is asked for, and grows with the run", async () => {
    const { run_id } = await bench.run(FAN_OUT);
    const first = await bench.call("get_timeline", { run_id });
    expect(await bench.call("get_timeline", { run_id })).toEqual(first);
    const { items } = await bench.call("list_run_events", { run_id, limit: 1_000 });
    expect(first.events).toBe(items.at(-1)!.seq);
    expect(first.rows.find(({ step }) => step === "each")).toMatchObject({ jobs: 4, attempts: 5, failed: 2 });
    await bench.call("control_run", { run_id, action: "reset_failed" });
    await bench.settled(run_id);
    const again = await bench.call("get_timeline", { run_id });
    expect(again.rows.find(({ step }) => step === "each")).toMatchObject({ jobs: 4, attempts: 7, failed: 4 });
    expect(again.events).toBeGreaterThan(first.events);
  });
});

describe("the graph of a run", () => {
  it("sums up the jobs of a fan-out, and shows each while there are few", async () => {
    const { run_id } = await bench.run(FAN_OUT);
    const { graph } = await bench.call("workflow_graph", { run_id, format: "json" });
    const each = graph!.nodes.find(({ step }) => step === "each")!;
    expect(each.status).toBe("failed");
    expect(each.jobs).toMatchObject({ total: 4, counts: { completed: 3, failed: 1 }, again: 0, attempts: 5 });
    expect(each.jobs!.cells.map(({ status }) => status)).toEqual([
      "completed",
      "failed",
      "completed",
      "completed",
    ]);
  });
});

describe("the events of a run", () => {
  it("can be filtered by kind, step and text, page by page", async () => {
    const { run_id } = await bench.run(FAN_OUT);
    const types = async (filter: object) => {
      const found: string[] = [];
      for (let after: number | null = 0; after !== null; ) {
        const page: OutputOf<"list_run_events"> = await bench.call("list_run_events", {
          ...{ run_id, limit: 2, after },
          ...filter,
        });
        found.push(...page.items.map(({ type }) => type));
        after = page.next;
      }
      return found;
    };
    expect(await types({ kind: "failures" })).toEqual([
      "attempt.failed",
      "attempt.failed",
      "job.failed",
      "run.failed",
    ]);
    expect(await types({ kind: "decisions", step: "each" })).toEqual([
      "ladder.climbed",
      "retry.scheduled",
      "ladder.climbed",
    ]);
    expect(await types({ text: "FOREACH" })).toEqual([]);
    expect(await types({ text: "exit_1", kind: "failures" })).toContain("attempt.failed");
    expect(await types({ step: "list" })).toEqual(
      expect.arrayContaining(["attempt.started", "attempt.succeeded", "scopes.opened"]),
    );
  });
});
