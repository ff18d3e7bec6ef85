import { expect, it } from "vitest";
import { keepWindow, linePlace, windowAround } from "./line-window.js";

it("a log that fits is shown whole, of a longer one the part around a line", () => {
  expect(windowAround(5, 90, 100)).toEqual({ first: 1, count: 90 });
  expect(windowAround(500, 1_000, 100)).toEqual({ first: 450, count: 100 });
  expect(windowAround(3, 1_000, 100)).toEqual({ first: 1, count: 100 });
  expect(windowAround(999, 1_000, 100)).toEqual({ first: 901, count: 100 });
});

it("a log that grows does not move the part that is read", () => {
  const shown = windowAround(500, 1_000, 100);
  expect(keepWindow(shown, 549, 5_000, 100)).toEqual(shown);
  expect(keepWindow(shown, 550, 5_000, 100)).toEqual({ first: 500, count: 100 });
  expect(keepWindow({ first: 1, count: 0 }, 1, 40, 100)).toEqual({ first: 1, count: 40 });
});

it("an address names a line of a stream, or none", () => {
  expect(linePlace("stderr:12")).toEqual({ stream: "stderr", line: 12 });
  expect(linePlace("stdout:0")).toEqual({ stream: "stdout", line: 1 });
  expect([linePlace(null), linePlace("12"), linePlace("prompt:3")]).toEqual([null, null, null]);
});
