import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { OutputOf } from "../../src/operations/client.js";
import { makeRepository } from "../support/git-repository.js";
import { callIn, OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();

type Run = OutputOf<"get_run">;

const waitOf = ({ jobs }: Run, step: string) => jobs.find((job) => job.step === step)!.waits_for;

/** Until every step that is named waits for something. */
async function waiting(source: string, ...steps: string[]): Promise<Run> {
  const { run_id } = await bench.call("start_run", { source } as never);
  return bench.until(run_id, (run) =>
    steps.every((step) => run.jobs.some((job) => job.step === step) && waitOf(run, step) !== null),
  );
}

const end = (run_id: number) => bench.call("control_run", { run_id, action: "cancel" } as never);

test("a job that waits says for what, the same in the run, in the list, by itself and in the explanation", {
  tags: ["B13"],
}, async () => {
  const source = `
name: waits
breakers: { api: {} }
steps:
  ask: { type: human, prompt: "ok?" }
  again: { exec: exit 3, on_fail: { retry: { max: 1, backoff: { delay_ms: 1h } } } }
  gpu: { exec: "true", runs_on: [gpu] }
  call: { exec: "true", uses: [api] }`;
  await bench.run("name: waits\nbreakers: { api: {} }\nsteps: { call: { exec: 'true', uses: [api] } }");
  await bench.call("control_breaker", { name: "waits/api", action: "open", reason: "maintenance" } as never);
  const run = await waiting(source, "ask", "again", "gpu", "call");
  expect(waitOf(run, "ask")).toMatchObject({ kind: "answer", until: null, text: "somebody has to answer" });
  const again = run.jobs.find(({ step }) => step === "again")!;
  expect(again.waits_for).toMatchObject({ kind: "retry", until: again.due_at });
  expect(waitOf(run, "gpu")).toMatchObject({ kind: "worker", text: "no connected worker has the tags gpu" });
  expect(waitOf(run, "call")).toMatchObject({
    kind: "breaker",
    breaker: "waits/api",
    until: null,
    text: expect.stringMatching(/^waits\/api has been open since \S+ \(maintenance\); it was opened by hand/),
  });
  const { run_id } = run;
  const listed = await bench.call("list_jobs", { run_id });
  const told = await bench.call("explain_run", { run_id });
  for (const job of run.jobs) {
    expect(listed.items.find(({ id }) => id === job.id)!.waits_for).toEqual(job.waits_for);
    expect((await bench.call("get_job", { job_id: job.id })).waits_for).toEqual(job.waits_for);
    expect(told.waiting.find(({ job_id }) => job_id === job.id)!.waits_for).toEqual(job.waits_for);
  }
  expect(told.lines).toEqual(
    expect.arrayContaining([
      "Ready and waiting: gpu; no connected worker has the tags gpu.",
      expect.stringMatching(/^Waiting for a breaker: call; waits\/api has been open since /),
    ]),
  );
  const elsewhere = await callIn(bench.withoutRunner, "get_run", { run_id });
  expect(waitOf(elsewhere, "gpu")).toMatchObject({ kind: "worker" });
  await end(run_id);
  expect((await bench.settled(run_id)).jobs.map(({ waits_for }) => waits_for)).toEqual(Array(4).fill(null));
});

test("a job that workers have no room for waits for a slot, one of a paused run for its end", {
  tags: ["B13"],
}, async () => {
  const sleep = ["a", "b", "c", "d"].map((step) => `  ${step}: { exec: sleep 600 }`).join("\n");
  const run = await waiting(`name: full\nsteps:\n${sleep}\n  late: { exec: "true" }`, "late");
  expect(waitOf(run, "late")).toMatchObject({ kind: "slot", text: "the workers that can run it are busy" });
  await bench.call("control_run", { run_id: run.run_id, action: "pause" } as never);
  expect(waitOf(await bench.call("get_run", { run_id: run.run_id }), "late")).toMatchObject({
    kind: "pause",
  });
  await end(run.run_id);
});

test("a job that another keeps from the workspace names that job", { tags: ["B13"] }, async () => {
  const repository = join(bench.folder, "repository");
  makeRepository(repository, { "a.txt": "a\n" });
  const go = join(bench.folder, "go");
  const source = `
name: tree
workspace: { repo: ${repository} }
steps:
  first: { exec: "until test -e ${go}; do sleep 0.05; done" }
  second: { exec: "true" }`;
  const run = await waiting(source, "second");
  const first = run.jobs.find(({ step }) => step === "first")!;
  expect(waitOf(run, "second")).toMatchObject({
    ...{ kind: "workspace", job_id: first.id, text: "first has the workspace" },
  });
  writeFileSync(go, "");
  expect((await bench.settled(run.run_id)).status).toBe("completed");
});
