import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Daruma } from "../../src/host/daruma.js";

let folder = "";
let daruma: Daruma;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "daruma-held-below-"));
  daruma = await Daruma.open({ outputDir: join(folder, "out") });
});
afterEach(async () => {
  await daruma.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): string {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, `name: ${name}\n${text}`);
  return file;
}

const call = (file: string) => `{ type: workflow, file: ${file}.yaml }`;

it("A hold two levels down holds up both runs above it, and one decision and one resume go on with all", async () => {
  write("leaf", `unhandled: hold\nsteps: { work: { exec: "test -f ok || exit 6" } }`);
  write("middle", `steps: { leaf: ${call("leaf")} }`);
  const top = write("top", `steps: { middle: ${call("middle")} }`);
  const { runId, result } = await daruma.start(top);
  const held = { run_id: runId + 2, workflow: "leaf", status: "held", steps: "work" };
  expect(await result).toMatchObject({ status: "running", interrupted: false, held_below: [held] });
  expect(await daruma.get(runId + 1)).toMatchObject({ interrupted: false, held_below: [held] });
  expect((await daruma.list()).items.map(({ held_below }) => held_below.length)).toEqual([0, 1, 1]);
  writeFileSync(join(folder, "ok"), "");
  const [hold] = (await daruma.call("list_holds", {})).items;
  await daruma.call("resolve_holds", { classifications: [{ job_id: hold!.id, action: "retry" }] });
  expect(await daruma.get(runId)).toMatchObject({ interrupted: true, held_below: [] });
  const again = await daruma.resume(runId);
  expect(await again.result).toMatchObject({ status: "completed", held_below: [] });
  expect((await daruma.list()).items.map(({ status }) => status)).toEqual(Array(3).fill("completed"));
});

it("A run list that waits for a child run which is held holds up its run, too", async () => {
  write("mend", `unhandled: hold\nsteps: { work: { exec: "exit 6" } }`);
  const text = `steps:
  test: { exec: "exit 3", on_fail: { run: [mend] } }
  mend: ${call("mend")}
  after: { exec: "true", depends_on: [test] }
`;
  const { runId, result } = await daruma.start(write("repairs", text));
  const mend = (await daruma.call("list_jobs", { run_id: runId, step: "mend" })).items[0]!;
  expect((await result).held_below).toMatchObject([{ run_id: runId + 1, under_job_id: mend.id }]);
});

it("Of a fan-out of child runs those that are held hold it up when the others are over", async () => {
  write(
    "item",
    `unhandled: hold\ninputs: { n: { type: string } }\nsteps: { work: { exec: "exit {{ inputs.n }}" } }`,
  );
  const text = `steps:
  list: { exec: "echo '[5, 6, 7, 8]'", forEach: true }
  each: { type: workflow, file: item.yaml, inputs: { n: "{{ foreach.key }}" }, depends_on: [list] }
`;
  const { result } = await daruma.start(write("many", text));
  const { held_below, jobs } = await result;
  expect(held_below).toHaveLength(3);
  expect(jobs.map(({ status }) => status)).toEqual(["completed", "completed", "ready", "ready", "ready"]);
});

it("A child run that somebody pauses holds up its run, and a resume of that goes on with both", async () => {
  write(
    "slow",
    `steps: { one: { exec: "until test -f go; do sleep 0.02; done" }, two: { exec: "true", depends_on: [one] } }`,
  );
  const { runId, result } = await daruma.start(write("above", `steps: { slow: ${call("slow")} }`));
  while ((await daruma.list()).items.length < 2) await new Promise((soon) => setImmediate(soon));
  await daruma.call("control_run", { run_id: runId + 1, action: "pause" });
  writeFileSync(join(folder, "go"), "");
  expect((await result).held_below).toMatchObject([{ run_id: runId + 1, status: "paused" }]);
  expect(await (await daruma.resume(runId)).result).toMatchObject({ status: "completed" });
});
