import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";
import { definitionOf, summaryOf } from "../support/workflow-text.js";

const flow = (
  rules: string,
  step = "",
  more = "",
) => `${more}failure_handlers: [{ name: h, rules: [${rules}] }]
steps:
  job: { exec: "true", failure_handler: h${step} }
  after: { exec: "true", depends_on: job }`;

const lost = { facts: { message: "gone", lost: true } } as const;

describe("rules", () => {
  it("max_retries 3 gives attempts 1, 2 and 3, then the job is failed", {
    tags: ["T1", "T2", "T5", "T9"],
  }, async () => {
    const run = await trial(flow("{ exit_codes: [10], max_retries: 3 }"), { job: [{ exit: 10 }] });
    expect(run.order).toEqual(["job", "job", "job"]);
    expect(
      run.events("rule.reserved").map(({ attempt, next, handler, rule }) => [attempt, next, handler, rule]),
    ).toEqual([
      [1, 2, "h", 1],
      [2, 3, "h", 1],
    ]);
    expect(run.job("job")).toMatchObject({ status: "failed", attempt_id: 3 });
    expect(run.job("after").status).toBe("canceled");
  });

  it("without max_retries three attempts; max_attempts is the clearer word for it", {
    tags: ["T2"],
  }, async () => {
    const run = await trial(flow("{ exit_codes: [10] }"), { job: [{ exit: 10 }] });
    expect(run.order).toHaveLength(3);
    const [handler] = definitionOf(flow("{ exit_codes: [10], max_attempts: 7 }")).failureHandlers;
    expect(handler!.rules[0]!.maxAttempts).toBe(7);
  });

  it.each([
    ["first", "{ match_all_exit_codes: true, max_retries: 2 }, { exit_codes: [10], max_retries: 4 }"],
    ["last", "{ exit_codes: [10], max_retries: 4 }, { match_all_exit_codes: true, max_retries: 2 }"],
  ])("a catch-all listed %s loses to the rule that names the code", { tags: ["T3"] }, async (_, rules) => {
    const specific = await trial(flow(rules), { job: [{ exit: 10 }] });
    expect(specific.order).toHaveLength(4);
    const other = await trial(flow(rules), { job: [{ exit: 11 }] });
    expect(other.order).toHaveLength(2);
  });

  it("a specific rule whose attempts are used up does not hand over to the catch-all", {
    tags: ["T3"],
  }, async () => {
    const run = await trial(
      flow("{ match_all_exit_codes: true, max_retries: 9 }, { exit_codes: [10], max_retries: 1 }"),
      {
        job: [{ exit: 10 }],
      },
    );
    expect(run.order).toEqual(["job"]);
    expect(run.events("ladder.climbed")[0]!.recovery).toBe("MaxRetriesExceeded");
  });

  it("two rules for one code, and two catch-alls, are load errors", { tags: ["T3"] }, () => {
    expect(summaryOf(flow("{ exit_codes: [10] }, { exit_codes: [10] }"))[0]).toContain("INVALID_VALUE");
    expect(summaryOf(flow("{ match_all_exit_codes: true }, { match_all_exit_codes: true }"))[0]).toContain(
      "INVALID_VALUE",
    );
  });

  it.each([
    ["a signal is 128 and its number", { facts: { message: "", signal: "SIGKILL" } }, "exit_codes: [137]"],
    ["a timeout is 124", { facts: { message: "", timeout: "wall" } }, "exit_codes: [124]"],
    [
      "the catch-all takes failures without a code",
      { facts: { message: "", httpStatus: 400 } },
      "match_all_exit_codes: true",
    ],
  ] as const)("%s", { tags: ["T3"] }, async (_, outcome, rule) => {
    const run = await trial(flow(`{ ${rule}, max_retries: 2 }`), { job: [outcome, "ok"] });
    expect(run.order).toEqual(["job", "job", "after"]);
  });

  it("attempts that were lost are not charged", { tags: ["T5"] }, async () => {
    const run = await trial(flow("{ exit_codes: [10], max_retries: 2 }"), {
      job: [lost, lost, { exit: 10 }, lost, { exit: 10 }],
    });
    expect(run.order).toEqual(["job", "job", "job", "job", "job"]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual([
      "restart",
      "restart",
      "rule",
      "restart",
      "fail",
    ]);
  });

  it("attempts are counted over visits: a goto does not renew them", { tags: ["T5"] }, async () => {
    const run = await trial(
      `failure_handlers: [{ name: h, rules: [{ exit_codes: [10], max_retries: 3 }] }]
steps:
  setup: { exec: "true" }
  job: { exec: "true", depends_on: setup, failure_handler: h, on_fail: { goto: setup } }`,
      { job: [{ exit: 11 }, { exit: 10 }, { exit: 10 }, "ok"] },
    );
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(["goto", "rule", "goto"]);
    expect(run.run.status).toBe("completed");
  });

  it("outcomes are values in the log, and decide between held and failed", {
    tags: ["T4", "T22", "T23"],
  }, async () => {
    const outcomes = async (text: string, outcome: Parameters<typeof trial>[1]) => {
      const run = await trial(text, outcome);
      return [run.events("ladder.climbed").at(-1)!.recovery, run.job("job").status];
    };
    const hold = "unhandled: hold\n";
    const rules = "{ exit_codes: [10], max_retries: 2 }";
    expect(await outcomes(flow(rules, "", hold), { job: [{ exit: 10 }, "ok"] })).toEqual([
      "Retried",
      "completed",
    ]);
    expect(await outcomes(flow(rules, "", hold), { job: [{ exit: 11 }] })).toEqual([
      "NoMatchingRule",
      "held",
    ]);
    expect(await outcomes(`${hold}steps: { job: { exec: "true" } }`, { job: ["fail"] })).toEqual([
      "NoHandler",
      "held",
    ]);
    expect(await outcomes(flow(rules, "", hold), { job: [{ exit: 10 }] })).toEqual([
      "MaxRetriesExceeded",
      "failed",
    ]);
    const final = { facts: { message: "no", exitCode: 10, declared: { retryable: false } } };
    expect(await outcomes(flow(rules, "", hold), { job: [final] })).toEqual(["Error", "failed"]);
  });

  it("a rule comes before a retry, and a step may have both", { tags: ["T2"] }, async () => {
    const run = await trial(
      flow("{ exit_codes: [10], max_retries: 2 }", ", on_fail: { retry: { max: 1 } }"),
      { job: [{ exit: 10 }] },
    );
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(["rule", "retry", "fail"]);
  });
});

const SCRIPTED = flow("{ exit_codes: [10], recovery_script: ./fix.sh, max_retries: 3 }");

describe("recovery scripts", () => {
  it("the retry is reserved before the script runs, and the job is not ready before it has ended", {
    tags: ["T6", "T9", "T10", "T11"],
  }, async () => {
    const stage = await Stage.begin(SCRIPTED, {
      job: [{ exit: 10 }, "ok"],
      "job script": [{ output: null, takesMs: 100 }],
    });
    expect(stage.worker.order).toEqual(["job", "job script"]);
    expect((await stage.view()).job("job")).toMatchObject({ status: "recovering", attempt_id: 1 });
    const run = await stage.rest();
    expect(run.order).toEqual(["job", "job script", "job", "after"]);
    expect(run.times).toEqual([0, 0, 100, 100]);
    const mine = run.job("job").id;
    const types = run.log.flatMap(({ event }) =>
      ("job" in event && event.job === mine) || ("jobs" in event && event.jobs.includes(mine))
        ? [event.type]
        : [],
    );
    expect(types).toEqual([
      "jobs.ready",
      "attempt.started",
      "attempt.failed",
      "ladder.climbed",
      "rule.reserved",
      "recovery.started",
      "recovery.finished",
      "jobs.ready",
      "attempt.started",
      "attempt.succeeded",
    ]);
    const rows = (await stage.store.readAttempts(stage.runId)).filter(({ job_id }) => job_id === mine);
    expect(rows.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, "failed"],
      [2, "succeeded"],
    ]);
  });

  it("the script starts only once the reservation is on record", { tags: ["T6"] }, async () => {
    let logged: readonly string[] = [];
    const stage: { current: Stage | null } = { current: null };
    stage.current = await Stage.begin(SCRIPTED, {
      job: [{ exit: 10, takesMs: 1 }, "ok"],
      "job script": () => {
        void stage.current!.store.readEvents(stage.current!.runId).then((log) => {
          logged = log.map(({ event }) => event.type);
        });
        return { output: null, takesMs: 10 };
      },
    });
    await stage.current.turn(1);
    expect(logged.slice(-2)).toEqual(["rule.reserved", "recovery.started"]);
  });

  it.each([
    ["exits 5", { exit: 5 }],
    ["hangs until its timeout", { facts: { message: "too slow", timeout: "wall" } }],
    ["does not exist", { facts: { message: "not found", exitCode: 127 } }],
  ] as const)(
    "a script that %s is recorded and does not stop the retry",
    { tags: ["T7"] },
    async (_, outcome) => {
      const run = await trial(SCRIPTED, { job: [{ exit: 10 }, "ok"], "job script": [outcome] });
      expect(run.order).toEqual(["job", "job script", "job", "after"]);
      expect(run.events("recovery.finished")).toMatchObject([{ ok: false }]);
      expect(run.run.status).toBe("completed");
    },
  );

  it("of two who want to retry the same job at once one is refused", { tags: ["T8"] }, async () => {
    const stage = await Stage.begin(flow("{ exit_codes: [10], max_retries: 1 }"), {
      job: [{ exit: 10 }, "ok"],
    });
    await stage.rest();
    const job = await stage.id("job");
    const answers = await Promise.all([
      stage.operate({ type: "step.retry", job, key: "one" }),
      stage.operate({ type: "step.retry", job, key: "two" }),
    ]);
    expect(answers.filter((answer) => answer === null)).toHaveLength(1);
    const run = await (await stage.resume()).rest();
    expect(run.events("jobs.retried")).toHaveLength(1);
    expect(run.order).toEqual(["job", "job", "after"]);
  });

  it("recovery stays in the same run, with the same outputs and counters", { tags: ["T37"] }, async () => {
    const run = await trial(
      SCRIPTED.replace("steps:", 'steps:\n  before: { exec: "true" }').replace(
        "failure_handler: h",
        "failure_handler: h, depends_on: before",
      ),
      { before: [{ output: 42 }], job: [{ exit: 10 }, "ok"] },
    );
    expect(run.order).toEqual(["before", "job", "job script", "job", "after"]);
    expect(run.job("before")).toMatchObject({ attempt_id: 1, output: { value: 42 } });
    expect(run.events("run.created")).toHaveLength(1);
  });

  it("a script is ended with the run, and nothing follows it", { tags: ["T10"] }, async () => {
    const stage = await Stage.begin(SCRIPTED, {
      job: [{ exit: 10 }],
      "job script": [{ output: null, takesMs: 1000 }],
    });
    expect(await stage.operate({ type: "run.cancel" })).toBeNull();
    const run = await stage.rest();
    expect(stage.worker.stopped).toEqual(["job script"]);
    expect(run.order).toEqual(["job", "job script"]);
    expect(run.run.status).toBe("canceled");
  });
});

describe("a crash during a recovery script", () => {
  const text = `max_recoveries: 2\n${SCRIPTED}`;
  const script = { job: [{ exit: 10 }, "ok"], "job script": [{ output: null, takesMs: 100 }] } as const;

  it("the script runs again: at least once", { tags: ["T6", "T7"] }, async () => {
    const stage = await Stage.begin(text, script);
    stage.kill();
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["job", "job script", "job script", "job", "after"]);
    expect(run.events("recovery.started").map(({ try: nth }) => nth)).toEqual([1, 2]);
    expect(run.events("rule.reserved")).toHaveLength(1);
  });

  it("at most max_recoveries times; then the reserved attempt happens without it", {
    tags: ["T6", "T7"],
  }, async () => {
    const stage = await Stage.begin(text, script);
    for (let crash = 0; crash < 3; crash += 1) {
      stage.kill();
      await stage.resume();
    }
    const run = await stage.rest();
    expect(run.order).toEqual(["job", "job script", "job script", "job script", "job", "after"]);
    expect(trace(run)).toContain("script over job failed null");
    expect(run.run.status).toBe("completed");
  });
});
