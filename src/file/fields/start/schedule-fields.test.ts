import { describe, expect, it } from "vitest";
import { definitionOf, fullWarningsOf, problemsOf } from "../../../../test/support/workflow-text.js";

const STEPS = "steps: { a: { exec: x } }";
const INPUTS = "inputs: { target: { type: string, default: staging }, count: { type: number, default: 1 } }";

const schedulesOf = (schedule: string) =>
  definitionOf(`${INPUTS}\nschedule: ${schedule}\n${STEPS}`).schedules;

describe("schedule", () => {
  it("has its defaults: UTC, no overlap, the last missed run", { tags: ["K1"] }, () => {
    expect(schedulesOf('{ cron: "0 3 * * *" }')).toEqual([
      {
        ...{ id: "default", cron: "0 3 * * *", timezone: "UTC" },
        ...{ overlap: "skip", catchUp: "last", jitterMs: 0, inputs: {} },
      },
    ]);
  });

  it("is one, or a list", { tags: ["K1"] }, () => {
    const text = `
  - { id: nightly, cron: "0 3 * * *", timezone: Europe/Berlin, overlap: allow, catch_up: all, jitter: 5m, inputs: { target: live } }
  - { id: often, cron: "*/10 * * * * *", catch_up: none }`;
    expect(schedulesOf(text)).toMatchObject([
      {
        ...{ id: "nightly", timezone: "Europe/Berlin", overlap: "allow", catchUp: "all" },
        ...{ jitterMs: 300_000, inputs: { target: "live" } },
      },
      { id: "often", cron: "*/10 * * * * *", catchUp: "none" },
    ]);
    expect(definitionOf(STEPS).schedules).toBeUndefined();
    expect(schedulesOf("[]")).toBeUndefined();
  });

  const wrong = (schedule: string) =>
    problemsOf(`${INPUTS}\nschedule: ${schedule}\n${STEPS}`).map(
      ({ code, message, line, column, path }) => `${line}:${column} ${path} ${code} ${message}`,
    );

  it.each([
    [
      '{ cron: "0 3 * *" }',
      "2:19 schedule.cron INVALID_VALUE `0 3 * *` is not a cron expression: it has 4 fields, not five or six",
    ],
    [
      '{ cron: "61 3 * * *" }',
      "2:19 schedule.cron INVALID_VALUE `61 3 * * *` is not a cron expression: Invalid value for minute: 61",
    ],
    [
      '{ cron: "0 0 31 2 *" }',
      "2:19 schedule.cron INVALID_VALUE `0 0 31 2 *` is not a cron expression: it never fires",
    ],
    [
      '{ cron: "@daily" }',
      "2:19 schedule.cron INVALID_VALUE `@daily` is not a cron expression: it has 1 field, not five or six",
    ],
    [
      '{ cron: "0 3 * * *", timezone: Europe/Berln }',
      "2:42 schedule.timezone INVALID_VALUE `Europe/Berln` is not a time zone, did you mean `Europe/Berlin`?",
    ],
    [
      '{ cron: "0 3 * * *", overlap: maybe }',
      "2:41 schedule.overlap INVALID_VALUE `maybe` is not allowed here",
    ],
    ['{ cron: "0 3 * * *", id: "a/b" }', "2:36 schedule.id INVALID_VALUE `a/b` is not allowed here"],
    ["{ id: x }", "2:11 schedule MISSING_KEY the key `cron` is missing"],
    ['{ cron: "0 3 * * *", zone: UTC }', "2:32 schedule.zone UNKNOWN_KEY unknown key `zone`"],
    [
      '{ cron: "0 3 * * *", inputs: { tarket: x } }',
      "2:50 schedule.inputs.tarket INVALID_INPUT unknown input `tarket`, did you mean `target`?",
    ],
    [
      '{ cron: "0 3 * * *", inputs: { count: many } }',
      "2:49 schedule.inputs.count INVALID_INPUT the input `count` must be a number, found `many`",
    ],
    [
      '[{ cron: "0 3 * * *" }, { cron: "0 4 * * *" }]',
      "2:35 schedule[1] DUPLICATE_ID two schedules have the id `default`",
    ],
  ])("refuses %s", { tags: ["K1"] }, (schedule, problem) => {
    expect(wrong(schedule)).toEqual([problem]);
  });

  it("refuses a schedule that leaves out an input that must be given", { tags: ["K1"] }, () => {
    const text = `inputs: { target: string }\nschedule: { cron: "0 3 * * *" }\n${STEPS}`;
    expect(problemsOf(text)).toMatchObject([
      {
        ...{ code: "INVALID_INPUT", line: 2, message: "the input `target` is missing" },
        hint: "Give `target` a value under `inputs` of the schedule, or a default.",
      },
    ]);
  });

  it("warns of what contradicts itself", { tags: ["K1"] }, () => {
    const text = `schedule: { cron: "0 3 * * *", catch_up: all }\n${STEPS}`;
    expect(fullWarningsOf(text)).toMatchObject([
      { code: "NO_EFFECT", path: "schedule", hint: "Write `overlap: allow`, or `catch_up: last`." },
    ]);
  });
});
