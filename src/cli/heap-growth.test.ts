import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Run } from "../core/model/run.js";
import {
  growHeapAsUsual,
  growHeapSlowly,
  growHeapSlowlyForFile,
  growHeapSlowlyForRun,
} from "./heap-growth.js";

vi.mock("node:v8", () => ({ setFlagsFromString: vi.fn() }));
const collect = vi.hoisted(() => vi.fn());
vi.mock("node:vm", () => ({ runInNewContext: () => collect }));

const folder = mkdtempSync(join(tmpdir(), "daruma-heap-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(bytes: number): string {
  const file = join(folder, `${bytes}.yaml`);
  writeFileSync(file, "#".repeat(bytes));
  return file;
}

const runOf = (jobs: number) => ({ jobs: { length: jobs } }) as Run;
const flagsSet = () => vi.mocked(setFlagsFromString).mock.calls.flat();

describe("the growth of the heap", () => {
  beforeEach(() => {
    growHeapAsUsual();
    vi.mocked(setFlagsFromString).mockClear();
    collect.mockClear();
  });

  it("is left alone by small files, small runs and files that are not there", () => {
    growHeapSlowlyForFile(fileOf(100_000));
    growHeapSlowlyForFile("-");
    growHeapSlowlyForRun(runOf(9_999));
    expect(flagsSet()).toEqual([]);
  });

  it.each([
    ["a large file", () => growHeapSlowlyForFile(fileOf(300_000))],
    ["a large run", () => growHeapSlowlyForRun(runOf(10_000))],
    ["a server", () => growHeapSlowly()],
  ])("is slowed down once by %s, and as usual again at the end", (_, meetLarge) => {
    meetLarge();
    meetLarge();
    growHeapAsUsual();
    growHeapAsUsual();
    expect(flagsSet().filter((flag) => flag.startsWith("--heap"))).toEqual([
      "--heap-growing-percent=30",
      "--heap-growing-percent=0",
    ]);
  });

  it("begins with one collection where the heap has grown with the run already", () => {
    growHeapSlowlyForFile(fileOf(300_000));
    expect(collect).not.toHaveBeenCalled();
    growHeapAsUsual();
    growHeapSlowlyForRun(runOf(10_000));
    growHeapSlowlyForRun(runOf(10_001));
    expect(collect).toHaveBeenCalledOnce();
  });
});
