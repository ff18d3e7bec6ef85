import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import type { Outcome } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const TOP = "workspace: { repo: . }\nself_heal: true";
const BACK = `${TOP}
steps:
  fix: { exec: fix }
  review: { exec: review, depends_on: [fix], on_fail: { goto: { step: fix, max: 5 } } }`;
const bad: Outcome = { exit: 1, stderr: "app.txt needs three lines" };

/** What a mending step leaves: another tree for each name, null for nothing. */
function leaves(diff: string | null): Outcome {
  return {
    output: null,
    checkpoint: { commit: `c-${diff}`, diff_hash: diff, changed_files: ["app.txt"], patch: "p" },
  };
}

describe("a loop with self_heal", () => {
  it("ends when the same failure comes back to the same tree, and the failure climbs on", async () => {
    const run = await trial(BACK, { fix: [leaves("d1")], review: [bad] });
    expect(trace(run).filter((line) => !/^(rebuil|promot)/.test(line))).toEqual([
      ...["start fix", "ok fix", "start review", "fail review EXIT_1", "climb review goto"],
      ...["goto review -> fix after failure 1/5, loop 1", "again fix review"],
      ...["start fix", "ok fix", "start review", "fail review EXIT_1"],
      ...["climb review fail", "failed review EXIT_1", "run failed EXIT_1"],
    ]);
    const [first, second] = run.events("attempt.failed");
    expect(first).toMatchObject({ no_progress: null, error: { class: "application" } });
    expect(second).toMatchObject({
      no_progress: { streak: 2, limit: 2, oscillation: false, rounds: true },
      error: { class: "stuck_no_progress", original_class: "application" },
    });
    const last = run.events("ladder.climbed").at(-1)!.considered;
    expect(last.filter(({ rung }) => rung === "reset" || rung === "goto")).toMatchObject([
      { kind: "does_not_concern", reason: "what mends this step makes no progress, not the step itself" },
      {
        kind: "no_progress",
        reason: "no progress: the same failure in 2 rounds, and the same files after each",
      },
    ]);
  });

  it.each([
    [
      "the files differ after each round",
      { fix: [leaves("d1"), leaves("d2"), leaves("d3")], review: [bad, bad, "ok"] },
    ],
    [
      "the review counts fewer problems",
      {
        fix: [leaves("d1")],
        review: [{ exit: 1, stderr: "8 problems" }, { exit: 1, stderr: "5 problems" }, "ok"],
      },
    ],
  ] as const)("goes on where %s", async (_, script) => {
    const run = await trial(BACK, script);
    expect(run.order).toEqual(["fix", "review", "fix", "review", "fix", "review"]);
    expect(run.run.status).toBe("completed");
  });

  it("neither counts an outage nor begins anew after one", async () => {
    const down: Outcome = { facts: { httpStatus: 503, message: "down" } };
    const run = await trial(BACK, { fix: [leaves("d1")], review: [bad, down, bad] });
    expect(run.order).toEqual(["fix", "review", "fix", "review", "fix", "review"]);
    expect(run.events("attempt.failed").map(({ no_progress: found }) => found?.streak ?? null)).toEqual([
      ...[null, null, 2],
    ]);
  });

  it("is judged by the limit of self_heal, and only where it is set", async () => {
    const limited = BACK.replace("self_heal: true", "self_heal: { step_no_progress_limit: 3 }");
    const later = await trial(limited, { fix: [leaves("d1")], review: [bad] });
    expect(later.order).toHaveLength(6);
    const never = await trial(BACK.replace("self_heal: true", ""), { fix: [leaves("d1")], review: [bad] });
    expect(never.order).toHaveLength(12);
  });

  it("is not in vain after one round, even with a limit of 1", async () => {
    const limited = BACK.replace("self_heal: true", "self_heal: { step_no_progress_limit: 1 }");
    const run = await trial(limited, {
      fix: [leaves("d1"), leaves("d2"), leaves("d3")],
      review: [bad, { exit: 2, stderr: "other" }, "ok"],
    });
    expect(run.order).toEqual(["fix", "review", "fix", "review", "fix", "review"]);
  });

  it("is not judged where the mending step has no workspace", async () => {
    const run = await trial(BACK.replace("{ exec: fix }", "{ exec: fix, workspace: false }"), {
      fix: ["ok"],
      review: [bad],
    });
    expect(run.order).toHaveLength(12);
  });

  it("takes the next way out that leads elsewhere: the edge instead of the goto", async () => {
    const run = await trial(
      `${BACK}\n  give_up: { type: noop }\ntransitions: [{ from: review, to: give_up, on: failure }]`,
      { fix: [leaves("d1")], review: [bad] },
    );
    expect(run.order).toEqual(["fix", "review", "fix", "review", "give_up"]);
    expect(run.run.status).toBe("completed");
  });

  it("is a loop of edges too, whose target mends the first time in its second round", async () => {
    const run = await trial(
      `${TOP}
routing: { max_loops: 9 }
steps:
  build: { exec: build }
  review: { exec: review, depends_on: [build] }
  mend: { exec: mend }
transitions:
  - { from: review, to: mend, on: failure }
  - { from: mend, to: review, on: success }`,
      { build: [leaves("b")], mend: [leaves(null)], review: [bad] },
    );
    expect(run.order).toEqual(["build", "review", "mend", "review", "mend", "review"]);
    expect(run.events("attempt.failed").map(({ no_progress: found }) => found?.streak ?? null)).toEqual([
      ...[null, null, 2],
    ]);
    expect(run.run.status).toBe("failed");
  });

  it("is the repair of a run list too, which is given up in the middle of its budget", async () => {
    const run = await trial(
      `${TOP}
steps:
  build: { exec: build }
  review: { exec: review, depends_on: [build], on_fail: { run: { steps: [mend], max: 5 } } }
  mend: { type: agent, exec: [mend], prompt: mend it }`,
      { build: [leaves("b")], mend: [leaves("m"), leaves(null)], review: [bad] },
    );
    expect(run.order).toEqual(["build", "review", "mend", "review", "mend", "review"]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(["remediate", "remediate", "fail"]);
    expect(run.run.status).toBe("failed");
  });

  it("begins anew with an operator's retry", async () => {
    const stage = await Stage.begin(BACK, { fix: [leaves("d1")], review: [bad] });
    await stage.rest();
    expect(await stage.operate({ type: "step.retry", job: await stage.id("review") })).toBeNull();
    const run = await (await stage.resume()).rest();
    // The retry is charged to nothing and may go round once more before it is in vain again.
    expect(run.order).toEqual(["fix", "review", "fix", "review", "review", "fix", "review"]);
    expect(run.run.status).toBe("failed");
  });
});

describe("self_heal", () => {
  const command = (
    more: string,
  ): string => `${TOP}\nsteps:\n  fix: { exec: fix }\n  mend: { exec: mend, start: routed }
  review: { exec: review, depends_on: [fix]${more} }`;
  const runsOf = (order: readonly string[]): number => order.filter((step) => step === "review").length;

  it.each([
    ["goto", ", on_fail: { goto: { step: fix, max: 1 } }", ["goto"]],
    ["goto_js", ", on_fail: { goto_js: \"attempt === 1 ? 'fix' : null\" }", ["goto"]],
    ["run list", ", on_fail: { run: [mend] }", ["remediate"]],
    ["edge", " }\ntransitions: [{ from: review, to: mend, on: failure }]\nlabels: { a: b", ["edge"]],
  ])("sets no retry for a command with a %s: its first failure goes there", async (_, more, rungs) => {
    const run = await trial(command(more), { review: [bad, "ok"] });
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(rungs);
  });

  it("retries a command that leads nowhere, an agent, and what sets its own retry", async () => {
    const plain = await trial(command(""), { review: [bad, "ok"] });
    expect(runsOf(plain.order)).toBe(2);
    const own = await trial(command(", on_fail: { retry: { max: 1 }, goto: { step: fix, max: 1 } }"), {
      review: [bad, "ok"],
    });
    expect(own.events("ladder.climbed").map(({ rung }) => rung)).toEqual(["retry"]);
    const agent = await trial(
      command(", on_fail: { goto: { step: fix, max: 1 } }").replace(
        "review: { exec: review",
        "review: { type: agent, exec: [review], prompt: look",
      ),
      { review: [bad, "ok"] },
    );
    expect(agent.events("ladder.climbed").map(({ rung }) => rung)).toEqual(["retry"]);
  });
});
