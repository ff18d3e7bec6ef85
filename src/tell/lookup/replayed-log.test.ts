import { expect, it } from "vitest";
import { ReplayedRun } from "./replayed-log.js";

it("a run that was removed while its log was about to be read is no damaged store", () => {
  const replay = new ReplayedRun(7, () => {
    throw new Error("there is no definition");
  });
  expect(() => replay.now).toThrow(expect.objectContaining({ code: "RUN_NOT_FOUND" }));
  const later = { seq: 2, at: 0, event: { type: "run.started" } } as never;
  expect(() => replay.fold(later)).toThrow(expect.objectContaining({ code: "STORE_FAILED" }));
});
