import { describe, expect, it } from "vitest";
import type { Json } from "../../src/core/text/json.js";
import type { Assignment } from "../../src/run/worker.js";
import { trial } from "../support/harness.js";
import type { Outcome } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";

/** What the attempts of a step were told, one line an attempt. */
function listener(outcomes: readonly Outcome[]) {
  const heard: string[] = [];
  const script = (assignment: Assignment, nth: number): Outcome => {
    heard.push(lineOf(assignment));
    return outcomes[Math.min(nth, outcomes.length) - 1]!;
  };
  return { heard, script };
}

function lineOf({ failureSource: led, retry }: Assignment): string {
  const round = led === null ? "" : `${led.round}${led.rounds === null ? "" : ` of ${led.rounds}`}`;
  return [
    led === null ? "nothing" : `${led.route} of ${led.step} a${led.attempt}, round ${round}`,
    ...(retry === undefined ? [] : [`own a${retry.attempt}`]),
    ...(retry === undefined || retry.repairs.length === 0
      ? []
      : [`repaired by ${retry.repairs.map(({ what }) => what).join(" and ")}`]),
  ].join("; ");
}

const LOOP = `steps:
  fix: { exec: make }
  review: { exec: make, depends_on: fix, on_fail: { goto: { step: fix, max: 3 } } }`;

const HELD_LOOP = `unhandled: hold\n${LOOP.replace("max: 3", "max: 1")}`;

/** The numbers of the earlier rounds that a step was told, an attempt each. */
function numbersIn(script: (assignment: Assignment, nth: number) => Outcome) {
  const seen: number[][] = [];
  const told = (assignment: Assignment, nth: number): Outcome => {
    seen.push(assignment.failureSource?.earlier.map(({ number }) => number) ?? []);
    return script(assignment, nth);
  };
  return { seen, script: told };
}

describe("a goto", () => {
  it("tells its target what failed, in which round of how many, and a first run nothing", async () => {
    const fix = listener(["ok"]);
    const review = listener(["fail", "fail", "fail", "ok"]);
    const run = await trial(LOOP, { fix: fix.script, review: review.script });
    expect(run.order).toEqual(["fix", "review", "fix", "review", "fix", "review", "fix", "review"]);
    expect(fix.heard).toEqual([
      "nothing",
      "goto of review a1, round 2 of 4",
      "goto of review a2, round 3 of 4",
      "goto of review a3, round 4 of 4",
    ]);
    // It was not reached by its own failure: this is a new visit.
    expect(review.heard).toEqual(["nothing", "nothing", "nothing", "nothing"]);
    expect(run.run.status).toBe("completed");
  });

  it("without a bound says which round alone, and tells it to all attempts of that visit", async () => {
    const fix = listener(["ok", "fail", "ok"]);
    const run = await trial(
      `steps:
  fix: { exec: make, on_fail: { retry: { max: 1 } } }
  build: { exec: make, depends_on: fix }
  review: { exec: make, depends_on: build, on_fail: { goto: fix } }`,
      { fix: fix.script, review: ["fail", "ok"] },
    );
    expect(run.order).toEqual(["fix", "build", "review", "fix", "fix", "build", "review"]);
    expect(fix.heard).toEqual([
      "nothing",
      "goto of review a1, round 2",
      "goto of review a1, round 2; own a2",
    ]);
  });

  it("tells the steps between target and failure nothing, and a goto on success tells nobody", async () => {
    const build = listener(["ok"]);
    const fix = listener(["ok"]);
    await trial(
      `steps:
  fix: { exec: make }
  build: { exec: make, depends_on: fix }
  review: { exec: make, depends_on: build, on_fail: { goto: { step: fix, max: 1 } } }
  again: { exec: make, depends_on: review, on_success: { goto: { step: fix, max: 1 } } }`,
      { fix: fix.script, build: build.script, review: ["fail", "ok"] },
    );
    expect(build.heard).toEqual(["nothing", "nothing", "nothing"]);
    expect(fix.heard).toEqual(["nothing", "goto of review a1, round 2 of 2", "nothing"]);
  });

  it("tells whoever is sent back by hand the failure of the last round, in a round after it", async () => {
    const fix = listener(["ok"]);
    const stage = await Stage.begin(HELD_LOOP, { fix: fix.script, review: ["fail", "fail", "fail", "ok"] });
    expect((await stage.rest()).run.status).toBe("held");
    await stage.operate({ type: "step.resume_from", job: await stage.id("fix") });
    await (await stage.resume()).rest();
    // The goto begins anew: one more may follow.
    expect(fix.heard).toEqual([
      "nothing",
      "goto of review a1, round 2 of 2",
      "goto of review a2, round 3 of 4",
      "goto of review a3, round 4 of 4",
    ]);
  });

  it("goes on counting where a person has granted more: no round has the number of one before", async () => {
    const fix = listener(["ok"]);
    const numbers = numbersIn(fix.script);
    const stage = await Stage.begin(HELD_LOOP, {
      fix: numbers.script,
      review: ["fail", "fail", "fail", "ok"],
    });
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("review") });
    await (await stage.resume()).rest();
    expect(fix.heard).toEqual([
      "nothing",
      "goto of review a1, round 2 of 2",
      "goto of review a3, round 3 of 3",
    ]);
    expect(numbers.seen).toEqual([[], [1], [1, 2]]);
  });

  it("gives the last five rounds under the numbers that they had", async () => {
    const numbers = numbersIn(() => "ok");
    await trial(LOOP.replace("max: 3", "max: 7"), { fix: numbers.script, review: ["fail"] });
    expect(numbers.seen.slice(5)).toEqual([
      [1, 2, 3, 4, 5],
      [2, 3, 4, 5, 6],
      [3, 4, 5, 6, 7],
    ]);
  });

  it("has how the rounds before it ended, oldest first", async () => {
    const seen: unknown[] = [];
    await trial(LOOP, {
      fix: ({ failureSource }) => {
        seen.push(failureSource?.earlier.map(({ attempt, code, change }) => [attempt, code, change]) ?? null);
        return "ok";
      },
      review: [{ exit: 3 }, { exit: 4 }, "ok"],
    });
    expect(seen).toEqual([
      null,
      [[1, "EXIT_3", null]],
      [
        [1, "EXIT_3", null],
        [2, "EXIT_4", null],
      ],
    ]);
  });
});

describe("a run list", () => {
  it("tells the repair step what failed, and the next try what the repair was", async () => {
    const mend = listener([{ output: { files: 1 } }]);
    const test = listener(["fail", "ok"]);
    const run = await trial(
      `steps:
  mend: { exec: make, start: routed }
  test: { exec: make, on_fail: { run: [mend] } }`,
      { mend: mend.script, test: test.script },
    );
    expect(run.order).toEqual(["test", "mend", "test"]);
    expect(mend.heard).toEqual(["remediate of test a1, round 2 of 2"]);
    expect(test.heard).toEqual(["nothing", "nothing; own a1; repaired by mend, attempt 1"]);
    expect(run.run.status).toBe("completed");
  });

  it("that may repair several times counts its rounds, and the step hears of the last repair only", async () => {
    const mend = listener(["ok"]);
    const test = listener(["fail", "fail", "fail", "fail"]);
    const run = await trial(
      `steps:
  mend: { exec: make, start: routed }
  test: { exec: make, on_fail: { run: { steps: [mend], max: 3 } } }`,
      { mend: mend.script, test: test.script },
    );
    expect(run.order).toEqual(["test", "mend", "test", "mend", "test", "mend", "test"]);
    expect(mend.heard).toEqual([
      "remediate of test a1, round 2 of 4",
      "remediate of test a2, round 3 of 4",
      "remediate of test a3, round 4 of 4",
    ]);
    expect(test.heard).toEqual([
      "nothing",
      "nothing; own a1; repaired by mend, attempt 1",
      "nothing; own a2; repaired by mend, attempt 2",
      "nothing; own a3; repaired by mend, attempt 3",
    ]);
    expect(run.run.status).toBe("failed");
  });

  it("tells it to every retry of the repair step, and the steps of a list after a success nothing", async () => {
    const mend = listener(["fail", "ok"]);
    const note = listener(["ok"]);
    const run = await trial(
      `steps:
  mend: { exec: make, start: routed, on_fail: { retry: { max: 1 } } }
  note: { exec: make, start: routed }
  test: { exec: make, on_fail: { run: [mend] }, on_success: { run: [note] } }`,
      { mend: mend.script, note: note.script, test: ["fail", "ok"] },
    );
    expect(run.order).toEqual(["test", "mend", "mend", "test", "note"]);
    expect(mend.heard).toEqual([
      "remediate of test a1, round 2 of 2",
      "remediate of test a1, round 2 of 2; own a1",
    ]);
    expect(note.heard).toEqual(["nothing"]);
  });

  it("the repair is news until the step has failed anew", async () => {
    const test = listener(["fail", { exit: 9 }, "ok"]);
    const run = await trial(
      `steps:
  mend: { exec: make, start: routed }
  test: { exec: make, on_fail: { run: [mend], retry: { max: 1, on: [EXIT_9] } } }`,
      {
        test: test.script,
      },
    );
    expect(run.order).toEqual(["test", "mend", "test", "test"]);
    expect(test.heard).toEqual([
      "nothing",
      "nothing; own a1; repaired by mend, attempt 1",
      "nothing; own a2",
    ]);
  });
});

describe("a recovery script", () => {
  it("is the repair that the next attempt hears of", async () => {
    const build = listener([{ exit: 7 }, "ok"]);
    const run = await trial(
      `failure_handlers:
  - name: h
    rules: [{ exit_codes: [7], max_retries: 2, recovery_script: ./repair.sh }]
steps:
  build: { exec: make, failure_handler: h }`,
      { build: build.script },
    );
    expect(run.order).toEqual(["build", "build script", "build"]);
    expect(build.heard).toEqual(["nothing", "nothing; own a1; repaired by recovery script ./repair.sh"]);
  });
});

describe("a failure edge", () => {
  it("names its route; an edge back is a round", async () => {
    const handler = listener(["ok"]);
    const fix = listener(["ok"]);
    const run = await trial(
      `steps:
  fix: { exec: make, start: auto }
  review: { exec: make, depends_on: fix }
  alone: { exec: make }
  handler: { exec: make, start: routed }
transitions:
  - { from: review, to: fix, on: failure }
  - { from: alone, to: handler, on: failure }`,
      { fix: fix.script, handler: handler.script, review: ["fail", "fail", "ok"], alone: ["fail"] },
    );
    expect(run.run.status).toBe("completed");
    expect(handler.heard).toEqual(["edge of alone a1, round 1"]);
    expect(fix.heard).toEqual(["nothing", "edge of review a1, round 2", "edge of review a2, round 3"]);
  });
});

describe("a failure is over", () => {
  it("when the step that failed completes: whoever runs again hears nothing of it", async () => {
    const handler = listener(["fail", "ok"]);
    const stage = await Stage.begin(
      `steps:
  bad: { exec: make }
  handler: { exec: make, start: routed }
transitions: [{ from: bad, to: handler, on: failure }]`,
      { bad: ["fail", "ok"], handler: handler.script },
    );
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("bad") });
    await (await stage.resume()).rest();
    await stage.operate({ type: "step.retry", job: await stage.id("handler"), force: true });
    await (await stage.resume()).rest();
    expect(handler.heard[0]).toBe("edge of bad a1, round 1");
    expect(handler.heard.at(-1)).toBe("nothing; own a1");
  });
});

describe("a person's retry", () => {
  it("counts as an own retry: it hears its last failure, and still what led to its visit", async () => {
    const handler = listener(["fail", "ok"]);
    const stage = await Stage.begin(
      `steps:
  bad: { exec: make }
  handler: { exec: make, start: routed }
transitions: [{ from: bad, to: handler, on: failure }]`,
      { bad: ["fail"], handler: handler.script },
    );
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("handler") });
    await (await stage.resume()).rest();
    expect(handler.heard).toEqual(["edge of bad a1, round 1", "edge of bad a1, round 1; own a1"]);
  });

  it("after a completion, and a new visit by goto, hear nothing of failures before", async () => {
    const build = listener(["fail", "ok"]);
    const stage = await Stage.begin(
      `steps:
  build: { exec: make, on_fail: { retry: { max: 1 } } }
  test: { exec: make, depends_on: build, on_fail: { goto: { step: build, max: 1 } } }`,
      { build: build.script, test: ["fail", "ok"] },
    );
    await stage.rest();
    await stage.operate({ type: "step.resume_from", job: await stage.id("build") });
    await (await stage.resume()).rest();
    expect(build.heard).toEqual(["nothing", "nothing; own a1", "goto of test a1, round 2 of 2", "nothing"]);
  });

  it("of a round of the queue hears the failure of the round before", async () => {
    const fetch = listener(["fail", "ok"]);
    const run = await trial(
      `queue: { max_attempts: 2, classes: [application] }
steps:
  fetch: { exec: make }`,
      { fetch: fetch.script },
    );
    expect(run.order).toEqual(["fetch", "fetch"]);
    expect(fetch.heard).toEqual(["nothing", "nothing; own a1"]);
  });
});

describe("the variable `failure`", () => {
  const seenBy = async (text: string, script: (seen: Json[]) => Parameters<typeof trial>[1]) => {
    const seen: Json[] = [];
    await trial(text, script(seen));
    return seen;
  };
  const told = ({ action }: Assignment): Json => action.exec as Json;

  it("has route, round and the failed attempt's JSON; `failure.retry` is the step's own", async () => {
    const seen = await seenBy(
      `steps:
  fix:
    exec: "{% if failure %}{{ failure.route }} {{ failure.round }}/{{ failure.rounds }} {{ failure.step_id }} {{ failure.output.issues[0] }}{% if failure.retry %}, own {{ failure.retry.code }}{% endif %}{% endif %}"
    on_fail: { retry: { max: 1 } }
  review: { exec: make, depends_on: fix, on_fail: { goto: { step: fix, max: 1 } } }`,
      (heard) => ({
        fix: (assignment, nth) => {
          heard.push(told(assignment));
          return nth === 2 ? { exit: 5 } : "ok";
        },
        review: [
          { facts: { message: "two issues", exitCode: 1 }, output: { issues: ["three lines"] } },
          "ok",
        ],
      }),
    );
    expect(seen).toEqual(["", "goto 2/2 review three lines", "goto 2/2 review three lines, own EXIT_5"]);
  });

  it("has the output that `fail_if` failed", async () => {
    const seen = await seenBy(
      `steps:
  fix: { exec: "red: {% if failure %}{{ failure.output.red }}{% endif %}" }
  review: { exec: make, depends_on: fix, fail_if: "output.red > 0", on_fail: { goto: { step: fix, max: 1 } } }`,
      (heard) => ({
        fix: (assignment) => {
          heard.push(told(assignment));
          return "ok";
        },
        review: [{ output: { red: 3 } }, { output: { red: 0 } }],
      }),
    );
    expect(seen).toEqual(["red: ", "red: 3"]);
  });

  it("has what the repair gave in `failure.retry.repairs`", async () => {
    const seen = await seenBy(
      `steps:
  mend: { exec: make, start: routed }
  test: { exec: "{% if failure %}{{ failure.retry.repairs[0].step }} {{ failure.retry.repairs[0].output.files }}{% endif %}", on_fail: { run: [mend] } }`,
      (heard) => ({
        mend: [{ output: { files: 2 } }],
        test: (assignment, nth) => {
          heard.push(told(assignment));
          return nth === 1 ? "fail" : "ok";
        },
      }),
    );
    expect(seen).toEqual(["", "mend 2"]);
  });
});
