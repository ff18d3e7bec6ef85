import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/model/events.js";
import { openWorkspaces } from "../../src/run/workspace/workspaces.js";
import { eventually } from "../support/daruma-process.js";
import { git, listTree, makeRepository } from "../support/git-repository.js";
import {
  activePath,
  counting,
  HealingRuns,
  healingFile,
  traceOf,
  untilEvent,
} from "../support/healing-runs.js";
import { isAlive } from "../support/process-trial.js";
import { filesIn } from "../support/real-run.js";
import { SlowGit } from "../support/slow-git.js";

const runs = new HealingRuns();

describe("with real git: soft reset", () => {
  it("a hanging command goes silent, is ended and recovers in the same workspace", {
    tags: ["M2", "M6", "M13", "M17", "M19", "M38"],
  }, async () => {
    const from = runs.source();
    const hang = counting(
      from,
      `[ "$n" -gt 1 ] && exec cp half.txt whole.txt; echo $$ > ${from.marks}/pid; echo half > half.txt; sleep 60`,
    );
    const run = await runs.run(
      healingFile(
        from,
        "self_heal: true",
        `  plan: { exec: "echo planned > plan.txt" }
  edit: { exec: ${hang}, idle_timeout_ms: 500, kill_grace_ms: 100, depends_on: [plan] }`,
      ),
    );
    expect(await traceOf(run)).toEqual([
      ...["start plan", "ok plan", "start edit", "fail edit IDLE_TIMEOUT", "climb edit retry"],
      ...["retry edit 1/2 +0", "start edit", "ok edit", "run completed"],
    ]);
    expect(isAlive(Number(readFileSync(join(from.marks, "pid"), "utf8")))).toBe(false);
    const [failed] = await run.events("attempt.failed");
    expect(failed!.error).toMatchObject({ class: "transient_runtime", changed_files: ["half.txt"] });
    expect(failed!.error.diff_hash).toMatch(/^[0-9a-f]{64}$/);
    const [plan, edit] = (await run.events("attempt.succeeded")).map(({ checkpoint }) => checkpoint!);
    expect(plan).toMatchObject({ ordinal: 1, changed_files: ["plan.txt"] });
    expect(edit).toMatchObject({ ordinal: 2, changed_files: ["half.txt", "whole.txt"] });
    const state = JSON.parse(run.text("state/steps/step-0002.json"));
    expect(state).toMatchObject({ step_id: "edit", index: 1, attempts: 2, diff_hash: edit!.diff_hash });
    expect(run.text("patches/steps/step-0002.patch")).toContain("whole.txt");
  });

  it("leaves the fields of section 14 for each failed attempt, redacted", {
    tags: ["M31", "M34", "M35"],
  }, async () => {
    const from = runs.source();
    const secret = "hunter2-but-longer";
    const fail = counting(
      from,
      '[ "$n" -gt 1 ] && exit 0; echo x > "of-$TOKEN.txt"; echo "bad $TOKEN" >&2; exit 3',
    );
    const run = await runs.run(
      healingFile(from, "self_heal: true\nsecrets: [TOKEN]", `  edit: { exec: ${fail} }`),
      {
        env: { ...process.env, TOKEN: secret },
      },
    );
    const left = JSON.parse(run.text("state/self_heal/attempt-0001-0001.json"));
    const [failed] = await run.events("attempt.failed");
    expect(left).toMatchObject({
      step_id: "edit",
      step_index: 0,
      attempt: 1,
      failure_class: "application",
      failure_signature: failed!.error.signature,
      diff_hash: failed!.error.diff_hash,
      strategy: "soft_reset",
      changed_files: ["of-[redacted:TOKEN].txt"],
    });
    const kept = filesIn(join(run.outputDir, "output")).filter((path) => !path.includes("/workspace/"));
    const records = kept.filter((path) => !path.includes("/patches/"));
    for (const path of records) expect(readFileSync(path, "utf8"), path).not.toContain(secret);
    // The checkpoint names it redacted, too; the patch has the real name, or it could not be replayed.
    const [made] = await run.events("attempt.succeeded");
    expect(made!.checkpoint!.changed_files).toEqual(["of-[redacted:TOKEN].txt"]);
    expect(JSON.parse(run.text("state/steps/step-0001.json")).changed_files).toEqual(
      made!.checkpoint!.changed_files,
    );
    expect(JSON.stringify(await run.daruma.store.readEvents(run.report.run_id))).not.toContain(secret);
    expect(run.text("patches/steps/step-0001.patch")).toContain(`of-${secret}.txt`);
  });

  it("tells an agent's next attempt which files it had changed, and of the transcript the last 1,000 characters", {
    tags: ["M13", "M16"],
  }, async () => {
    const from = runs.source();
    const agent = counting(
      from,
      `cat > ${from.marks}/prompt-$n; [ "$n" -gt 1 ] && exit 0; printf LONG_%s TRANSCRIPT; printf '=%.0s' $(seq 2000); printf END_%s OF_IT; echo x > wrong.txt; echo "no such module" >&2; exit 3`,
    );
    const run = await runs.run(
      healingFile(from, "self_heal: true", `  edit: { type: agent, exec: ${agent}, prompt: mend it }`),
    );
    const [failed] = await run.events("attempt.failed");
    const told = readFileSync(join(from.marks, "prompt-2"), "utf8");
    expect(told).toContain("changed_files: 1\n- wrong.txt");
    expect(told).toContain(`diff_hash: ${failed!.error.diff_hash}`);
    expect(told).toContain("do not re-run unchanged remediation");
    // stderr first, and of stdout what it leaves of the room.
    expect(told).toContain("stderr, last 15 of 15 characters:\nno such module\n");
    expect(told).toContain("stdout, last 985 of 2024 characters:\n");
    expect(told).toMatch(/[^=]={976}END_OF_IT/);
    expect(told).not.toContain("LONG_TRANSCRIPT");
  });
});

describe("with real git: hard reset", () => {
  const THREE = `  binary: { exec: "printf '\\\\000\\\\001\\\\377\\\\n' > data.bin; mkdir -p deep/er; echo new > deep/er/untracked.txt" }
  rename: { exec: "mv old-name.txt new-name.txt; rm gone.txt; ln -s a.txt link", depends_on: [binary] }
  modes: { exec: "echo '#!/bin/sh' > run.sh; chmod +x run.sh; printf '\\\\002' >> data.bin", depends_on: [rename] }
`;

  it("after repeated no progress recovers with the files of three earlier steps byte-identical", {
    tags: ["M1", "M2", "M14", "M15", "M31", "M39"],
  }, async () => {
    const from = runs.source();
    const stuck = counting(
      from,
      `[ "$n" = 1 ] && cp -R . ${from.marks}/photo; if [ "$n" -lt 3 ]; then rm -rf deep data.bin .git; echo junk > junk.txt; echo same >&2; exit 1; fi; touch edit.txt`,
    );
    const run = await runs.run(
      healingFile(from, "self_heal: true", `${THREE}  edit: { exec: ${stuck}, depends_on: [modes] }`),
    );
    expect((await traceOf(run)).slice(6)).toEqual([
      ...["start edit", "fail edit EXIT_1", "climb edit retry", "retry edit 1/2 +0"],
      ...["start edit", "fail edit EXIT_1", "climb edit reset", "reset edit for no_progress 1/1"],
      ...["rebuild 1 for edit from [1 2 3]", "rebuilt 1 ok", "start edit", "ok edit", "promoted 1"],
      "run completed",
    ]);
    const path = await activePath(run);
    const edited = listTree(path);
    expect(edited.filter((line) => !line.startsWith("edit.txt "))).toEqual(
      listTree(join(from.marks, "photo")),
    );
    expect(edited.length).toBe(listTree(join(from.marks, "photo")).length + 1);
    const [opened] = await run.events("workspace.opened");
    const [promoted] = await run.events("workspace.promoted");
    expect(path).toBe(promoted!.path);
    expect(existsSync(opened!.path)).toBe(false);
    expect(JSON.parse(run.text("state/self_heal/attempt-0004-0002.json"))).toMatchObject({
      failure_class: "stuck_no_progress",
      original_class: "application",
      strategy: "hard_reset",
    });
  });

  it("that cannot be built leaves the old workspace as it was, and the failure climbs on", {
    tags: ["M15"],
  }, async () => {
    const from = runs.source();
    const break_ = '"$DARUMA_OUTPUT_DIR/run-$DARUMA_RUN_ID/patches/steps/step-0001.patch"';
    const stuck = counting(
      from,
      `echo junk > junk.txt; rm -rf ${break_}; mkdir -p ${break_}/in-the-way; echo same >&2; exit 1`,
    );
    const run = await runs.run(
      healingFile(
        from,
        "self_heal: true",
        `  plan: { exec: "echo planned > plan.txt" }\n  edit: { exec: ${stuck}, depends_on: [plan] }`,
      ),
    );
    expect(run.report.status).toBe("failed");
    expect(await traceOf(run)).toContain("rebuilt 1 failed");
    const [finished] = await run.events("rebuild.finished");
    expect(finished!.message).toContain("step-0001.patch");
    const [opened] = await run.events("workspace.opened");
    expect(await activePath(run)).toBe(opened!.path);
    expect(readFileSync(join(opened!.path, "plan.txt"), "utf8")).toBe("planned\n");
    expect(existsSync(join(opened!.path, "junk.txt"))).toBe(true);
    expect(await openWorkspaces(run).find(run.report.run_id, join(opened!.path, "..", "2"))).toBeNull();
  });

  it("brings a workspace back that a step has removed", async () => {
    const from = runs.source();
    const vandal = counting(from, '[ "$n" = 1 ] && rm -rf "$PWD"; exit 0');
    const run = await runs.run(
      healingFile(
        from,
        "self_heal: { step_max_attempts: 4 }",
        `  plan: { exec: "echo planned > plan.txt" }\n  edit: { exec: ${vandal}, depends_on: [plan] }`,
      ),
    );
    const codes = (await run.events("attempt.failed")).map(({ error }) => error.code);
    expect(codes).toEqual(["WORKSPACE_NOT_FOUND", "WORKSPACE_NOT_FOUND"]);
    expect(run.report.status).toBe("completed");
    expect(readFileSync(join(await activePath(run), "plan.txt"), "utf8")).toBe("planned\n");
  });

  it("a goto takes the files back to the checkpoint before its target", async () => {
    const from = runs.source();
    const check = counting(from, '[ "$n" = 1 ] && exit 1; cat log.txt');
    const run = await runs.run(
      healingFile(
        from,
        "",
        `  plan: { exec: "echo plan >> log.txt" }
  edit: { exec: "echo edit >> log.txt", depends_on: [plan] }
  check: { exec: ${check}, depends_on: [edit], on_fail: { goto: edit } }`,
      ),
    );
    expect(run.job("check").output).toBe("plan\nedit");
    expect(await traceOf(run)).toContain("rebuild 1 for edit from [1]");
  });
});

describe("with real git: the pinned commit", () => {
  it("is what a hard reset starts from, although the branch has moved on meanwhile", {
    tags: ["M44"],
  }, async () => {
    const repo = makeRepository(join(runs.folder, "moving"), { "a.txt": "pinned\n" });
    const pinned = git(repo, "rev-parse", "HEAD");
    const from = { repo, marks: mkdtempSync(join(runs.folder, "moving-marks-")) };
    const move = `echo moved $n > ${repo}/a.txt; git -C ${repo} -c user.name=n -c user.email=e commit -qam moved`;
    const stuck = counting(from, `[ "$n" -gt 2 ] && exec cat a.txt; ${move} && { echo same >&2; exit 1; }`);
    const run = await runs.run(healingFile(from, "self_heal: true", `  edit: { exec: ${stuck} }`));
    expect((await traceOf(run)).at(-2)).toBe("promoted 1");
    expect(git(repo, "rev-list", "--count", `${pinned}..main`)).toBe("2");
    expect(run.job("edit").output).toBe("pinned");
    expect(git(await activePath(run), "rev-parse", "HEAD")).toBe(pinned);
  });
});

describe("with real git: resume from a step", () => {
  it("builds the files anew from the pinned commit and the checkpoints before it, and goes forward there", {
    tags: ["M18"],
  }, async () => {
    const from = runs.source();
    const run = await runs.run(
      healingFile(
        from,
        "",
        `  plan: { exec: "echo plan >> log.txt" }
  edit: { exec: "echo edit >> log.txt", depends_on: [plan] }
  check: { exec: "cat log.txt; ls", depends_on: [edit] }`,
      ),
    );
    const { run_id } = run.report;
    const files = "a.txt\ngone.txt\nlog.txt\nold-name.txt";
    expect(run.job("check").output).toBe(`plan\nedit\n${files}`);
    writeFileSync(join(await activePath(run), "stray.txt"), "of no step");
    const job = run.job("edit").id;
    await run.daruma.operate(run_id, { type: "step.resume_from", job, reason: "once more", key: null });
    const report = await (await run.daruma.resume(run_id)).result;
    expect(report.jobs.map(({ step, visits }) => [step, visits])).toEqual([
      ["plan", 1],
      ["edit", 2],
      ["check", 2],
    ]);
    expect(report.jobs.at(-1)!.output).toBe(`plan\nedit\n${files}`);
    expect(await traceOf(run)).toContain("rebuild 1 for edit from [1]");
  });
});

describe("with real git: the queue", () => {
  it("exhausted recovery is requeued from its checkpoints, and is a dead letter when that is used up", {
    tags: ["M24", "M40"],
  }, async () => {
    const from = runs.source();
    const stuck = counting(
      from,
      'ls > seen; [ -e junk.txt ] || echo "clean $n" >&2; echo junk > junk.txt; exit 1',
    );
    const run = await runs.run(
      healingFile(
        from,
        `self_heal: { step_max_attempts: 1 }
queue: { max_attempts: 2, classes: [application, stuck_no_progress], backoff: { mode: fixed, delay_ms: 50 } }`,
        `  plan: { exec: "echo planned > plan.txt" }\n  edit: { exec: ${stuck}, depends_on: [plan] }`,
      ),
    );
    expect((await traceOf(run)).slice(2)).toEqual([
      ...["start edit", "fail edit EXIT_1", "climb edit requeue", "requeue edit 1/1 +50"],
      ...["reset edit for requeue", "rebuild 1 for edit from [1]", "rebuilt 1 ok"],
      ...["start edit", "fail edit EXIT_1", "climb edit fail", "dead letter edit after 2"],
      ...["failed edit EXIT_1", "discarded 1", "run failed EXIT_1"],
    ]);
    expect(run.report.status).toBe("failed");
    const failures = await run.events("attempt.failed");
    expect(failures.map(({ error }) => error.stderr_tail.trim())).toEqual(["clean 1", "clean 2"]);
    expect(JSON.parse(run.text("attempt-0002-0001.json"))).toMatchObject({ strategy: "requeue" });
    expect(JSON.parse(run.text("attempt-0002-0002.json"))).toMatchObject({ exhausted: true });
  });
});

describe("with real git: controls", () => {
  it("cancel during a self-heal attempt ends its processes and nothing is tried again", {
    tags: ["M21", "M41"],
  }, async () => {
    const from = runs.source();
    const hang = counting(from, '[ "$n" = 1 ] && exit 1; echo $$ > pid; sleep 60 & echo $! >> pid; wait');
    const daruma = await runs.start();
    const flow = runs.write("cancel.yaml", healingFile(from, "self_heal: true", `  edit: { exec: ${hang} }`));
    const second = untilEvent(daruma, (event) => event.type === "attempt.started" && event.attempt === 2);
    const { runId, result } = await daruma.start(flow);
    await second;
    const { path } = (await openWorkspaces(daruma).current(runId))!;
    const pids = await eventually("both processes", () => {
      const found = existsSync(join(path, "pid")) ? readFileSync(join(path, "pid"), "utf8").split("\n") : [];
      return found.length === 3 && found.slice(0, 2).map(Number);
    });
    await daruma.cancel(runId, "enough");
    expect((await result).status).toBe("canceled");
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect((await daruma.store.readEvents(runId)).filter(isStart)).toHaveLength(2);
  });

  it("pause around a retry boundary: nothing starts until the run is resumed", {
    tags: ["M22", "M42"],
  }, async () => {
    const from = runs.source();
    const fail = counting(from, '[ "$n" = 1 ] && { echo half > half.txt; exit 1; }; cat half.txt');
    const daruma = await runs.start();
    const retry = "on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: 300 } } }";
    const flow = runs.write(
      "pause.yaml",
      healingFile(from, "self_heal: true", `  edit: { exec: ${fail}, ${retry} }`),
    );
    const waiting = untilEvent(daruma, ({ type }) => type === "retry.scheduled");
    const { runId, result } = await daruma.start(flow);
    await waiting;
    await daruma.operate(runId, { type: "run.pause", reason: "look", key: null, takeover: false });
    expect((await result).status).toBe("paused");
    expect((await daruma.store.readEvents(runId)).filter(isStart)).toHaveLength(1);
    const report = await (await daruma.resume(runId)).result;
    expect(report.status).toBe("completed");
    expect(report.jobs[0]!.output).toBe("half");
  });

  it("cancel in the middle of a recovery gives the fresh workspace up and leaves the old one", async () => {
    const from = runs.source();
    const slow = new SlowGit(join(runs.folder, "slow"));
    const stuck = JSON.stringify("echo junk > junk.txt; echo same >&2; exit 1");
    const daruma = await runs.start();
    const flow = runs.write(
      "recovery.yaml",
      healingFile(
        from,
        "self_heal: true",
        `  plan: { exec: "echo planned > plan.txt" }\n  edit: { exec: ${stuck}, depends_on: [plan] }`,
      ),
    );
    const path = process.env.PATH;
    process.env.PATH = slow.path;
    try {
      const { runId, result } = await daruma.start(flow);
      await slow.reached();
      await daruma.cancel(runId, "enough");
      slow.open();
      expect((await result).status).toBe("canceled");
      const active = (await openWorkspaces(daruma).current(runId))!;
      expect(existsSync(join(active.path, "junk.txt"))).toBe(true);
      const trees = join(active.path, "..");
      expect(readdirSync(trees)).toEqual(["1"]);
    } finally {
      process.env.PATH = path;
    }
  });
});

function isStart({ event }: { readonly event: Event }): boolean {
  return event.type === "attempt.started";
}
