import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot, runCli } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
const DIGEST_BYTES = 32;

/** What stands for ~/.cache. */
function makeBase(name: string): string {
  const base = join(cli.path, name);
  mkdirSync(base, { mode: 0o700 });
  return base;
}

const list = (base: string): string[] => readdirSync(join(base, "daruma"));

async function expectVersion(env: Record<string, string>): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as {
    version: string;
  };
  const result = await runCli(["--version"], { DARUMA_NO_CACHE: "", ...env });
  expect(result).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
}

/** A base folder with a cache that was used once, its only file, and which file that is. */
async function filled(name: string) {
  const base = makeBase(name);
  await expectVersion({ XDG_CACHE_HOME: base });
  const [only] = list(base);
  const file = join(base, "daruma", only!);
  return { base, file, inode: statSync(file).ino };
}

describe("the compiled program", () => {
  it("is kept in a folder of the user alone, and used again", async () => {
    const { base, file, inode } = await filled("kept");
    expect(statSync(join(base, "daruma")).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await expectVersion({ XDG_CACHE_HOME: base });
    expect(list(base)).toHaveLength(1);
    expect(statSync(file).ino).toBe(inode);
  });

  it("that is damaged is made anew", async () => {
    const { base, file } = await filled("damaged");
    const size = statSync(file).size;
    writeFileSync(`${file}.zeros`, Buffer.alloc(size));
    renameSync(`${file}.zeros`, file);
    await expectVersion({ XDG_CACHE_HOME: base });
    expect(readFileSync(file).equals(Buffer.alloc(size))).toBe(false);
  });

  it("of another engine under the same name is refused by V8 and made anew", async () => {
    const { base, file } = await filled("foreign");
    const own = readFileSync(file);
    const compiled = Buffer.from(own.subarray(DIGEST_BYTES));
    // The second word of V8's header is the hash of its version.
    compiled.writeUInt32LE(compiled.readUInt32LE(4) ^ 0xff, 4);
    const foreign = Buffer.concat([createHash("sha256").update(compiled).digest(), compiled]);
    writeFileSync(file, foreign);
    await expectVersion({ XDG_CACHE_HOME: base });
    expect(readFileSync(file).equals(foreign)).toBe(false);
  });

  it("whose place a pipe has taken is not waited for, and made anew", async () => {
    const { base, file } = await filled("pipe");
    rmSync(file);
    execFileSync("mkfifo", [file]);
    await expectVersion({ XDG_CACHE_HOME: base });
    expect(statSync(file).isFile()).toBe(true);
  });

  it("of another build is left alone", async () => {
    const { base, file } = await filled("other-build");
    const other = file.replace(/_[0-9a-f]{16}_/, "_0123456789abcdef_");
    writeFileSync(other, "of another build");
    await expectVersion({ XDG_CACHE_HOME: base });
    expect(list(base)).toHaveLength(2);
    expect(readFileSync(other, "utf8")).toBe("of another build");
  });

  it("of old builds goes once there are more than sixteen files", async () => {
    const base = makeBase("many");
    mkdirSync(join(base, "daruma"), { mode: 0o700 });
    for (let index = 0; index < 19; index += 1) writeFileSync(join(base, "daruma", `old-${index}`), "old");
    await expectVersion({ XDG_CACHE_HOME: base });
    expect(list(base)).toHaveLength(16);
    expect(list(base).filter((name) => name.endsWith(".code"))).toHaveLength(1);
  });

  it("survives two commands that write it at once", async () => {
    const base = makeBase("at-once");
    await Promise.all(Array.from({ length: 4 }, () => expectVersion({ XDG_CACHE_HOME: base })));
    expect(list(base)).toHaveLength(1);
    const inode = statSync(join(base, "daruma", list(base)[0]!)).ino;
    await expectVersion({ XDG_CACHE_HOME: base });
    expect(statSync(join(base, "daruma", list(base)[0]!)).ino).toBe(inode);
  });

  it("is not kept where it is not wanted", async () => {
    const base = makeBase("unwanted");
    await expectVersion({ XDG_CACHE_HOME: base, DARUMA_NO_CACHE: "1" });
    expect(readdirSync(base)).toEqual([]);
  });
});

describe("a cache folder that is not the user's alone is neither read nor written", () => {
  it("where others may write to it", async () => {
    const base = makeBase("shared");
    mkdirSync(join(base, "daruma"));
    chmodSync(join(base, "daruma"), 0o777);
    await expectVersion({ XDG_CACHE_HOME: base });
    expect(list(base)).toEqual([]);
  });

  it.skipIf(!isRoot)("where it is somebody else's", async () => {
    const base = makeBase("foreign-folder");
    mkdirSync(join(base, "daruma"), { mode: 0o700 });
    chownSync(join(base, "daruma"), NOBODY, NOBODY);
    await expectVersion({ XDG_CACHE_HOME: base });
    expect(list(base)).toEqual([]);
  });

  it.skipIf(!isRoot)("where its parent is somebody else's, as under sudo", async () => {
    const base = makeBase("foreign-home");
    chownSync(base, NOBODY, NOBODY);
    await expectVersion({ XDG_CACHE_HOME: base });
    expect(readdirSync(base)).toEqual([]);
  });

  it.skipIf(!isRoot)("where the file in it is somebody else's", async () => {
    const { base, file } = await filled("foreign-file");
    const inode = statSync(file).ino;
    chownSync(file, NOBODY, NOBODY);
    await expectVersion({ XDG_CACHE_HOME: base });
    expect(statSync(file)).toMatchObject({ uid: process.getuid?.() });
    expect(statSync(file).ino).not.toBe(inode);
  });

  it("and where there is none to be had", async () => {
    await expectVersion({ XDG_CACHE_HOME: "/dev/null/none" });
    await expectVersion({ XDG_CACHE_HOME: "", HOME: "/nonexistent" });
    await expectVersion({ XDG_CACHE_HOME: "", HOME: "" });
  });
});

it("with --debug a stack names the lines of the source, not those of the bundle", async () => {
  const { stderr, exitCode } = await cli.daruma("show", "1", "--debug");
  expect(exitCode).toBe(2);
  const [, file, line] =
    /^DarumaError: .*\n +at \w+ \((?:.*\/)?(src\/host\/[\w-]+\.ts):(\d+):\d+\)$/m.exec(stderr) ?? [];
  const lines = readFileSync(join(repositoryRoot, file!), "utf8").split("\n");
  expect(lines[Number(line) - 1]).toContain("new DarumaError");
});
