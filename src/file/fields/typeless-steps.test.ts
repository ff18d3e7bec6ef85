import { expect, it } from "vitest";
import { problemsOf, summaryOf } from "../../../test/support/workflow-text.js";

const messagesOf = (step: string) => problemsOf(`steps:\n  a: { ${step} }\n`).map(({ message }) => message);

it("a step without a type is told of its misspelt keys too", () => {
  expect(summaryOf("steps:\n  a: { exce: make, time_out: 4 }\n")).toEqual([
    "MISSING_KEY 2:6 steps.a",
    "UNKNOWN_KEY 2:8 steps.a.exce",
    "UNKNOWN_KEY 2:20 steps.a.time_out",
  ]);
  expect(messagesOf("exce: make")).toEqual([
    "the key `type` is missing",
    "unknown key `exce`, did you mean `exec`?",
  ]);
});

it("a step without a type is judged by the action that knows most of its keys", () => {
  expect(messagesOf("url: http://x, metod: GET")).toEqual([
    "the key `type` is missing",
    "unknown key `metod`, did you mean `method`?",
  ]);
  expect(problemsOf("steps: { a: { prompt: p, model: m, provider: nobody } }")).toMatchObject([
    { code: "MISSING_KEY", hint: "Add `type: llm_call`." },
    { code: "INVALID_VALUE", path: "steps.a.provider" },
  ]);
  expect(messagesOf("implementation: { url: http://x }, depnds_on: b")).toEqual([
    "the key `type` is missing",
    "unknown key `depnds_on`, did you mean `depends_on`?",
  ]);
});

it("a misspelt type is judged as the one that was meant", () => {
  expect(messagesOf("type: comand, exec: x, stdni: y")).toEqual([
    "unknown type `comand`, did you mean `command`?",
    "unknown key `stdni`, did you mean `stdin`?",
  ]);
});

it("a type that may be a program's own keeps its own keys", () => {
  expect(messagesOf("type: deploy_to_moon, rocket: 5")).toEqual(["unknown type `deploy_to_moon`"]);
});
