import { describe, expect, it } from "vitest";
import { longTests, Reach, sortTests } from "./fast-or-slow.js";
import { repositoryRoot } from "./repository-root.js";

function reach(files: Readonly<Record<string, string>>): Reach {
  return new Reach((path) => files[path] ?? null);
}

describe("a test is slow when its imports lead to what starts a process, a thread or a database", () => {
  it.each([
    ["imports it", 'import { spawn } from "node:child_process";'],
    ["imports it over several lines", 'import {\n  spawn,\n  fork,\n} from "node:child_process";'],
    ["loads it later", 'const { Worker } = await import("node:worker_threads");'],
    ["passes it on", 'export { default } from "postgres";'],
  ])("a module that %s", (_, text) => {
    const files = { "test/a.test.ts": 'import { b } from "./support/b.js";', "test/support/b.ts": text };
    expect(reach(files).isFast("test/a.test.ts")).toBe(false);
  });

  it("tells the way to it", () => {
    const files = {
      "src/a.test.ts": 'import { b } from "./b.js";\nimport { c } from "./c/c.js";',
      "src/b.ts": 'import { c } from "./c/c.js";',
      "src/c/c.ts": 'import { b } from "../b.js";\nimport { fork } from "node:child_process";',
    };
    const way = ["src/a.test.ts", "src/c/c.ts", "node:child_process"];
    expect(reach(files).slowModule("src/a.test.ts")).toEqual(way);
  });

  it("a type loads nothing", () => {
    const files = { "src/a.test.ts": 'import type { ChildProcess } from "node:child_process";' };
    expect(reach(files).isFast("src/a.test.ts")).toBe(true);
  });

  it("one that replaces a module needs modules of its own", () => {
    const replacing = reach({ "src/a.test.ts": 'vi.mock("node:fs", () => ({}));' });
    expect(replacing.isFast("src/a.test.ts")).toBe(false);
    expect(replacing.replacesModules("src/a.test.ts")).toBe(true);
  });
});

it("a test that takes long is there, and in no other half", () => {
  const listed = longTests(repositoryRoot);
  const { fast, slow, apart, long } = sortTests(repositoryRoot);
  expect(long).toEqual([...listed].sort());
  expect([...fast, ...slow, ...apart].filter((path) => listed.includes(path))).toEqual([]);
});
