import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  git,
  listFiles,
  makeRepository,
  photograph,
  writeFiles,
} from "../../../test/support/git-repository.js";
import { Chain, codeOf } from "../../../test/support/workspace-chain.js";
import type { Workspace, Workspaces } from "./workspace.js";
import { openWorkspaces } from "./workspaces.js";

const RUN = 4;

let made = "";
let folder = "";
let repo = "";
let workspaces: Workspaces;

/** `repo` has `lib` as a submodule, which has `deep/inner`. Everything is checked out. */
beforeAll(() => {
  folder = made = mkdtempSync(join(tmpdir(), "daruma-submodules-"));
  makeRepository(join(made, "inner"), { "i.txt": "inner\n" });
  makeRepository(join(made, "lib"), {
    "s.txt": "lib\n",
    ".gitignore": "*.tmp\n",
    "bin/x": Buffer.from([0, 1]),
  });
  addSubmodule(join(made, "lib"), "inner", "deep/inner");
  const original = makeRepository(join(made, "repo"), { "a.txt": "one\n", ".gitignore": "build/\n" });
  addSubmodule(original, "lib", "lib");
  anyProtocol(original, "submodule", "update", "--init", "--recursive", "--quiet");
});
afterAll(() => rmSync(made, { recursive: true, force: true }));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-submodules-"));
  cpSync(made, folder, { recursive: true });
  repo = join(folder, "repo");
  workspaces = openWorkspaces({ outputDir: join(folder, "out") });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function anyProtocol(cwd: string, ...args: string[]): string {
  return git(cwd, "-c", "protocol.file.allow=always", ...args);
}

function addSubmodule(into: string, name: string, path: string): void {
  anyProtocol(into, "submodule", "add", "--quiet", "--", join(folder, name), path);
  git(into, "commit", "--quiet", "-m", `add ${name}`);
}

const create = () => workspaces.create(RUN, { repo, ref: "HEAD" });
const begin = async () => new Chain(workspaces, await create());
/** All files of a tree except those in its own git folder and in those of its submodules. */
const filesOf = (path: string) => listFiles(path, (place) => /(^|\/)\.git$/.test(place));
const textOf = ({ path }: Workspace, file: string) => readFileSync(join(path, file), "utf8");

describe("a repository with submodules", () => {
  it("has the files of its submodules in the workspace, as they are pinned, and a clean status", async () => {
    writeFiles(repo, { "lib/s.txt": "not committed\n" });
    const before = photograph(repo);
    const workspace = await create();
    expect(textOf(workspace, "lib/s.txt")).toBe("lib\n");
    expect(textOf(workspace, "lib/deep/inner/i.txt")).toBe("inner\n");
    expect(git(workspace.path, "status", "--porcelain")).toBe("");
    expect(git(workspace.path, "rev-parse", "HEAD")).toBe(workspace.commit);
    for (const path of ["lib", "lib/deep/inner"]) {
      expect(git(join(workspace.path, path), "rev-parse", "HEAD")).toBe(
        git(join(repo, path), "rev-parse", "HEAD"),
      );
      expect(git(join(workspace.path, path), "status", "--porcelain")).toBe("");
    }
    // Many workflows do this first. There is nothing to fetch.
    git(workspace.path, "submodule", "update", "--init", "--recursive");
    expect((await workspaces.changes(workspace, workspace.base)).changedFiles).toEqual([]);
    expect(photograph(repo)).toEqual(before);
  });

  it("loses nothing of what a step does in them: a checkpoint has it, a hard reset brings it back", async () => {
    const chain = await begin();
    const { path } = chain.workspace;
    writeFiles(path, { "lib/s.txt": "changed\n", "lib/new.txt": "new\n", "lib/deep/inner/i.txt": "deep\n" });
    // Ignored by the enclosing repository, but not by the submodule.
    writeFiles(path, { "lib/build/made": "made\n", "lib/x.tmp": "ignored\n", "build/y": "ignored\n" });
    rmSync(join(path, "lib", "bin", "x"));
    const { changedFiles } = await chain.add();
    expect(changedFiles.toSorted()).toEqual(
      ["lib/bin/x", "lib/build/made", "lib/deep/inner/i.txt", "lib/new.txt", "lib/s.txt"].toSorted(),
    );
    git(join(path, "lib"), "commit", "--quiet", "-a", "-m", "by the step");
    writeFiles(path, { "lib/after.txt": "after\n", "lib/s.txt": "changed again\n" });
    expect((await chain.add()).changedFiles).toEqual(["lib/after.txt", "lib/s.txt"]);
    rmSync(join(path, "lib/x.tmp"));
    rmSync(join(path, "build"), { recursive: true });
    const files = filesOf(path);
    const restored = await workspaces.restore(RUN, chain.replay);
    expect(filesOf(restored.path)).toEqual(files);
    expect(git(join(restored.path, "lib"), "status", "--porcelain", "s.txt")).toBe("M s.txt");
  });

  it("gives the same again on a machine that has never seen the run", async () => {
    const chain = await begin();
    writeFiles(chain.workspace.path, { "lib/s.txt": "changed\n" });
    await chain.add();
    rmSync(join(folder, "out/output/run-4/workspace"), { recursive: true });
    const restored = await workspaces.restore(RUN, chain.replay);
    expect(restored.base).toBe(chain.workspace.base);
    expect(textOf(restored, "lib/s.txt")).toBe("changed\n");
    rmSync(join(folder, "out/output/run-4/workspace"), { recursive: true });
    git(repo, "submodule", "deinit", "--force", "--quiet", "lib");
    rmSync(join(repo, ".git", "modules"), { recursive: true });
    expect(await codeOf(workspaces.restore(RUN, chain.replay))).toBe("WORKSPACE_SUBMODULE_MISSING");
  });

  it("does not mind what a step puts in the place of a submodule", async () => {
    const chain = await begin();
    const { path } = chain.workspace;
    const outside = join(folder, "outside");
    mkdirSync(join(outside, "inner"), { recursive: true });
    rmSync(join(path, "lib", "deep"), { recursive: true });
    symlinkSync(outside, join(path, "lib", "deep"));
    await chain.add();
    await workspaces.restore(RUN, chain.replay);
    expect(existsSync(join(outside, "inner", ".git"))).toBe(false);
    chain.workspace = (await workspaces.current(RUN))!;
    rmSync(join(chain.workspace.path, "lib"), { recursive: true });
    writeFileSync(join(chain.workspace.path, "lib"), "a file\n");
    await chain.add();
    const files = filesOf(chain.workspace.path);
    expect(filesOf((await workspaces.restore(RUN, chain.replay)).path)).toEqual(files);
  });

  it("brings changes home as a patch, also into a submodule", async () => {
    const chain = await begin();
    writeFiles(chain.workspace.path, { "lib/s.txt": "changed\n", "a.txt": "two\n" });
    await chain.add();
    const file = join(folder, "result.patch");
    await workspaces.resultPatch(chain.workspace, { since: chain.since, file });
    execFileSync("git", ["apply", file], { cwd: repo });
    expect(readFileSync(join(repo, "lib", "s.txt"), "utf8")).toBe("changed\n");
    expect(git(repo, "status", "--porcelain")).toBe("M a.txt\n M lib");
  });

  it("gives a branch with its submodules as they were, and refuses one where they have changed", async () => {
    const chain = await begin();
    writeFiles(chain.workspace.path, { "a.txt": "two\n" });
    await chain.add();
    const branch = { repo, name: "result", message: "m", at: 0 };
    await workspaces.resultBranch(chain.workspace, { ...branch, since: chain.since });
    expect(git(repo, "diff", "--name-only", "HEAD", "result")).toBe("a.txt");
    expect(git(repo, "ls-tree", "result", "lib")).toBe(git(repo, "ls-tree", "HEAD", "lib"));
    git(repo, "fsck", "--strict");
    for (const change of [{ "lib/s.txt": "changed\n" }, { "lib/deep/inner/new": "x" }]) {
      writeFiles(chain.workspace.path, change);
      const refused = workspaces.resultBranch(chain.workspace, {
        ...branch,
        name: "other",
        since: chain.since,
      });
      expect(await codeOf(refused)).toBe("WORKSPACE_SUBMODULE_CHANGED");
      git(join(chain.workspace.path, "lib"), "reset", "--quiet", "--hard");
    }
    rmSync(join(chain.workspace.path, "lib", "s.txt"));
    const refused = workspaces.resultBranch(chain.workspace, {
      ...branch,
      name: "other",
      since: chain.since,
    });
    expect(await codeOf(refused)).toBe("WORKSPACE_SUBMODULE_CHANGED");
  });
});

describe("a submodule that is not checked out", () => {
  beforeEach(() => {
    const bare = join(folder, "bare.git");
    git(folder, "clone", "--quiet", "--bare", repo, bare);
    repo = bare;
  });

  it("begins as an empty folder, and what steps put there is kept as files", async () => {
    const chain = await begin();
    const { path } = chain.workspace;
    writeFiles(path, { "lib/put.txt": "put\n" });
    expect((await chain.add()).changedFiles).toEqual(["lib/put.txt"]);
    rmSync(join(path, "lib"), { recursive: true });
    mkdirSync(join(path, "lib"));
    anyProtocol(path, "submodule", "update", "--init", "--quiet", "lib");
    writeFiles(path, { "lib/s.txt": "edited\n" });
    await chain.add();
    const files = filesOf(path);
    const restored = await workspaces.restore(RUN, chain.replay);
    expect(filesOf(restored.path)).toEqual(files);
    expect(textOf(restored, "lib/s.txt")).toBe("edited\n");
    const branch = { repo, name: "result", message: "m", at: 0, since: chain.since };
    expect(await codeOf(workspaces.resultBranch(restored, branch))).toBe("WORKSPACE_SUBMODULE_CHANGED");
  });
});

describe("a submodule that is checked out", () => {
  it("but lacks the pinned commit is refused", async () => {
    writeFiles(join(folder, "lib"), { "s.txt": "newer\n" });
    git(join(folder, "lib"), "commit", "--quiet", "-a", "-m", "newer");
    const newer = git(join(folder, "lib"), "rev-parse", "HEAD");
    git(repo, "update-index", "--cacheinfo", `160000,${newer},lib`);
    git(repo, "commit", "--quiet", "-m", "moved");
    expect(await codeOf(create())).toBe("WORKSPACE_SUBMODULE_MISSING");
  });

  it("is found in a linked worktree, by its own folder, and in an old repository", async () => {
    const linked = join(folder, "linked");
    git(repo, "worktree", "add", "--quiet", "--detach", linked);
    anyProtocol(linked, "submodule", "update", "--init", "--recursive", "--quiet");
    rmSync(join(repo, ".git", "modules"), { recursive: true });
    const workspace = await workspaces.create(RUN, { repo: linked, ref: "HEAD" });
    expect(textOf(workspace, "lib/deep/inner/i.txt")).toBe("inner\n");
    const old = join(folder, "old");
    git(folder, "clone", "--quiet", repo, old);
    git(folder, "clone", "--quiet", join(folder, "lib"), join(old, "lib"));
    const second = await workspaces.create(RUN + 1, { repo: old, ref: "HEAD" });
    expect(textOf(second, "lib/s.txt")).toBe("lib\n");
  });

  it("is looked for nowhere but below the repository, whatever its name says", async () => {
    const secret = makeRepository(join(folder, "secret"), { "secret.txt": "secret\n" });
    const commit = git(secret, "rev-parse", "HEAD");
    const hostile = makeRepository(join(folder, "hostile"), {
      ".gitmodules": '[submodule "../../../secret/.git"]\n  path = evil\n  url = x\n',
    });
    git(hostile, "update-index", "--add", "--cacheinfo", `160000,${commit},evil`);
    git(hostile, "commit", "--quiet", "-m", "evil");
    const workspace = await workspaces.create(RUN, { repo: hostile, ref: "HEAD" });
    expect(existsSync(join(workspace.path, "evil", "secret.txt"))).toBe(false);
  });
});
