import { expect, test } from "vitest";
import { isSound, loadPackage, loadWithoutWarning } from "./sqlite-driver.js";

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

const MODULE = { DatabaseSync: class {} } as unknown as ReturnType<typeof loadPackage>;

test("an installed driver comes before the copy in the package: two of them in one process break each other's locks", () => {
  const asked: string[] = [];
  const loaded = loadPackage((name) => {
    asked.push(name);
    return MODULE;
  });
  expect([loaded, asked]).toEqual([MODULE, ["@photostructure/sqlite"]]);
  const onlyCopy = (name: string) => {
    if (name !== "#sqlite") throw new Error("Cannot find module");
    return MODULE;
  };
  expect(loadPackage(onlyCopy)).toBe(MODULE);
});

test("a machine without either is told what to install", () => {
  const none = () => {
    throw new Error("No native build was found");
  };
  expect(() => loadPackage(none)).toThrow(
    expect.objectContaining({
      code: "PACKAGE_MISSING",
      message: expect.stringContaining("npm install @photostructure/sqlite@1"),
    }),
  );
});
