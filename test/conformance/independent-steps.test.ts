import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listTree } from "../support/git-repository.js";
import { activePath, counting, HealingRuns, healingFile, traceOf } from "../support/healing-runs.js";

const runs = new HealingRuns();

describe("steps of a workspace that do not depend on each other", () => {
  it("keep their changes when a goto takes back the one before them", async () => {
    const from = runs.source();
    const check = counting(from, `ls > ${from.marks}/ls-$n; [ "$n" -gt 1 ] || exit 1`);
    const run = await runs.run(
      healingFile(
        from,
        "",
        `  one: { exec: "echo one >> one.txt" }
  two: { exec: "echo two >> two.txt" }
  check: { exec: ${check}, depends_on: [one, two], on_fail: { goto: one } }
  last: { exec: "echo last > last.txt", depends_on: [check] }`,
      ),
    );
    expect(await traceOf(run)).toEqual([
      ...["start one", "ok one", "start two", "ok two", "start check", "fail check EXIT_1"],
      ...["climb check goto", "goto check -> one after failure, loop 1", "rebuild 1 for one from [2]"],
      ...["rebuilt 1 ok", "promoted 1", "again one check last", "start one", "ok one"],
      ...["start check", "ok check", "start last", "ok last", "run completed"],
    ]);
    const made = (await run.events("attempt.succeeded")).map(({ checkpoint }) => checkpoint!);
    expect(made.map(({ changedFiles }) => changedFiles)).toEqual([
      ["one.txt"],
      ["two.txt"],
      ["one.txt"],
      [],
      ["last.txt"],
    ]);
    expect(readFileSync(join(from.marks, "ls-2"), "utf8")).toBe(
      readFileSync(join(from.marks, "ls-1"), "utf8"),
    );
    const files = listTree(await activePath(run)).filter((line) => /^(one|two|last)\.txt /.test(line));
    expect(files).toHaveLength(3);
    expect(readFileSync(join(await activePath(run), "one.txt"), "utf8")).toBe("one\n");
  });
});
