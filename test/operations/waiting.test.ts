import { describe, expect, it } from "vitest";
import { callIn, OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();

describe("list_waiting", () => {
  it("names ready jobs without a worker once for each reason, and not what waits for a person", async () => {
    const source = `
name: graphics
steps:
  render: { exec: "true", runs_on: [gpu] }
  encode: { exec: "true", runs_on: [gpu] }
  ask: { type: human, prompt: "Go on?" }
`;
    expect(await bench.call("list_waiting", {})).toEqual({ items: [] });
    const { run_id } = await bench.call("start_run", { source, inputs: {}, file_name: "graphics.yaml" });
    await bench.until(run_id, ({ jobs }) =>
      jobs.some(({ step, status }) => step === "ask" && status === "waiting"),
    );
    const { items } = await bench.call("list_waiting", {});
    const job_id = (await bench.context.store.readJobs(run_id)).find(({ step }) => step === "render")!.id;
    expect(items).toEqual([
      ...[
        {
          kind: "worker",
          reason: "no connected worker has the tags gpu",
          jobs: 2,
          run_id,
          workflow: "graphics",
          job_id,
          step: "render",
        },
      ],
    ]);
    expect(await callIn(bench.withoutRunner, "list_waiting", {})).toEqual({ items: [] });
  });
});
