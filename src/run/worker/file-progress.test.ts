import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FileProgress } from "./file-progress.js";

let folder = "";
let probes = "";
beforeEach(() => {
  probes = mkdtempSync(join(tmpdir(), "daruma-probes-"));
  folder = mkdtempSync(join(tmpdir(), "daruma-progress-"));
  mkdirSync(join(folder, "deep", "er"), { recursive: true });
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, "deep", "er", "file.txt"), "one\n");
  writeFileSync(join(folder, "other.txt"), "two\n");
});
afterEach(() => {
  for (const made of [folder, probes]) rmSync(made, { recursive: true, force: true });
});

/** Until the clock of the file system has moved on. */
async function tick(): Promise<void> {
  const probe = join(probes, "probe");
  const touched = (): bigint => {
    writeFileSync(probe, "");
    return statSync(probe, { bigint: true }).ctimeNs;
  };
  const before = touched();
  while (touched() === before) await new Promise(setImmediate);
}

describe("changes of files as a sign of life", () => {
  it("is none where nothing happens", async () => {
    const progress = await FileProgress.begin(folder);
    expect(await progress.hasChanged()).toBe(false);
  });

  it.each([
    ["a file grows", () => appendFileSync(join(folder, "deep", "er", "file.txt"), "more")],
    [
      "a file is made in a new folder",
      () => {
        mkdirSync(join(folder, "new", "and", "deep"), { recursive: true });
        writeFileSync(join(folder, "new", "and", "deep", "x"), "");
      },
    ],
    ["a file is removed", () => rmSync(join(folder, "deep", "er", "file.txt"))],
    [
      "a file is written with an old date",
      () => {
        writeFileSync(join(folder, "other.txt"), "out of an archive");
        utimesSync(join(folder, "other.txt"), 1, 1);
      },
    ],
  ])("is one where %s, and only once", async (_what, change) => {
    const progress = await FileProgress.begin(folder);
    await tick();
    change();
    expect(await progress.hasChanged()).toBe(true);
    expect(await progress.hasChanged()).toBe(false);
  });

  it("does not come from git's own files, nor from a folder that is gone", async () => {
    const progress = await FileProgress.begin(folder);
    await tick();
    writeFileSync(join(folder, ".git", "index"), "looked at");
    expect(await progress.hasChanged()).toBe(false);
    rmSync(folder, { recursive: true });
    expect(await progress.hasChanged()).toBe(false);
  });
});
