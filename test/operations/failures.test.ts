import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();

const failing = (name: string, said: string, exit = 3): string =>
  `name: ${name}\nsteps:\n  call: { type: command, exec: 'echo "${said}" >&2; exit ${exit}' }\n`;
const flaky = (name: string): string => `name: ${name}
steps:
  call:
    type: command
    exec: 'echo "connection refused" >&2; test "$DARUMA_ATTEMPT_ID" != 1'
    on_fail: { retry: { max: 1 } }
`;

async function listed(workflow: string, more: object = {}) {
  return (await bench.call("list_failures", { workflow, ...more })).items;
}

async function signatureIn(workflow: string): Promise<string> {
  const [item] = await listed(workflow);
  return item!.signature;
}

/** The server's own duty. */
async function untilRolledUp(): Promise<void> {
  while ((await bench.context.store.listUnrolled(null, 1)).length > 0) await delay(20);
}

describe("list_failures", () => {
  test("has one item for a failure however often it came, with what rescued it", {
    tags: ["B6"],
  }, async () => {
    await bench.run(flaky("rescued"));
    await bench.run(flaky("rescued"));
    const [item, ...others] = await listed("rescued");
    expect(others).toEqual([]);
    expect(item).toMatchObject({
      ...{ workflow: "rescued", step: "call", state: "new", code: "EXIT_1", class: "application" },
      ...{ occurrences: 2, runs: 2, sample: "connection refused" },
      rescued_by: "a retry (2 of 2)",
      rescues: [{ by: "retry", rescued: 2, not_rescued: 0 }],
    });
    // Both runs completed after they had met it.
    expect(item!.completed_since).toBe(item!.last_run);
  });

  test("answers the same before and after rows are rolled up", { tags: ["B3"] }, async () => {
    await bench.run(failing("rolled", "no disk"));
    const before = await listed("rolled");
    await untilRolledUp();
    expect(await listed("rolled")).toEqual(before);
    expect(before).toMatchObject([{ occurrences: 1 }]);
  });

  test("goes from page to page without leaving one out or telling one twice", { tags: ["B6"] }, async () => {
    for (const letters of ["aa", "bb", "cc", "dd", "ee"]) await bench.run(failing("paged", `no ${letters}`));
    const seen: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await bench.call("list_failures", {
        workflow: "paged",
        limit: 2,
        ...(after === undefined ? {} : { after }),
      });
      seen.push(...page.items.map(({ sample }) => sample));
      if (page.next === null) break;
      after = page.next;
    }
    expect(seen).toEqual(["ee", "dd", "cc", "bb", "aa"].map((letters) => `no ${letters}`));
    expect((await bench.call("list_failures", { after: "nonsense" })).items).toEqual([]);
  });

  test("keeps the count of runs that were pruned", { tags: ["B3"] }, async () => {
    await bench.run(failing("pruned", "no room"));
    await bench.call("prune_runs", { older_than: "0s", status: ["failed"] });
    expect(await listed("pruned")).toMatchObject([{ occurrences: 1, runs: 1 }]);
    const signature = await signatureIn("pruned");
    expect((await bench.call("get_failure", { signature, workflow: "pruned" })).occurrences).toEqual([]);
  });

  test("refuses a signature, a class and a time that are none", async () => {
    await expect(bench.call("list_failures", { signature: "not hex" })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    for (const wrong of [{ since: "soon" }, { class: "bad luck" }, { state: ["odd"] }])
      await expect(bench.call("list_failures", wrong as never)).rejects.toThrow();
  });
});

describe("triage_failure", () => {
  test("tells known, muted and resolved apart, and that one came back in a later run", {
    tags: ["B5"],
  }, async () => {
    await bench.run(failing("triaged", "no luck"));
    const signature = await signatureIn("triaged");
    const short = signature.slice(3, 13);
    const noted = await bench.call("triage_failure", {
      ...{ action: "note", signature: short, workflow: "triaged", note: "seen before", owner: "ana" },
    });
    expect(noted.items).toMatchObject([
      { state: "known", note: "seen before", owner: "ana", triaged_by: "tester", link: null },
    ]);
    await bench.call("triage_failure", { action: "mute", signature, workflow: "triaged", until: "1h" });
    expect(await listed("triaged")).toEqual([]);
    expect(await listed("triaged", { state: ["muted"] })).toMatchObject([{ note: "seen before" }]);
    await bench.call("triage_failure", { action: "resolve", signature, workflow: "triaged" });
    expect(await listed("triaged")).toEqual([]);
    expect(await listed("triaged", { state: ["all"] })).toMatchObject([{ state: "resolved" }]);
    // A word about one that is resolved does not open it again.
    await bench.call("triage_failure", { action: "note", signature, workflow: "triaged", note: "2.3" });
    expect(await listed("triaged", { state: ["resolved"] })).toMatchObject([{ note: "2.3" }]);
    await bench.run(failing("triaged", "no luck"));
    expect(await listed("triaged")).toMatchObject([{ state: "regressed", occurrences: 2 }]);
  });

  test("is about every step that has met the failure, unless a workflow is named", {
    tags: ["B5"],
  }, async () => {
    await bench.run(failing("one", "shared trouble"));
    await bench.run(failing("two", "shared trouble"));
    const signature = await signatureIn("one");
    const { items } = await bench.call("triage_failure", { action: "note", signature, note: "both" });
    expect(items.map(({ workflow, state }) => [workflow, state]).sort()).toEqual([
      ["one", "known"],
      ["two", "known"],
    ]);
  });

  test("refuses what no failure begins with, what several do, and a mute without an end", async () => {
    await expect(
      bench.call("triage_failure", { action: "note", signature: "0000000000ff" }),
    ).rejects.toMatchObject({ code: "FAILURE_NOT_FOUND" });
    const signature = await signatureIn("one");
    await expect(bench.call("triage_failure", { action: "mute", signature })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  });

  test("changes nothing about what the ladder does", { tags: ["B5"] }, async () => {
    const first = await bench.run(flaky("unchanged"));
    const signature = await signatureIn("unchanged");
    for (const action of ["note", "resolve"] as const)
      await bench.call("triage_failure", { action, signature, workflow: "unchanged" });
    const second = await bench.run(flaky("unchanged"));
    expect(second.routes.map(({ rung }) => rung)).toEqual(first.routes.map(({ rung }) => rung));
  });
});

test("a step that passed by retry alone is flaky, with its share and cost; one that failed for good is not", {
  tags: ["B4"],
}, async () => {
  await bench.run(flaky("wobbly"));
  await bench.run(failing("wobbly", "no way"));
  const { items } = await bench.call("list_flakes", { workflow: "wobbly" });
  expect(items).toMatchObject([
    { workflow: "wobbly", step: "call", flaky: 1, jobs: 2, rate: 0.5, trend: "new" },
  ]);
  expect(items[0]!.cost_ms).toBeGreaterThanOrEqual(0);
  expect((await bench.call("list_flakes", { workflow: "elsewhere" })).items).toEqual([]);
});

test("jobs that one job of the batch form makes are one row for each of their failures, and one flaky step", async () => {
  const command = 'test "$DARUMA_ATTEMPT_ID" -gt 1 || { echo "connection {i} reset" >&2; exit 7; }';
  const { run_id } = await bench.run(`name: family
jobs:
  - name: "train_{i}"
    parameters: { i: "1:3" }
    command: '${command}'
    on_fail: { retry: { max: 1, backoff: { delay_ms: 1 } } }`);
  const [failure, ...others] = await listed("family");
  expect(others).toEqual([]);
  expect(failure).toMatchObject({ step: "train_{i}", occurrences: 3, runs: 1, last_run: run_id });
  expect(failure!.rescues).toEqual([{ by: "retry", rescued: 3, not_rescued: 0 }]);
  expect(failure!.last_step).toMatch(/^train_[123]$/);
  const { signature } = failure!;
  const { occurrences } = await bench.call("get_failure", { signature, step: "train_{i}" });
  expect(occurrences.map(({ step }) => step).sort()).toEqual(["train_1", "train_2", "train_3"]);
  const { items } = await bench.call("list_flakes", { workflow: "family" });
  expect(items).toMatchObject([
    {
      step: "train_{i}",
      flaky: 3,
      jobs: 3,
      rate: 1,
      last_run: run_id,
      last_step: expect.stringMatching(/^train_/),
    },
  ]);
});
