import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf, summaryOf, warningsOf } from "../../../test/support/workflow-text.js";

const shapeOf = (text: string) =>
  Object.fromEntries(
    definitionOf(text).steps.map(({ id, dependsOn, userData }) => [
      id,
      { after: dependsOn.map((group) => group.join("|")), userData },
    ]),
  );

describe("user data of the batch form", () => {
  it("puts the job that writes a value before those that read it, and keeps what values begin with", () => {
    const text = `
user_data:
  - { name: settings, data: { rate: 0.1, tags: [a, null] } }
  - { name: nothing, data: null }
  - { name: best, is_ephemeral: true }
jobs:
  - { name: report, command: x, input_user_data: [best, settings, nothing] }
  - { name: search, command: x, input_user_data: [settings], output_user_data: [best] }
`;
    expect(shapeOf(text)).toEqual({
      report: { after: ["search"], userData: { inputs: ["best", "settings", "nothing"], outputs: [] } },
      search: { after: [], userData: { inputs: ["settings"], outputs: ["best"], ephemeral: true } },
    });
    expect(definitionOf(text).userData).toEqual({
      settings: { rate: 0.1, tags: ["a", null] },
      nothing: null,
    });
  });

  it("follows parameters, families and regular expressions over names", () => {
    const text = `
parameters: { i: "1:2" }
user_data: [{ name: "score_{i}", use_parameters: [i] }, { name: total }]
jobs:
  - { name: "train_{i}", command: x, use_parameters: [i], output_user_data: ["score_{i}"] }
  - { name: "check_{i}", command: x, use_parameters: [i], input_user_data: ["score_{i}"] }
  - { name: sum, command: x, input_user_data_regexes: ["^score_"], output_user_data_regexes: ["^tot"] }
  - { name: all, command: x, input_user_data: ["score_{i}", total] }
`;
    const shape = shapeOf(text);
    expect(shape.check_2).toEqual({ after: ["train_2"], userData: { inputs: ["score_2"], outputs: [] } });
    expect(shape.sum).toEqual({
      after: ["train_1", "train_2"],
      userData: { inputs: ["score_1", "score_2"], outputs: ["total"] },
    });
    expect(shape.all!.after).toEqual(["train_1", "train_2", "sum"]);
  });

  it("lets a job change a value in place without waiting for itself", () => {
    const text = `
user_data: [{ name: n, data: 1 }]
jobs: [{ name: a, command: x, input_user_data: [n], output_user_data: [n] }, { name: b, command: x, input_user_data: [n] }]`;
    expect(shapeOf(text)).toMatchObject({ a: { after: [] }, b: { after: ["a"] } });
  });

  it("takes names that every object has for names like others", () => {
    const text = `
user_data: [{ name: constructor }, { name: toString, data: 1 }]
jobs: [{ name: a, command: x, output_user_data: [constructor] }, { name: b, command: x, input_user_data: [constructor, toString] }]`;
    expect(shapeOf(text).b).toMatchObject({
      after: ["a"],
      userData: { inputs: ["constructor", "toString"] },
    });
    expect(Object.keys(definitionOf(text).userData!)).toEqual(["toString"]);
  });

  it.each([
    ["user_data: [{ data: 1 }]", "", "MISSING_KEY 1:13 user_data[0]"],
    ["user_data: [{ name: a }, { name: a }]", "", "DUPLICATE_ID 1:34 user_data[1].name"],
    [
      "user_data: [{ name: abc, data: 1 }]",
      ", input_user_data: [abd]",
      "INVALID_VALUE 2:49 jobs[0].input_user_data[0]",
    ],
    ["user_data: [{ name: a }]", ", input_user_data: [a]", "INVALID_VALUE 2:49 jobs[0].input_user_data[0]"],
    [
      "user_data: [{ name: toString }]",
      ", input_user_data: [toString]",
      "INVALID_VALUE 2:49 jobs[0].input_user_data[0]",
    ],
    [
      "user_data: [{ name: a }]",
      ", output_user_data_regexes: ['(']",
      "INVALID_VALUE 2:58 jobs[0].output_user_data_regexes[0]",
    ],
    ["user_data: { a: 1 }", "", "WRONG_TYPE 1:12 user_data"],
  ])("refuses %s%s", (top, key, summary) => {
    expect(summaryOf(`${top}\njobs: [{ name: a, command: x${key} }]`)[0]).toBe(summary);
  });

  it("refuses two writers of one value, circles, and the key beside steps", () => {
    const two = `
user_data: [{ name: v }]
jobs: [{ name: a, command: x, output_user_data: [v] }, { name: b, command: x, output_user_data: [v] }]`;
    expect(problemsOf(two)[0]).toMatchObject({
      path: "jobs[1].output_user_data[0]",
      message: "`a` and `b` both write the user data `v`",
    });
    const circle = `
user_data: [{ name: v }, { name: w }]
jobs: [{ name: a, command: x, input_user_data: [w], output_user_data: [v] }, { name: b, command: x, input_user_data: [v], output_user_data: [w] }]`;
    expect(summaryOf(circle)[0]).toMatch(/^CYCLE /);
    expect(summaryOf("user_data: []\nsteps: { a: { exec: x } }")).toEqual(["UNKNOWN_KEY 1:1 user_data"]);
  });

  it.each([
    [
      "input",
      'Name it in `input_user_data` and read it from the file: jq \'."rate"\' "$DARUMA_USER_DATA_IN".',
    ],
    ["output", 'Name it in `output_user_data` and write {"rate": ...} to the file "$DARUMA_USER_DATA_OUT".'],
  ])("says how a job passes what its command names by user_data.%s", (direction, hint) => {
    const command = `torc user-data get \${user_data.${direction}.rate}`;
    expect(
      problemsOf(`user_data: [{ name: rate, data: 1 }]\njobs: [{ name: a, command: "${command}" }]`),
    ).toMatchObject([{ code: "INVALID_VALUE", path: "jobs[0].command", hint }]);
  });

  it("says which name is meant, and warns of a pattern that is found nowhere", () => {
    const text = (more: string) =>
      `user_data: [{ name: abc, data: 1 }]\njobs: [{ name: a, command: x, ${more} }]`;
    expect(problemsOf(text("input_user_data: [abd]"))[0]!.message).toBe(
      "there is no user data `abd` in the list `user_data`, did you mean `abc`?",
    );
    expect(warningsOf(text("input_user_data_regexes: ['^z']"))).toEqual([
      "NO_EFFECT jobs[0].input_user_data_regexes[0]",
    ]);
  });
});

describe("jobs_sort_method", () => {
  const methodOf = (line: string) => definitionOf(`${line}\njobs: [{ name: a, command: x }]`).jobsSortMethod;

  it.each(["gpus_runtime_memory", "gpus_memory_runtime"])("is kept: %s", (method) => {
    expect(methodOf(`jobs_sort_method: ${method}`)).toBe(method);
  });

  it("means nothing where it is none, null or missing, and is refused where it is unknown", () => {
    expect(["jobs_sort_method: none", "jobs_sort_method: null", ""].map(methodOf)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(summaryOf("jobs_sort_method: random\njobs: [{ name: a, command: x }]")).toEqual([
      "INVALID_VALUE 1:19 jobs_sort_method",
    ]);
  });
});
