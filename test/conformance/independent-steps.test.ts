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
    expect(made.map(({ changed_files: changedFiles }) => changedFiles)).toEqual([
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

  it("leave each other's checkpoints alone: what a failed one left is no part of them, and not shipped", {
    tags: ["M17"],
  }, async () => {
    const from = runs.source();
    const run = await runs.run(
      healingFile(
        from,
        "",
        `  bad: { exec: "echo junk > bad-partial.txt; echo more >> a.txt; exit 1" }
  good: { exec: "ls > /dev/null; cat a.txt; echo good > good.txt" }`,
      ),
    );
    expect(await traceOf(run)).toEqual([
      ...["start bad", "fail bad EXIT_1", "climb bad fail", "failed bad EXIT_1"],
      ...["set aside bad 1 for good", "aside bad 1 ok", "start good", "ok good", "run failed EXIT_1"],
    ]);
    const [made] = await run.events("attempt.succeeded");
    expect(made!.checkpoint!.changed_files).toEqual(["good.txt"]);
    expect(run.job("good").output).toBe("a");
    const [aside] = await run.events("set_aside.finished");
    expect(aside).toMatchObject({ patch: "patches/partial/j10000001_a1.patch", files: 2 });
    expect(run.text(aside!.patch!)).toContain("bad-partial.txt");
    const names = listTree(await activePath(run)).map((line) => line.split(" ", 1)[0]);
    expect(names).toEqual(["a.txt", "gone.txt", "good.txt", "old-name.txt"]);
  });

  it("do not spoil a hard reset: the stuck step begins without what it had left", {
    tags: ["M14"],
  }, async () => {
    const from = runs.source();
    const heal =
      "self_heal: { step_max_attempts: 4, step_no_progress_limit: 2, job_self_heal_max_resets: 1 }";
    const agent = JSON.stringify(
      'if [ -e junk ]; then echo "still broken by junk" >&2; exit 1; fi; [ $DARUMA_ATTEMPT_ID -ge 3 ] && exit 0; touch junk; echo "still broken by junk" >&2; exit 1',
    );
    const run = await runs.run(
      healingFile(
        from,
        heal,
        `  agent: { exec: ${agent}, on_fail: { retry: { max: 3, backoff: { mode: fixed, delay_ms: 100 } } } }
  other: { exec: "echo good > good.txt" }`,
      ),
    );
    expect(run.report.status).toBe("completed");
    expect(await traceOf(run)).toEqual([
      ...["start agent", "fail agent EXIT_1", "climb agent retry", "retry agent 1/3 +100"],
      ...["start agent", "fail agent EXIT_1", "climb agent reset", "reset agent for no_progress 1/1"],
      ...["rebuild 1 for agent from []", "rebuilt 1 ok", "start agent", "ok agent", "promoted 1"],
      ...["start other", "ok other", "run completed"],
    ]);
    const made = (await run.events("attempt.succeeded")).map(({ checkpoint }) => checkpoint!.changed_files);
    expect(made).toEqual([[], ["good.txt"]]);
  });

  it("neither hide nor feign that one gets nowhere: its diff hash is of its own changes", {
    tags: ["M7"],
  }, async () => {
    const from = runs.source();
    const heal =
      "self_heal: { step_max_attempts: 3, step_no_progress_limit: 2, job_self_heal_max_resets: 2 }";
    const run = await runs.run(
      healingFile(
        from,
        heal,
        `  a: { exec: 'echo "$DARUMA_ATTEMPT_ID" > g; echo "a fails" >&2; exit 1' }
  b: { exec: 'echo "b always the same" >&2; exit 1' }`,
      ),
    );
    const failures = (await run.events("attempt.failed")).map(
      ({ error, no_progress: noProgress }) =>
        `${error.step_id} [${error.changed_files}] ${noProgress?.streak ?? "-"}`,
    );
    expect(failures).toEqual(["a [g] -", "a [g] -", "a [g] -", "b [] -", "b [] 2", "b [] 3"]);
    expect((await traceOf(run)).filter((line) => /^(climb|set aside|rebuild) /.test(line))).toEqual([
      ...["climb a retry", "climb a retry", "climb a fail", "set aside a 3 for b", "climb b retry"],
      ...["climb b reset", "rebuild 1 for b from []", "climb b fail"],
    ]);
  });
});
