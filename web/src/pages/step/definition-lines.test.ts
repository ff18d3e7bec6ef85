import { expect, it } from "vitest";
import { linesOfStep } from "./text-lines.js";

const TEXT =
  "name: x\r\nsteps:\r\n  a:\r\n    exec: y\r\n  b: { exec: z }\r\ntransitions:\r\n  - { from: a, to: b }";
const DRAWN = {
  nodes: [
    { name: "n0", step: "a", lines: { first: 3, last: 4 } },
    { name: "n1", step: "b", lines: { first: 5, last: 5 } },
    { name: "n2", step: "c", lines: null },
  ],
  edges: [
    { from: "n0", to: "n1", kind: "transition_failure", lines: { first: 7, last: 7 } },
    { from: "n0", to: "n1", kind: "depends", lines: { first: 1, last: 1 } },
  ],
} as const;

it("shows a step's own lines and those of its transitions, numbered as in the file", () => {
  expect(linesOfStep(TEXT, DRAWN, "a")).toEqual([
    { number: 3, text: "  a:" },
    { number: 4, text: "    exec: y" },
    { number: null, text: "…" },
    { number: 7, text: "  - { from: a, to: b }" },
  ]);
  expect(linesOfStep(TEXT, DRAWN, "b").map(({ number }) => number)).toEqual([5, null, 7]);
  expect(linesOfStep(TEXT, DRAWN, "c")).toEqual([]);
});
