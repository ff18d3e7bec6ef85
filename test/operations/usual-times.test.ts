import { expect, it } from "vitest";
import { readUsualTimes } from "../../src/cli/render/forecast.js";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();
const NEXT_RUN = 1_000;

it("what steps take is read from the last run of the workflow that completed", { tags: ["C3"] }, async () => {
  const file = (exec: string) =>
    `name: usual\nsteps: { a: { exec: "${exec}" }, b: { exec: "true", depends_on: [a] } }`;
  const read = () => readUsualTimes(bench, { workflow: "usual", id: NEXT_RUN });
  expect(await read()).toEqual(new Map());
  expect((await bench.run(file("sleep 0.2"))).status).toBe("completed");
  expect((await bench.run(file("exit 3"))).status).toBe("failed");
  const times = await read();
  expect([...times.keys()]).toEqual(["a", "b"]);
  expect(times.get("a")!.eachMs).toBeGreaterThanOrEqual(200);
  expect(times.get("a")!.wholeMs).toBeGreaterThanOrEqual(200);
});
