import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  git,
  listTree,
  makeRepository,
  photograph,
  writeFiles,
} from "../../../test/support/git-repository.js";
import { BASE_FILES, Chain, codeOf, STEPS } from "../../../test/support/workspace-chain.js";
import { MAX_LISTED_FILES } from "./checkpoint.js";
import type { Workspaces } from "./workspace.js";
import { openWorkspaces } from "./workspaces.js";

const RUN = 7;

let folder = "";
let repo = "";
let workspaces: Workspaces;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-workspace-"));
  repo = makeRepository(join(folder, "the répo"), BASE_FILES);
  workspaces = openWorkspaces({ outputDir: join(folder, "out put", ".daruma") });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const runFolder = () => join(folder, "out put", ".daruma", "output", `run-${RUN}`);
const create = () => workspaces.create(RUN, { repo, ref: "HEAD" });
const begin = async () => new Chain(workspaces, await create());
const threeSteps = async () => (await begin()).addSteps();

describe("a workspace", () => {
  it("holds the files of the pinned commit, and a rebuild does so too when the branch has moved on", {
    tags: ["M44"],
  }, async () => {
    writeFiles(repo, { "a.txt": "not committed\n", untracked: "x" });
    const workspace = await create();
    expect(workspace.commit).toBe(git(repo, "rev-parse", "HEAD"));
    expect(readFileSync(join(workspace.path, "a.txt"), "utf8")).toBe(BASE_FILES["a.txt"]);
    expect(readdirSync(workspace.path)).not.toContain("untracked");
    git(repo, "commit", "--quiet", "-a", "-m", "second");
    expect(await create()).toEqual(workspace);
    expect(await workspaces.current(RUN)).toEqual(workspace);
    const rebuilt = await workspaces.rebuild(RUN, { repo, commit: workspace.commit, checkpoints: [] });
    expect(git(rebuilt.path, "rev-parse", "HEAD")).toBe(workspace.commit);
    expect(listTree(rebuilt.path)).toEqual(listTree(workspace.path));
  });

  it("has a git of its own with history, branches, tags and a clean status", async () => {
    git(repo, "tag", "v1");
    git(repo, "branch", "side");
    git(repo, "config", "user.name", "Sömeone");
    const { path } = await create();
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(git(path, "describe", "--tags")).toBe("v1");
    expect(git(path, "rev-parse", "side", "main")).toBe(git(repo, "rev-parse", "side", "main"));
    expect(git(path, "config", "user.name")).toBe("Sömeone");
    expect(git(path, "remote")).toBe("");
  });

  it("can be opened from a folder within the repository, a linked worktree and a bare one", async () => {
    git(repo, "worktree", "add", "--quiet", "--detach", join(folder, "linked"));
    writeFiles(join(folder, "linked"), { "a.txt": "linked\n" });
    git(join(folder, "linked"), "commit", "--quiet", "-a", "-m", "on no branch");
    git(folder, "clone", "--quiet", "--bare", repo, join(folder, "bare.git"));
    for (const [place, from] of [
      join(repo, "bin"),
      join(folder, "linked"),
      join(folder, "bare.git"),
    ].entries()) {
      const workspace = await workspaces.create(place + 1, { repo: from, ref: "HEAD" });
      expect(workspace.commit).toBe(git(from, "rev-parse", "HEAD"));
      expect(git(workspace.path, "status", "--porcelain")).toBe("");
    }
  });

  it("survives that the user rewrites history, collects garbage and removes the repository", async () => {
    const chain = await begin();
    STEPS[0]!(chain.workspace.path);
    await chain.add();
    const before = listTree(chain.workspace.path);
    git(repo, "commit", "--quiet", "--amend", "-m", "rewritten");
    git(repo, "reflog", "expire", "--expire=now", "--all");
    git(repo, "gc", "--quiet", "--prune=now");
    expect(() => git(repo, "cat-file", "-e", chain.workspace.commit)).toThrow();
    expect(listTree((await workspaces.rebuild(RUN, chain.replay)).path)).toEqual(before);
    rmSync(repo, { recursive: true });
    expect(listTree((await workspaces.restore(RUN, chain.replay)).path)).toEqual(before);
  });

  it("is gone after remove, but its record stays", async () => {
    await threeSteps();
    await workspaces.remove(RUN);
    expect(await workspaces.current(RUN)).toBeNull();
    expect(readdirSync(runFolder()).sort()).toEqual(["patches", "state"]);
  });
});

describe("the difference", () => {
  it("is none at first, and none again when all is undone", async () => {
    const { path, ...rest } = await create();
    const none = { diffHash: null, changedFiles: [], changedFileCount: 0 };
    const look = () => workspaces.changes({ path, ...rest }, rest.commit);
    expect(await look()).toEqual(none);
    writeFiles(path, { "x/y": "1" });
    expect(await look()).toMatchObject({ changedFiles: ["x/y"], changedFileCount: 1 });
    rmSync(join(path, "x"), { recursive: true });
    utimesSync(join(path, "a.txt"), 1, 1);
    expect(await look()).toEqual(none);
  });

  it("is told by content and mode, not by times and not by what a step has staged", async () => {
    const workspace = await create();
    const { path, commit } = workspace;
    const hash = async () => (await workspaces.changes(workspace, commit)).diffHash;
    STEPS[0]!(path);
    const first = await hash();
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    utimesSync(join(path, "a.txt"), 1, 1);
    git(path, "add", "--all");
    git(path, "commit", "--quiet", "-m", "by the step");
    git(path, "update-index", "--assume-unchanged", "a.txt");
    expect(await hash()).toBe(first);
    writeFileSync(join(path, "a.txt"), "one\nX\nthree\n");
    const second = await hash();
    expect(second).not.toBe(first);
    writeFileSync(join(path, "a.txt"), "one\n2\nthree\n");
    expect(await hash()).toBe(first);
    chmodSync(join(path, "a.txt"), 0o755);
    expect(new Set([await hash(), first, second]).size).toBe(3);
  });

  it("leaves ignored files out unless they are tracked, whatever an earlier look has seen", async () => {
    const workspace = await create();
    const { path, commit } = workspace;
    const files = async () => (await workspaces.changes(workspace, commit)).changedFiles;
    writeFiles(path, { "ignored/x": "x", "y.log": "y", "forced.log": "z", "cache/c": "c" });
    git(path, "add", "-f", "forced.log");
    expect(await files()).toEqual(["cache/c", "forced.log"]);
    writeFiles(path, { ".gitignore": "ignored/\n*.log\ncache/\n" });
    expect(await files()).toEqual([".gitignore", "forced.log"]);
  });

  it("sees the same edit made twice within one tick of the clock", async () => {
    const workspace = await create();
    const file = join(workspace.path, "a.txt");
    const hashes = new Set<string | null>();
    for (let round = 0; round < 10; round += 1) {
      writeFileSync(file, `one\ntw${round}\nthree\n`);
      hashes.add((await workspaces.changes(workspace, workspace.commit)).diffHash);
    }
    expect(hashes.size).toBe(10);
  });

  it("does not mind that a step has deleted or broken its own git", async () => {
    const workspace = await create();
    writeFiles(workspace.path, { new: "x", ".git/index": "broken" });
    expect((await workspaces.changes(workspace, workspace.commit)).changedFiles).toEqual(["new"]);
    rmSync(join(workspace.path, ".git"), { recursive: true });
    expect((await workspaces.changes(workspace, workspace.commit)).changedFiles).toEqual(["new"]);
  });
});

describe("a checkpoint", () => {
  it("leaves an incremental patch and a state file that nobody else can read", {
    tags: ["M17"],
  }, async () => {
    const chain = await threeSteps();
    const patches = join(runFolder(), "patches", "steps");
    expect(readdirSync(patches)).toEqual(["step-0001.patch", "step-0002.patch", "step-0003.patch"]);
    expect(statSync(join(patches, "step-0001.patch")).mode & 0o777).toBe(0o600);
    const second = readFileSync(join(patches, "step-0002.patch"), "utf8");
    expect(second).toContain("rename from old name.txt");
    expect(second).not.toContain("a.txt\n");
    expect(JSON.parse(readFileSync(join(runFolder(), "state", "steps", "step-0002.json"), "utf8"))).toEqual({
      ordinal: 2,
      step_id: "step-2",
      index: 1,
      attempts: 2,
      diff_hash: chain.made[1]!.diff_hash,
      changed_files: ["bin/data.bin", "gone.txt", "new/new näme.txt", "old name.txt", "run.sh"],
      at: "2023-11-14T22:13:20.000Z",
      since: chain.made[0]!.commit,
      commit: chain.made[1]!.commit,
      patch: "patches/steps/step-0002.patch",
    });
  });

  it("of a step that changed nothing has no hash and can be replayed", async () => {
    const chain = await begin();
    expect(await chain.add()).toMatchObject({ diff_hash: null, changedFileCount: 0 });
    STEPS[0]!(chain.workspace.path);
    await chain.add();
    const candidate = await workspaces.rebuild(RUN, chain.replay);
    expect(listTree(candidate.path)).toEqual(listTree(chain.workspace.path));
  });

  it("gives the same when it is made once more, after a crash before it was recorded", async () => {
    const chain = await threeSteps();
    const files = () => listTree(runFolder()).filter((line) => /^(patches|state)/.test(line));
    const [before, last] = [files(), chain.made.pop()];
    writeFiles(runFolder(), {
      "patches/steps/.step-0003.patch.tmp": "half",
      "state/steps/.step-0003.json.tmp": "{",
    });
    expect(await chain.add()).toEqual(last);
    expect(files()).toEqual(before);
    rmSync(join(runFolder(), "workspace", "indexes"), { recursive: true });
    chain.made.pop();
    expect(await chain.add()).toEqual(last);
  });

  it("names the first of very many files, and all in its state file", async () => {
    const chain = await begin();
    writeFiles(
      chain.workspace.path,
      Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f/${n}`, `${n}`])),
    );
    const made = await chain.add();
    expect(made.changedFileCount).toBe(300);
    expect(made.changedFiles).toHaveLength(MAX_LISTED_FILES);
    const state = JSON.parse(readFileSync(join(runFolder(), "state", "steps", "step-0001.json"), "utf8"));
    expect(state.changed_files).toHaveLength(300);
  });

  it("takes the files of repositories that a step cloned or made within the tree", async () => {
    const chain = await begin();
    const { path } = chain.workspace;
    makeRepository(join(path, "vendor", "lib"), { "lib.c": "int x;\n", ".gitignore": "*.o\n" });
    makeRepository(join(path, "vendor", "lib", "deep"), { deep: "1" });
    git(path, "init", "--quiet", join(path, "without commit"));
    writeFiles(path, { "vendor/lib/lib.o": "x", "without commit/f": "f" });
    const made = await chain.add();
    expect(made.changedFiles).toEqual([
      "vendor/lib/.gitignore",
      "vendor/lib/deep/deep",
      "vendor/lib/lib.c",
      "without commit/f",
    ]);
    writeFiles(path, { "vendor/lib/more.c": "int y;\n" });
    await chain.add();
    const candidate = await workspaces.rebuild(RUN, chain.replay);
    expect(readFileSync(join(candidate.path, "vendor", "lib", "more.c"), "utf8")).toBe("int y;\n");
    expect(readFileSync(join(candidate.path, "vendor", "lib", "deep", "deep"), "utf8")).toBe("1");
  });
});

describe("errors", () => {
  it.each([
    [
      "a folder that is not there",
      () => ({ repo: join(folder, "nowhere"), ref: "HEAD" }),
      "WORKSPACE_REPO_NOT_FOUND",
    ],
    ["a folder without a repository", () => ({ repo: folder, ref: "HEAD" }), "WORKSPACE_REPO_NOT_FOUND"],
    ["an unknown ref", () => ({ repo, ref: "no-such-branch" }), "WORKSPACE_REF_NOT_FOUND"],
    ["a ref that is an option", () => ({ repo, ref: "--all" }), "WORKSPACE_REF_NOT_FOUND"],
    ["a file in place of a commit", () => ({ repo, ref: "HEAD:a.txt" }), "WORKSPACE_REF_NOT_FOUND"],
  ])("have a code: %s", async (_name, from, code) => {
    expect(await codeOf(workspaces.create(RUN, from()))).toBe(code);
    expect(await workspaces.current(RUN)).toBeNull();
  });

  it("have a code: no git, a repository without commits, a run id that is none", async () => {
    const without = openWorkspaces({ outputDir: folder, git: join(folder, "no-git") });
    expect(await codeOf(without.create(RUN, { repo, ref: "HEAD" }))).toBe("WORKSPACE_GIT_MISSING");
    git(folder, "init", "--quiet", join(folder, "empty"));
    const empty = { repo: join(folder, "empty"), ref: "HEAD" };
    expect(await codeOf(workspaces.create(RUN, empty))).toBe("WORKSPACE_REF_NOT_FOUND");
    expect(await codeOf(workspaces.create(0, { repo, ref: "HEAD" }))).toBe("INVALID_VALUE");
  });

  it("have a code: a git that is too old", async () => {
    const old = join(folder, "old-git");
    writeFileSync(old, "#!/bin/sh\necho git version 2.31.9\n", { mode: 0o755 });
    const workspacesOfOld = openWorkspaces({ outputDir: folder, git: old });
    expect(await codeOf(workspacesOfOld.create(RUN, { repo, ref: "HEAD" }))).toBe("WORKSPACE_GIT_MISSING");
  });
});

describe("git in trouble", () => {
  /** A git with special behaviour in some cases and the usual one in all others. */
  const strange = (cases: string) => {
    const program = join(folder, "strange-git");
    const script = `#!/bin/sh\nmark='${join(folder, "mark")}'\ncase "$*" in\n${cases}\nesac\nexec git "$@"\n`;
    writeFileSync(program, script, { mode: 0o755 });
    return openWorkspaces({ outputDir: join(folder, "strange"), git: program });
  };

  it("looks again at files that changed under its eyes", async () => {
    const failOnce = strange(`*" add --all"*) test -e "$mark" || { touch "$mark"; exit 128; } ;;`);
    const workspace = await failOnce.create(RUN, { repo, ref: "HEAD" });
    writeFiles(workspace.path, { new: "x" });
    expect(await failOnce.changes(workspace, workspace.commit)).toMatchObject({ changedFiles: ["new"] });
    const failAlways = strange(`*" add --all"*) echo no room >&2; exit 128 ;;`);
    expect(await codeOf(failAlways.changes(workspace, workspace.commit))).toBe("WORKSPACE_GIT_FAILED");
  });

  it("refuses a checkpoint that could not be replayed, and leaves no half of it", async () => {
    const large = strange(`*diff-tree*--binary*) truncate -s 1100000000 /dev/stdout; exit 0 ;;`);
    const chain = new Chain(large, await large.create(RUN, { repo, ref: "HEAD" }));
    expect(await codeOf(chain.add())).toBe("WORKSPACE_PATCH_TOO_LARGE");
    expect(readdirSync(join(folder, "strange", "output", `run-${RUN}`, "patches", "steps"))).toEqual([]);
  });

  it("copies a repository whose objects cannot be linked, and a commit that no branch leads to", async () => {
    writeFiles(repo, { "a.txt": "lost\n" });
    git(repo, "commit", "--quiet", "-a", "-m", "lost");
    const lost = git(repo, "rev-parse", "HEAD");
    git(repo, "reset", "--quiet", "--hard", "HEAD^");
    const objects = join(repo, ".git", "objects");
    const loose = readdirSync(objects).find((name) => name.length === 2)!;
    renameSync(join(objects, loose), join(folder, loose));
    symlinkSync(join(folder, loose), join(objects, loose));
    const workspace = await workspaces.create(RUN, { repo, ref: lost });
    expect(readFileSync(join(workspace.path, "a.txt"), "utf8")).toBe("lost\n");
  });

  it.skipIf(process.getuid?.() === 0)("removes folders that a step has closed", async () => {
    const { path } = await create();
    writeFiles(path, { "closed/file": "x" });
    chmodSync(join(path, "closed"), 0o500);
    await workspaces.remove(RUN);
    expect(await workspaces.current(RUN)).toBeNull();
    expect(existsSync(path)).toBe(false);
  });
});

describe("the photograph that other tests rely on", () => {
  it("shows a change of the index, of a ref and of the stash", () => {
    const before = photograph(repo);
    for (const change of [
      () => git(repo, "branch", "other"),
      () => git(repo, "rm", "--quiet", "--cached", "a.txt"),
      () => git(repo, "stash", "--quiet"),
      () => git(repo, "config", "a.b", "c"),
    ]) {
      const last = photograph(repo);
      change();
      expect(photograph(repo)).not.toEqual(last);
    }
    expect(photograph(repo)).not.toEqual(before);
  });
});
