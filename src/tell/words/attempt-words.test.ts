import { expect, it } from "vitest";
import type { Placed } from "../../core/model/worker-names.js";
import { ATTEMPT_WORDS } from "./attempt-words.js";

it("the story of a start says why it is there, where that was not the room alone", () => {
  const tell = (placed?: Placed): string => {
    const start = {
      type: "attempt.started",
      job: 1,
      attempt: 2,
      visit: 1,
      worker: "a/1",
      token: "",
    } as const;
    const event = placed === undefined ? start : { ...start, placed };
    const told = ATTEMPT_WORDS["attempt.started"].story!(event, null as never, null as never);
    return told.flatMap(({ sentences }) => sentences.map(({ text }) => text)).join(" ");
  };
  expect(tell()).toBe("");
  expect(tell("elsewhere")).toBe(
    "Attempt 2 started on a/1, because the last attempt failed on another worker (retry.on_worker).",
  );
  expect(tell("same")).toMatch(/where the last attempt failed/);
  expect(tell("probation")).toMatch(/on probation/);
  expect(tell("only")).toMatch(/in quarantine, because no other connected worker could run it/);
});
