import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  git,
  listFiles,
  listTree,
  makeRepository,
  writeFiles,
} from "../../../test/support/git-repository.js";
import { edit, tryEdit } from "../../../test/support/random-edits.js";
import { BASE_FILES, Chain, codeOf } from "../../../test/support/workspace-chain.js";
import type { Workspaces } from "./workspace.js";
import { workspacePaths } from "./workspace-paths.js";
import { openWorkspaces } from "./workspaces.js";

const RUN = 7;
const OF = { job: 70_000_002, attempt: 3 };
const PATCH = `patches/partial/j${OF.job}_a${OF.attempt}.patch`;

let folder = "";
let repo = "";
let outputDir = "";
let workspaces: Workspaces;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-aside-"));
  repo = makeRepository(join(folder, "repo"), BASE_FILES);
  outputDir = join(folder, "out");
  workspaces = openWorkspaces({ outputDir });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const begin = async (run = RUN) => new Chain(workspaces, await workspaces.create(run, { repo, ref: "HEAD" }));
const threeSteps = async () => (await begin()).addSteps();
const setAside = (chain: Chain) => workspaces.setAside(chain.workspace, { since: chain.since, ...OF });
const patchFile = () => join(workspacePaths(outputDir, RUN).run, PATCH);

/** Makes every kind of change to files, also to those of earlier steps. */
function mess(path: string): void {
  writeFiles(path, {
    "a.txt": "a mess\n",
    "left over/deep/x": "x",
    "ignored/made by it": "x",
    "it.log": "x",
  });
  rmSync(join(path, "crlf.txt"));
  renameSync(join(path, "blob"), join(path, "moved blob"));
  chmodSync(join(path, "run.sh"), 0o644);
  rmSync(join(path, "empty"), { recursive: true });
  writeFileSync(join(path, "empty"), "a file in place of a folder");
  rmSync(join(path, "new", "link"));
  mkdirSync(join(path, "new", "link"));
  writeFiles(path, { "new/link/a folder in place of a file": "x" });
  symlinkSync("/etc/hostname", join(path, "new", "outside"));
  mkdirSync(join(path, "made", "and", "empty"), { recursive: true });
  makeRepository(join(path, "cloned"), { "of/its/own": "x", ".gitignore": "built\n", built: "x" });
}

describe("what an attempt left", () => {
  it("goes into a patch for nobody else to read, and the tree is to the byte what the checkpoint was", {
    tags: ["M17"],
  }, async () => {
    const chain = await threeSteps();
    const { path } = chain.workspace;
    writeFiles(path, { "ignored/cache": "kept", "kept.log": "kept" });
    const before = listTree(path);
    mess(path);
    const messy = listTree(path).filter(
      (line) => !/^(ignored|cloned\/\.git\/|cloned\/built|.*\.log)/.test(line),
    );
    expect(await setAside(chain)).toMatchObject({ patch: PATCH, files: expect.any(Number) });
    const ignored = ["ignored/made by it", "it.log"];
    expect(listTree(path).filter((line) => !ignored.some((name) => line.startsWith(name)))).toEqual(before);
    for (const name of ignored) expect(existsSync(join(path, name)), name).toBe(true);
    for (const name of ["cloned", "made", "left over"])
      expect(existsSync(join(path, name)), name).toBe(false);
    expect(statSync(patchFile()).mode & 0o777).toBe(0o600);
    expect(await workspaces.changes(chain.workspace, chain.since)).toMatchObject({ diffHash: null });
    const other = await workspaces.rebuild(RUN, chain.replay);
    git(other.path, "apply", patchFile());
    expect(listTree(other.path)).toEqual(messy.filter((line) => !/^(kept\.log)/.test(line)));
  });

  it("of a tree without a checkpoint goes back to the pinned commit", async () => {
    const chain = await begin();
    const before = listTree(chain.workspace.path);
    writeFiles(chain.workspace.path, { "a.txt": "x", new: "x" });
    expect(await setAside(chain)).toEqual({ patch: PATCH, files: 2 });
    expect(listTree(chain.workspace.path)).toEqual(before);
  });

  it("is nothing where nothing differs: no patch, but empty folders go", async () => {
    const chain = await threeSteps();
    mkdirSync(join(chain.workspace.path, "empty folder"));
    expect(await setAside(chain)).toEqual({ patch: null, files: 0 });
    expect(existsSync(patchFile())).toBe(false);
    expect(existsSync(join(chain.workspace.path, "empty folder"))).toBe(false);
  });

  it("is kept without touching the tree where a goto is about to replace it", async () => {
    const chain = await threeSteps();
    writeFiles(chain.workspace.path, { junk: "x" });
    const before = listFiles(chain.workspace.path);
    const kept = await workspaces.keepLeftovers(chain.workspace, { since: chain.since, ...OF });
    expect(kept).toEqual({ patch: PATCH, files: 1 });
    expect(listFiles(chain.workspace.path)).toEqual(before);
    expect(readFileSync(patchFile(), "utf8")).toContain("junk");
  });

  it("whatever a row of edits made of the files, goes", async () => {
    let run = 100;
    await fc.assert(
      fc.asyncProperty(
        fc.array(edit, { maxLength: 6 }),
        fc.array(edit, { maxLength: 8 }),
        async (done, left) => {
          run += 1;
          const chain = await begin(run);
          const { path } = chain.workspace;
          for (const each of done) tryEdit(path, each);
          await chain.add();
          const before = (await workspaces.rebuild(run, chain.replay)).path;
          for (const each of left) tryEdit(path, each);
          await setAside(chain);
          expect(listTree(path)).toEqual(listTree(before));
          await workspaces.remove(run);
        },
      ),
      { numRuns: Number(process.env.TREE_RUNS ?? 6) },
    );
  });
});

describe("ignored files", () => {
  it("are those that the checkpoint ignores, whatever the attempt has made of the rules", async () => {
    const chain = await begin();
    const { path } = chain.workspace;
    writeFiles(path, { "sub/.gitignore": "*.tmp\n", "sub/a": "a" });
    await chain.add();
    writeFiles(path, { "ignored/cache": "kept", "sub/x.tmp": "kept", "deep/in/it.log": "kept" });
    // Like the caches of some tools, its .gitignore covers itself.
    writeFiles(path, { ".cache/.gitignore": "*\n", ".cache/x": "kept" });
    const before = listTree(path);
    rmSync(join(path, ".gitignore"));
    rmSync(join(path, "sub", ".gitignore"));
    writeFiles(path, { "own/.gitignore": "hidden\n", "own/hidden": "x", "loud.txt": "x" });
    await setAside(chain);
    expect(listTree(path)).toEqual(before);
  });

  it("that only the attempt ignores are its own, and go", async () => {
    const chain = await begin();
    const before = listTree(chain.workspace.path);
    appendFileSync(join(chain.workspace.path, ".gitignore"), "node_modules\n");
    writeFiles(chain.workspace.path, { "node_modules/a/index.js": "x" });
    expect(await setAside(chain)).toEqual({ patch: PATCH, files: 1 });
    expect(listTree(chain.workspace.path)).toEqual(before);
  });
});

describe("setting aside again", () => {
  it("after a crash in the middle ends the same, with the patch that was made first", async () => {
    const chain = await threeSteps();
    const { path } = chain.workspace;
    const before = listTree(path);
    writeFiles(path, { "a.txt": "a mess\n", "one more": "x", "another/one": "x" });
    rmSync(join(path, "run.sh"));
    const of = { since: chain.since, ...OF };
    await workspaces.keepLeftovers(chain.workspace, of);
    const first = readFileSync(patchFile());
    // The state after a partial restore: one file is restored, one is removed, the others are left to do.
    writeFiles(path, { "a.txt": "one\n2\n3\n" });
    rmSync(join(path, "one more"));
    expect(await setAside(chain)).toEqual({ patch: PATCH, files: 4 });
    expect(listTree(path)).toEqual(before);
    expect(readFileSync(patchFile())).toEqual(first);
    expect(await setAside(chain)).toEqual({ patch: PATCH, files: 4 });
    expect(listTree(path)).toEqual(before);
  });

  it("takes no half-written patch for a whole one", async () => {
    const chain = await threeSteps();
    writeFiles(chain.workspace.path, { junk: "x" });
    writeFiles(join(patchFile(), ".."), { [`.j${OF.job}_a${OF.attempt}.patch.tmp`]: "diff --gi" });
    await setAside(chain);
    expect(readFileSync(patchFile(), "utf8")).toContain("+x");
  });
});

describe("the repository that steps use in the tree", () => {
  it("stands where it stood at the checkpoint: nothing staged, committed or begun since, and no lock", async () => {
    const chain = await begin();
    const { path } = chain.workspace;
    git(path, "checkout", "-q", "-b", "work");
    writeFiles(path, { "done.txt": "done", "staged.txt": "staged" });
    git(path, "add", "done.txt");
    git(path, "commit", "-q", "-m", "done");
    git(path, "add", "staged.txt");
    await chain.add();
    const seen = () => [git(path, "log", "--oneline", "--decorate"), git(path, "status", "--porcelain")];
    const before = seen();
    writeFiles(path, { "bad.txt": "bad", "worse.txt": "worse" });
    git(path, "add", "bad.txt");
    git(path, "commit", "-q", "-m", "bad");
    git(path, "checkout", "-q", "--detach");
    git(path, "add", "worse.txt");
    writeFiles(path, { ".git/index.lock": "", ".git/refs/heads/work.lock": "", ".git/MERGE_HEAD": "x" });
    await setAside(chain);
    expect(seen()).toEqual(before);
    git(path, "add", "--all");
    git(path, "commit", "-q", "-m", "next");
    expect(git(path, "show", "--stat", "--format=", "HEAD")).not.toMatch(/bad|worse/);
  });

  it("is back at the pinned commit in a tree that was rebuilt", async () => {
    const chain = await threeSteps();
    chain.workspace = await workspaces.restore(RUN, chain.replay);
    const { path, commit } = chain.workspace;
    const before = git(path, "status", "--porcelain");
    git(path, "commit", "-q", "-a", "-m", "bad");
    await setAside(chain);
    expect(git(path, "rev-parse", "HEAD")).toBe(commit);
    expect(git(path, "status", "--porcelain")).toBe(before);
  });

  it("is left alone where a step has put a link to another in its place", async () => {
    const chain = await begin();
    const { path } = chain.workspace;
    await chain.add();
    rmSync(join(path, ".git"), { recursive: true });
    symlinkSync(join(repo, ".git"), join(path, ".git"));
    const before = listFiles(repo);
    writeFiles(path, { junk: "x" });
    await setAside(chain);
    expect(listFiles(repo)).toEqual(before);
    expect(existsSync(join(path, "junk"))).toBe(false);
  });
});

describe("a tree that cannot be brought back", () => {
  it("is an error that names the files, and the patch is there", async () => {
    const chain = await threeSteps();
    writeFiles(chain.workspace.path, { "stays.txt": "x" });
    const lazy = join(folder, "lazy-git");
    const script = '#!/bin/sh\ncase " $* " in *" -u "*|*" clean "*) exit 0;; esac\nexec git "$@"\n';
    writeFileSync(lazy, script, { mode: 0o755 });
    const stubborn = openWorkspaces({ outputDir, git: lazy });
    const result = stubborn.setAside(chain.workspace, { since: chain.since, ...OF });
    await expect(result).rejects.toThrow(/cannot be brought back: stays\.txt/);
    expect(existsSync(patchFile())).toBe(true);
  });

  it("is an error where it is gone", async () => {
    const chain = await threeSteps();
    rmSync(chain.workspace.path, { recursive: true });
    expect(await codeOf(setAside(chain))).toBe("WORKSPACE_NOT_FOUND");
  });
});
