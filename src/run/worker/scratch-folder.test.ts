import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ScratchFolder, stuckLeftovers } from "./scratch-folder.js";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const LONG_AGO = new Date("2020-01-01");

let parent = "";
let opened: ScratchFolder[] = [];
/** As this process calls its own. */
let host = "";
let boot = "";
beforeAll(async () => {
  const scratch = new ScratchFolder(mkdtempSync(join(tmpdir(), "scratch-test-")));
  [, host = "", boot = ""] = basename(scratch.open()).split("-");
  await scratch.close();
  rmSync(scratch.parent, { recursive: true });
});
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "scratch-test-"));
  opened = [];
});
afterEach(async () => {
  process.seteuid?.(0);
  for (const scratch of opened) await scratch.close();
  rmSync(parent, { recursive: true, force: true });
});

function open(): { scratch: ScratchFolder; path: string } {
  const scratch = new ScratchFolder(parent);
  opened.push(scratch);
  return { scratch, path: scratch.open() };
}

/** A process that starts here, looks after what others have left, and ends. */
async function tidy(): Promise<void> {
  const { scratch } = open();
  await scratch.tidied;
  await scratch.close();
}

/** The name of a folder of a process that is certainly gone, with parts of its owner changed. */
function deadName(change: { host?: string; boot?: string; tail?: string } = {}): string {
  const { pid } = spawnSync("true");
  return `daruma-${change.host ?? host}-${change.boot ?? boot}-${pid}-1-${change.tail ?? "abcdef"}`;
}

function leave(name: string): string {
  const path = join(parent, name);
  mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(path, "j1_a1.output"), "secret");
  return path;
}

describe("the scratch folder", () => {
  it("is private, is gone with its process, and is made again at its place if somebody removes it", async () => {
    const { scratch, path } = open();
    expect(statSync(path).mode & 0o777).toBe(0o700);
    rmSync(path, { recursive: true });
    expect(scratch.open()).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    writeFileSync(join(path, "j1_a1.output"), "x");
    await scratch.close();
    expect(readdirSync(parent)).toEqual([]);
  });

  it("is made elsewhere if a link stands in its place, which is never followed", async () => {
    const { scratch, path } = open();
    const victim = join(parent, "victim");
    renameSync(path, victim);
    writeFileSync(join(victim, "kept"), "x");
    symlinkSync(victim, path);
    const other = scratch.open();
    expect(other).not.toBe(path);
    await scratch.close();
    expect(readdirSync(victim)).toEqual(["kept"]);
    expect(existsSync(other)).toBe(false);
  });

  it.skipIf(!isRoot)("is made elsewhere if another user's folder stands in its place", () => {
    const { scratch, path } = open();
    chownSync(path, NOBODY, NOBODY);
    expect(scratch.open()).not.toBe(path);
  });
});

describe("what killed processes have left", () => {
  it("is removed, with what a step has nested 300 levels deep, and links in it are not followed", async () => {
    const victim = join(parent, "victim");
    mkdirSync(victim);
    writeFileSync(join(victim, "kept"), "x");
    const path = leave(deadName());
    symlinkSync(victim, join(path, "link"));
    const deep = join(parent, "deep");
    const above = join(parent, "above");
    mkdirSync(deep);
    for (let level = 0; level < 300; level += 1) {
      mkdirSync(above);
      renameSync(deep, join(above, "a-folder-with-a-name-that-is-not-short"));
      renameSync(above, deep);
    }
    renameSync(deep, join(path, "deep"));
    // On a slow machine it takes more than one process.
    do await tidy();
    while (readdirSync(parent).some((name) => name.includes("daruma-")));
    expect(readdirSync(victim)).toEqual(["kept"]);
  });

  it("is removed after the machine's start, too, but not all at once", async () => {
    const name = deadName({ boot: "000000000000" });
    for (let nth = 0; nth < 101; nth += 1)
      leave(name.replace("abcdef", `abc${String(nth).padStart(3, "0")}`));
    await tidy();
    expect(readdirSync(parent).filter((left) => left.includes("-abc"))).not.toEqual([]);
    do await tidy();
    while (readdirSync(parent).length > 0);
  });

  it("stays if it is of another host or process namespace, of a living process, or named otherwise", async () => {
    const { path: living } = open();
    const kept = [leave(deadName({ host: "000000000000" })), leave("daruma-999999-x"), living];
    await tidy();
    expect(kept.map((path) => existsSync(path))).toEqual([true, true, true]);
    expect(await stuckLeftovers(parent)).toEqual([]);
  });

  it("stays if it is a link, or the link's folder", async () => {
    const victim = leave("victim");
    const link = join(parent, deadName());
    symlinkSync(victim, link);
    await tidy();
    expect(readdirSync(victim)).toEqual(["j1_a1.output"]);
    expect(existsSync(link)).toBe(true);
  });

  it.skipIf(!isRoot)("stays if it is another user's, whoever that is", async () => {
    const path = leave(deadName());
    chownSync(path, NOBODY, NOBODY);
    await tidy();
    expect(readdirSync(path)).toEqual(["j1_a1.output"]);
  });

  it.skipIf(!isRoot)("fails nothing if it cannot be removed, keeps no other, and is named", async () => {
    const shut = leave(deadName({ tail: "closed" }));
    const other = leave(deadName());
    mkdirSync(join(shut, "inner"), { mode: 0o000 });
    for (const path of [parent, shut, join(shut, "inner"), other]) chownSync(path, NOBODY, NOBODY);
    chmodSync(parent, 0o1777);
    process.seteuid?.(NOBODY);
    await tidy();
    while (existsSync(other) || existsSync(`${other}.removing`)) await tidy();
    const stuck = `${shut}.removing`;
    expect(await stuckLeftovers(parent)).toEqual([]);
    utimesSync(stuck, LONG_AGO, LONG_AGO);
    expect(await stuckLeftovers(parent)).toEqual([stuck]);
  });

  it.skipIf(!isRoot)("is left alone in a folder that may not be listed", async () => {
    const path = leave(deadName());
    chownSync(path, NOBODY, NOBODY);
    chmodSync(parent, 0o1733);
    process.seteuid?.(NOBODY);
    await tidy();
    process.seteuid?.(0);
    expect(existsSync(path)).toBe(true);
  });
});
