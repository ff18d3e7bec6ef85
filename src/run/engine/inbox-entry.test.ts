import { expect, test } from "vitest";
import { parseCommand } from "./inbox.js";

const ASKING = { reason: "", key: null };

test.each([
  { type: "run.cancel", ...ASKING },
  { type: "run.pause", takeover: false, by: "ops", ...ASKING },
  { type: "step.retry", job: 1, maxAttempts: 3, force: true, ...ASKING },
  { type: "jobs.recover", items: [{ job: 1, amounts: { memoryBytes: 1024 } }], ...ASKING },
  { type: "holds.resolve", items: [{ job: 1, action: "skip", output: null, items: null }], ...ASKING },
  { type: "human.answer", job: 1, choice: "yes", text: "", key: null },
])("a command is taken as it was left: %o", (command) => {
  expect(parseCommand(JSON.stringify(command))).toEqual(command);
});

test.each([
  "{oops",
  "null",
  '"run.cancel"',
  "[]",
  JSON.stringify({ type: "run.explode", ...ASKING }),
  JSON.stringify({ type: "toString", ...ASKING }),
  JSON.stringify({ type: "run.cancel", reason: "" }),
  JSON.stringify({ type: "run.cancel", ...ASKING, reason: 7 }),
  JSON.stringify({ type: "step.retry", job: 1.5, ...ASKING }),
  JSON.stringify({ type: "step.retry", job: "1", ...ASKING }),
  JSON.stringify({ type: "jobs.recover", items: {}, ...ASKING }),
  JSON.stringify({ type: "holds.resolve", items: [{ job: 1, action: "explode" }], ...ASKING }),
])("what is no command is refused, not carried out: %s", (text) => {
  expect(parseCommand(text)).toBeNull();
});
