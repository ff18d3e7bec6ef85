import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf, summaryOf, warningsOf } from "../../../test/support/workflow-text.js";

const shapeOf = (text: string) =>
  Object.fromEntries(
    definitionOf(text).steps.map(({ id, dependsOn, files }) => [
      id,
      { after: dependsOn.map((group) => group.join("|")), files },
    ]),
  );

describe("files of the batch form", () => {
  it("put the job that makes a file before those that need it: a diamond", () => {
    const text = `
files:
  - { name: raw, path: data/raw.csv }
  - { name: left, path: out/left.csv }
  - { name: right, path: out/right.csv }
  - { name: sum, path: out/sum.csv }
jobs:
  - { name: join, command: x, input_files: [left, right], output_files: [sum] }
  - { name: left, command: x, input_files: [raw], output_files: [left] }
  - { name: right, command: x, input_files: [raw], output_files: [right] }
`;
    expect(shapeOf(text)).toEqual({
      join: {
        after: ["left", "right"],
        files: { inputs: ["out/left.csv", "out/right.csv"], outputs: ["out/sum.csv"] },
      },
      left: { after: [], files: { inputs: ["data/raw.csv"], outputs: ["out/left.csv"] } },
      right: { after: [], files: { inputs: ["data/raw.csv"], outputs: ["out/right.csv"] } },
    });
  });

  it("follow parameters, their own, the job's and shared ones, and regular expressions over their names", () => {
    const text = `
parameters: { i: "1:2" }
files:
  - { name: "part_{i}", path: "out/{i:03d}.csv", use_parameters: [i] }
  - { name: total, path: out/total.csv }
jobs:
  - { name: "make_{k}", command: x, parameters: { k: "1:2" }, output_files: ["part_{k}"] }
  - { name: "check_{i}", command: x, use_parameters: [i], input_files: ["part_{i}"] }
  - { name: all, command: x, input_files: ["part_{i}"] }
  - { name: sum, command: x, input_file_regexes: ["^part_"], output_file_regexes: ["^total$"] }
`;
    const shape = shapeOf(text);
    expect(shape.check_2).toEqual({ after: ["make_2"], files: { inputs: ["out/002.csv"], outputs: [] } });
    expect(shape.all!.after).toEqual(["make_1", "make_2"]);
    expect(shape.sum).toEqual({
      after: ["make_1", "make_2"],
      files: { inputs: ["out/001.csv", "out/002.csv"], outputs: ["out/total.csv"] },
    });
  });

  it("that a command names by files.input.NAME are paths in it, and are needed and made by the job", () => {
    const text = `
files:
  - { name: raw, path: data/raw.csv }
  - { name: "part_{i}", path: "out/{i:03d}.csv", parameters: { i: "1:2" } }
jobs:
  - name: "split_{i}"
    command: 'split -i "\${files.input.raw}" -o \${files.output.part_{i}} \${HOME}'
    invocation_script: "run --log \${files.output.part_{i}}.log"
    parameters: { i: "1:2" }
    input_files: [raw]
  - { name: all, command: "cat \${files.input.part_{i}}" }
`;
    const commands = definitionOf(text).steps.map((step) => step.action.exec);
    expect(commands).toEqual([
      `run --log out/001.csv.log split -i "data/raw.csv" -o out/001.csv \${HOME}`,
      `run --log out/002.csv.log split -i "data/raw.csv" -o out/002.csv \${HOME}`,
      "cat out/001.csv out/002.csv",
    ]);
    expect(shapeOf(text)).toMatchObject({
      split_2: { after: [], files: { inputs: ["data/raw.csv"], outputs: ["out/002.csv"] } },
      all: { after: ["split_1", "split_2"], files: { inputs: ["out/001.csv", "out/002.csv"], outputs: [] } },
    });
  });

  it("that a command names and that are not in the list are told with the nearest name", () => {
    const [problem, ...others] = problemsOf(
      `files: [{ name: raw, path: x }]\njobs: [{ name: a, command: "cat \${files.input.row}" }]`,
    );
    expect(problem).toMatchObject({ code: "INVALID_VALUE", path: "jobs[0].command", line: 2, column: 28 });
    expect(problem!.message).toBe("there is no file `row` in the list `files`, did you mean `raw`?");
    expect(others).toEqual([]);
  });

  it.each(["files.inputs.raw", "files.input.", "files.raw", "user_data.raw"])(
    "are told from mistakes such as %s, which the shell would only call a bad substitution",
    (inside) => {
      const [problem, ...others] = problemsOf(
        `files: [{ name: raw, path: x }]\njobs: [{ name: "a_{i}", parameters: { i: "1:3" }, command: "cat \${${inside}} > {i}" }]`,
      );
      expect(problem).toMatchObject({ code: "INVALID_VALUE", path: "jobs[0].command" });
      expect(problem!.message).toBe(`\`\${${inside}}\` does not name a file`);
      expect(others).toEqual([]);
    },
  );

  it("add to what a job depends on by name, each once", () => {
    const text = `
files: [{ name: a, path: a }, { name: b, path: ./b }]
jobs:
  - { name: make, command: x, output_files: [a, b] }
  - { name: other, command: x }
  - { name: use, command: x, depends_on: [other, make], input_files: [a, b] }
`;
    expect(shapeOf(text).use!.after).toEqual(["other", "make"]);
  });

  it.each([
    ["files: [{ name: a, path: x }, { name: a, path: y }]", "", "DUPLICATE_ID 1:39 files[1].name"],
    ["files: [{ name: a }]", "", "MISSING_KEY 1:9 files[0]"],
    ["files: [{ name: abc, path: x }]", ", input_files: [abd]", "INVALID_VALUE 2:45 jobs[0].input_files[0]"],
    ["files: [{ name: a, path: '{{ inputs.x }}' }]", "", "INVALID_VALUE 1:26 files[0].path"],
    [
      "files: [{ name: 'a_{i}', path: x }]",
      ", input_files: [a_1]",
      "INVALID_VALUE 2:45 jobs[0].input_files[0]",
    ],
    ["files: [{ name: a, path: '{i:q}', parameters: { i: [1] } }]", "", "INVALID_VALUE 1:26 files[0].path"],
    [
      "files: [{ name: a, path: x }]",
      ", output_file_regexes: ['(']",
      "INVALID_VALUE 2:53 jobs[0].output_file_regexes[0]",
    ],
  ])("refuse %s%s", (top, key, summary) => {
    expect(summaryOf(`${top}\njobs: [{ name: a, command: x${key} }]`)[0]).toBe(summary);
  });

  it("suggest the nearest name", () => {
    const [problem] = problemsOf(
      "files: [{ name: abc, path: x }]\njobs: [{ name: a, command: x, input_files: [abd] }]",
    );
    expect(problem!.message).toBe("there is no file `abd` in the list `files`, did you mean `abc`?");
  });

  it("warn of a pattern that is found in no file's name", () => {
    expect(
      warningsOf(
        "files: [{ name: a, path: x }]\njobs: [{ name: a, command: x, input_file_regexes: ['^z'] }]",
      ),
    ).toEqual(["NO_EFFECT jobs[0].input_file_regexes[0]"]);
  });
});

describe("files of a step", () => {
  it("are paths, and link steps as in the batch form", () => {
    const text = `
steps:
  use: { exec: x, files: { inputs: ["./out//a.csv", b.csv] } }
  make: { exec: x, files: { outputs: out/a.csv } }
`;
    expect(shapeOf(text)).toEqual({
      use: { after: ["make"], files: { inputs: ["./out//a.csv", "b.csv"], outputs: [] } },
      make: { after: [], files: { inputs: [], outputs: ["out/a.csv"] } },
    });
  });

  it("that change a file in place do not wait for themselves", () => {
    expect(shapeOf("steps: { a: { exec: x, files: { inputs: x, outputs: x } } }").a!.after).toEqual([]);
  });

  it.each([
    [
      "steps: { a: { exec: x, files: { outputs: f } }, b: { exec: x, files: { outputs: [f] } } }",
      "INVALID_VALUE 1:82 steps.b.files.outputs[0]",
    ],
    [
      "steps: { a: { exec: x, files: { inputs: f, outputs: g } }, b: { exec: x, files: { inputs: g, outputs: f } } }",
      "CYCLE 1:10 steps.a",
    ],
    ["steps: { a: { type: human, prompt: x, files: { inputs: f } } }", "INVALID_VALUE 1:39 steps.a.files"],
    ["steps: { a: { exec: x, files: [f] } }", "WRONG_TYPE 1:31 steps.a.files"],
    ["files: [{ name: a, path: x }]\nsteps: { a: { exec: x } }", "UNKNOWN_KEY 1:1 files"],
  ])("refuse %s", (text, summary) => {
    expect(summaryOf(text)[0]).toBe(summary);
  });

  it("are read in time that grows with their number", () => {
    const text = `
parameters: { i: "1:20000" }
files:
  - { name: "in_{i}", path: "in/{i}", use_parameters: [i] }
  - { name: "out_{i}", path: "out/{i}", use_parameters: [i] }
jobs:
  - { name: "a_{i}", command: x, use_parameters: [i], input_files: ["in_{i}"], output_files: ["out_{i}"] }
  - { name: "b_{i}", command: x, use_parameters: [i], input_files: ["out_{i}"] }
`;
    const { steps } = definitionOf(text);
    expect(steps).toHaveLength(40_000);
    expect(steps[39_999]).toMatchObject({ id: "b_20000", dependsOn: [["a_20000"]] });
  });
});
