import { expect, it } from "vitest";
import { problemsOf } from "../../../test/support/workflow-text.js";
import { foreignWords, oursFor } from "../../core/text/foreign-words.js";

/** `needs` is a key here too; `command` is one of jobs. */
const UNKNOWN = foreignWords("key").filter((key) => key !== "needs");

it.each(UNKNOWN)("a step's %s of another program is answered with our key, in one problem", (key) => {
  expect(problemsOf(`steps: { a: { exec: x, ${key}: 1 } }`)).toMatchObject([
    { code: "UNKNOWN_KEY", message: `unknown key \`${key}\` here: ${oursFor("key", key)}` },
  ]);
});

it.each(UNKNOWN)("so is %s at the top of the file", (key) => {
  expect(problemsOf(`${key}: 1\nsteps: { a: { exec: x } }`)).toMatchObject([
    { code: "UNKNOWN_KEY", message: `unknown key \`${key}\` here: ${oursFor("key", key)}` },
  ]);
});

it.each(["run", "script", "command"])(
  "a step that has only %s is a command, and not asked for a type",
  (key) => {
    expect(problemsOf(`steps: { a: { ${key}: make } }`).map(({ code }) => code)).toEqual(["UNKNOWN_KEY"]);
  },
);

it.each(["[build]", "build"])("`needs: %s` names steps, which is `depends_on`", (value) => {
  const text = `steps: { build: { exec: x }, a: { exec: x, needs: ${value} } }`;
  expect(problemsOf(text)).toMatchObject([
    { code: "INVALID_VALUE", hint: "Rename it to `depends_on`.", path: "steps.a.needs" },
  ]);
});

it("a misspelt `needs` is still told what it may be", () => {
  expect(problemsOf("steps: { b: { exec: x }, a: { exec: x, depends_on: b, needs: setled } }")).toMatchObject(
    [{ message: "`setled` is not allowed here, did you mean `settled`?" }],
  );
});
