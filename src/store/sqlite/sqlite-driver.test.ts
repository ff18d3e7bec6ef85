import { expect, test } from "vitest";
import { isSound, loadWithoutWarning } from "./sqlite-driver.js";

test("a built-in SQLite is used from the version on that keeps its log safe between processes", () => {
  const versions = [undefined, "3.50.9", "3.51.2", "3.51.3", "3.52.0", "4.0.0"];
  expect(versions.map(isSound)).toEqual([false, false, false, true, true, true]);
});

test("a module that warns or fails when it is loaded is not used, and nothing is printed", () => {
  const warn = () => {
    process.emitWarning("experimental", "ExperimentalWarning");
    return "module";
  };
  const fail = (): string => {
    throw new Error("no such built-in module");
  };
  const emitWarning = process.emitWarning;
  expect([loadWithoutWarning(warn), loadWithoutWarning(fail)]).toEqual([null, null]);
  expect(loadWithoutWarning(() => "module")).toBe("module");
  expect(process.emitWarning).toBe(emitWarning);
});
