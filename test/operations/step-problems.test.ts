import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();

const flagOf = (name: string): string => join(bench.context.outputDir, name);
const run = async (source: string): Promise<number> => (await bench.run(source)).run_id;
const until = (runId: number, status: string) => bench.until(runId, (found) => found.status === status);

async function problems(workflow: string, more: object = {}) {
  return (await bench.call("list_problems", { workflow, ...more })).items;
}

/** Two items fail alike but for a number and a name, one in another way, and one completes. */
const FAN = (name: string, items: string) => `name: ${name}
unhandled: hold
steps:
  list: { type: script, content: '${items}', forEach: true }
  decode:
    exec: |
      case "{{ foreach.index }}" in
        0) echo "corrupt JPEG data in frame 5 of img-0005.jpg" >&2; exit 1 ;;
        1) echo "corrupt JPEG data in frame 179 of cat.jpg" >&2; exit 1 ;;
        2) echo "no space left on device" >&2; exit 4 ;;
      esac
    depends_on: [list]
`;

describe("items of a fan-out step", () => {
  const FILES = 'return ["img-0005.jpg", "cat.jpg", "dog.jpg", "ok.jpg"]';

  test("are one problem with its kinds, and are called by their values", async () => {
    await run(FAN("fan", FILES));
    const [problem, ...others] = await problems("fan");
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ kind: "hold", step: "decode", runs: 1, jobs: 3, signature: null });
    expect(problem!.kinds.map(({ code, title, jobs, runs }) => [code, title, jobs, runs])).toEqual([
      [
        "EXIT_1",
        expect.stringMatching(/^corrupt JPEG data in frame (?:5 of img-0005|179 of cat)\.jpg$/),
        2,
        1,
      ],
      ["EXIT_4", "no space left on device", 1, 1],
    ]);
    const [alike, other] = problem!.kinds;
    const called = problem!.items.map(({ item, scope, signature }) => [item, scope, signature]);
    expect(called.sort((a, b) => (a[1]! < b[1]! ? -1 : 1))).toEqual([
      ["img-0005.jpg", "root/list[0]", alike!.signature],
      ["cat.jpg", "root/list[1]", alike!.signature],
      ["dog.jpg", "root/list[2]", other!.signature],
    ]);
  });

  test("of several runs are one problem where they have a kind in common, found by the id of each kind", async () => {
    await run(FAN("fans", "return [1, 2]"));
    const [before] = await problems("fans");
    expect(before!.items.map(({ item }) => item).sort()).toEqual(["1", "2"]);
    await run(FAN("fans", 'return [{ id: "a" }, { id: "b" }, { x: 1 }]'));
    const [problem, ...others] = await problems("fans");
    expect(others).toEqual([]);
    expect([problem!.runs, problem!.jobs, problem!.kinds.length]).toEqual([2, 5, 2]);
    expect(
      problem!.items
        .slice(0, 3)
        .map(({ item }) => item)
        .sort(),
    ).toEqual(["a", "b", '{"x":1}']);
    expect((await problems("fans", { problem: before!.id })).map(({ id }) => id)).toEqual([problem!.id]);
    const jobs = problem!.items.filter(({ signature }) => signature === problem!.kinds[1]!.signature);
    await bench.call("decide_problems", { jobs: jobs.map(({ job_id }) => job_id), action: "skip" });
    expect(await problems("fans")).toMatchObject([{ jobs: 4, signature: problem!.kinds[0]!.signature }]);
  });

  test("and a step outside of a fan-out stay problems of their own where they fail in several ways", async () => {
    const plain = (code: number) => `name: plain\nunhandled: hold\nsteps: { a: { exec: 'exit ${code}' } }`;
    await run(plain(3));
    await run(plain(4));
    expect((await problems("plain")).map(({ kinds, jobs }) => [kinds.length, jobs])).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });
});

describe("jobs that one job of the batch form makes", () => {
  /** 1 and 3 fail alike unless the flag is there, 2 fails otherwise. */
  const SWEEP = (name: string, more = "", numbers = "1:4") => `name: ${name}
${more}
jobs:
  - name: "train_{i}"
    parameters: { i: "${numbers}" }
    command: |
      test -e ${flagOf(name)} && exit 0
      case {i} in
        2) echo "no space" >&2; exit 4;;
        1|3) echo "loss is NaN in step {i}" >&2; exit 1;;
      esac
  - { name: score, command: "echo loss is NaN in step 7 >&2; test -e ${flagOf(name)}" }
`;

  test("are one problem with its kinds, called by their names, and are decided at once", async () => {
    const held = await run(SWEEP("sweep"));
    const [family, other, ...more] = (await problems("sweep")).toSorted((a, b) => b.jobs - a.jobs);
    expect(more).toEqual([]);
    expect(other).toMatchObject({ step: "score", jobs: 1, items: [{ step: "score", item: null }] });
    expect(family).toMatchObject({ kind: "hold", step: "train_{i}", runs: 1, jobs: 3, signature: null });
    expect(family!.title).toBe("3 items failed in 2 ways");
    expect(family!.kinds.map(({ code, jobs }) => [code, jobs])).toEqual([
      ["EXIT_1", 2],
      ["EXIT_4", 1],
    ]);
    expect(family!.items.map(({ step, item }) => [step, item]).sort()).toEqual(
      ["train_1", "train_2", "train_3"].map((name) => [name, name]),
    );
    writeFileSync(flagOf("sweep"), "");
    const jobs = family!.items.map(({ job_id }) => job_id);
    await bench.call("decide_problems", { jobs, action: "retry", reason: "more memory" });
    await expect.poll(async () => (await problems("sweep")).map(({ step }) => step)).toEqual(["score"]);
    await bench.call("decide_problems", { jobs: [other!.items[0]!.job_id], action: "retry" });
    await until(held, "completed");
  });

  test("leave each by itself when a later run has passed its step, and all at once when they are set aside", async () => {
    await run(SWEEP("passing", "unhandled: fail"));
    writeFileSync(flagOf("passing"), "");
    await run(SWEEP("passing", "unhandled: fail", "3:4"));
    rmSync(flagOf("passing"));
    const [problem, ...others] = await problems("passing");
    expect(others).toEqual([]);
    expect(problem!.items.map(({ item }) => item).sort()).toEqual(["train_1", "train_2"]);
    await run(SWEEP("passing", "unhandled: fail"));
    const [both] = (await problems("passing")).filter(({ step }) => step === "train_{i}");
    expect(both).toMatchObject({ jobs: 5, runs: 2 });
    const alike = both!.items.filter(({ signature }) => signature === both!.kinds[0]!.signature);
    expect(alike).toHaveLength(3);
    await bench.call("decide_problems", { jobs: [alike[0]!.job_id], action: "set_aside" });
    const left = (await problems("passing")).filter(({ step }) => step === "train_{i}");
    expect(left.flatMap(({ items }) => items.map(({ item }) => item))).toEqual(["train_2", "train_2"]);
  });
});
