import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf, summaryOf } from "../../../test/support/workflow-text.js";

const stepsOf = (text: string) =>
  definitionOf(text).steps.map(({ id, dependsOn, files }) => [id, dependsOn.flat(), files?.inputs ?? []]);

describe("a parameter that a job's name does not have", () => {
  it("makes no further jobs: the job needs what is named for all of its values", () => {
    expect(
      stepsOf(`
files: [{ name: "f_{i}_{k}", path: "{i}-{k}.txt", parameters: { i: "1:2", k: [a, b] } }]
jobs:
  - { name: "one_{i}_{k}", command: x, parameters: { i: "1:3", k: [a, b] } }
  - { name: "some_{i}", command: y, depends_on: ["one_{i}_{k}"], input_files: ["f_{i}_{k}"], parameters: { i: "1:2", k: [a, b] } }
  - { name: all, command: z, depends_on: ["one_{i}_{k}"], input_files: ["f_{i}_{k}"], parameters: { i: "1:2", k: [b] } }
`),
    ).toEqual([
      ...["one_1_a", "one_1_b", "one_2_a", "one_2_b", "one_3_a", "one_3_b"].map((id) => [id, [], []]),
      ["some_1", ["one_1_a", "one_1_b"], ["1-a.txt", "1-b.txt"]],
      ["some_2", ["one_2_a", "one_2_b"], ["2-a.txt", "2-b.txt"]],
      ["all", ["one_1_b", "one_2_b"], ["1-b.txt", "2-b.txt"]],
    ]);
  });

  it("names files that it makes, values side by side too, and outputs of one or-group", () => {
    const definition = definitionOf(`
files: [{ name: "f_{i}", path: "{i}.txt", parameters: { i: "1:2" } }]
jobs:
  - { name: "j_{i}", command: x, parameters: { i: "1:2" } }
  - { name: split, command: y, output_files: ["f_{i}"], depends_on: ["j_{i}|j_{k}"], parameter_mode: zip, parameters: { i: [1, 2], k: [2, 1] } }
`);
    expect(definition.steps.at(-1)).toMatchObject({
      files: { outputs: ["1.txt", "2.txt"] },
      dependsOn: [["j_1", "j_2"]],
    });
  });

  it("cannot stand where a single value is wanted", () => {
    const text = `jobs:
  - { name: j, command: "x {i}", cwd: "{i}", env: { A: "{i}" }, parameters: { i: "1:2" } }`;
    expect(summaryOf(text)).toEqual([
      "INVALID_VALUE 2:25 jobs[0].command",
      "INVALID_VALUE 2:39 jobs[0].cwd",
      "INVALID_VALUE 2:56 jobs[0].env.A",
    ]);
    expect(problemsOf(text)[0]?.hint).toBe(
      "Put `{i}` into the name to make a job for each value, or remove it here.",
    );
  });

  it("is no excuse for two values that are written alike", () => {
    expect(
      summaryOf('jobs: [{ name: "j_{x:.1f}", command: x, parameters: { x: [0.11, 0.12], i: "1:2" } }]'),
    ).toEqual(["DUPLICATE_ID 1:16 jobs[0].name"]);
  });
});
