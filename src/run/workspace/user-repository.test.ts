import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  git,
  listTree,
  makeRepository,
  photograph,
  writeFiles,
} from "../../../test/support/git-repository.js";
import { BASE_FILES, Chain, codeOf, STEPS } from "../../../test/support/workspace-chain.js";
import { REPOSITORY_VARIABLES } from "./git-program.js";
import { stepEnvironment } from "./tree-index.js";
import type { Workspaces } from "./workspace.js";
import { openWorkspaces } from "./workspaces.js";

const RUN = 7;
const HOOKS = ["post-checkout", "post-commit", "pre-commit", "reference-transaction", "post-index-change"];

let folder = "";
let repo = "";
let workspaces: Workspaces;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-user-"));
  repo = makeRepository(join(folder, "repo"), { ...BASE_FILES, ".gitignore": "*.log\nignored/\n.daruma/\n" });
  workspaces = openWorkspaces({ outputDir: join(repo, ".daruma") });
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const begin = async (run = RUN) => new Chain(workspaces, await workspaces.create(run, { repo, ref: "HEAD" }));
const witness = () => join(folder, "a hook has run");

/** Makes staged, unstaged, untracked, stashed and ignored files, branches, and an unfinished merge. */
function makeBusy(): void {
  writeFiles(repo, { "a.txt": "stashed\n" });
  git(repo, "stash", "--quiet");
  git(repo, "branch", "side");
  writeFiles(repo, { "a.txt": "staged\n", "run.sh": "unstaged\n", untracked: "x", "x.log": "y" });
  git(repo, "add", "a.txt");
  writeFiles(repo, { "a.txt": "staged, then edited\n" });
}

/** The repository without the output folder, which is ours. */
function picture() {
  const { files, words } = photograph(repo);
  return { files: files.filter((line) => !line.startsWith(".daruma/")), words };
}

/** Does everything that can be done with a workspace, including failures. */
async function doAll(chain: Chain): Promise<void> {
  await chain.addSteps();
  await workspaces.changes(chain.workspace, chain.since);
  await workspaces.discard(await workspaces.rebuild(RUN, chain.replay));
  chain.workspace = await workspaces.restore(RUN, chain.replay);
  await workspaces.resultPatch(chain.workspace, { since: chain.since, file: join(folder, "result.patch") });
  await codeOf(workspaces.create(RUN + 1, { repo, ref: "nothing" }));
  rmSync(join(repo, ".daruma", "output", `run-${RUN}`, "patches"), { recursive: true });
  expect(await codeOf(workspaces.rebuild(RUN, chain.replay))).toBe("WORKSPACE_PATCH_MISSING");
}

describe("the user's repository", () => {
  it("is the same to the last byte after everything, with work in every corner of it", async () => {
    makeBusy();
    const before = picture();
    await doAll(await begin());
    expect(picture()).toEqual(before);
    await workspaces.remove(RUN);
    expect(picture()).toEqual(before);
  });

  it("is out of reach of what a step does with git in its tree", async () => {
    makeBusy();
    const before = picture();
    const { workspace } = await begin();
    STEPS[0]!(workspace.path);
    for (const args of [
      ["stash", "--include-untracked"],
      ["branch", "mine"],
      ["config", "core.hooksPath", "hooks"],
      ["commit", "--quiet", "--allow-empty", "-m", "mine"],
      ["update-ref", "-d", "refs/heads/side"],
      ["gc", "--quiet", "--prune=now"],
      ["reset", "--quiet", "--hard"],
    ])
      git(workspace.path, ...args);
    expect(picture()).toEqual(before);
  });

  it("is not found by a step that has deleted its own repository", async () => {
    const { workspace } = await begin();
    rmSync(join(workspace.path, ".git"), { recursive: true });
    const find = (env: NodeJS.ProcessEnv) =>
      execFileSync("git", ["rev-parse", "--git-dir"], { cwd: workspace.path, env, stdio: "pipe" });
    expect(find(process.env).toString()).toContain("repo/.git");
    expect(() => find({ ...process.env, ...stepEnvironment(workspace) })).toThrow(/not a git repository/);
  });

  it("shows nothing of a workspace, even where the output folder is not ignored", async () => {
    writeFiles(repo, { ".gitignore": "*.log\n" });
    await begin();
    expect(git(repo, "status", "--porcelain", "--untracked-files=all")).toBe("M .gitignore");
  });

  it("keeps its hooks and settings to itself", async () => {
    for (const hook of HOOKS) {
      writeFiles(repo, { [`.git/hooks/${hook}`]: `#!/bin/sh\ntouch '${witness()}'\nexit 1\n` });
      chmodSync(join(repo, ".git", "hooks", hook), 0o755);
    }
    const settings = join(folder, "gitconfig");
    writeFiles(folder, {
      gitconfig: `[core]\n autocrlf = true\n hooksPath = ${repo}/.git/hooks\n excludesFile = ${folder}/ignore\n fsmonitor = ${folder}/evil\n quotePath = false\n
[commit]\n gpgSign = true\n[gpg]\n program = ${folder}/evil\n[diff]\n external = ${folder}/evil\n noprefix = true\n mnemonicPrefix = true\n renames = copies
[apply]\n whitespace = fix\n[init]\n templateDir = ${folder}/template\n[user]\n useConfigOnly = true\n[submodule]\n recurse = true\n[index]\n version = 4\n[core]\n splitIndex = true\n`,
      ignore: "*.txt\n",
      evil: `#!/bin/sh\ntouch '${witness()}'\nexit 1\n`,
      "template/hooks/post-checkout": `#!/bin/sh\ntouch '${witness()}'\n`,
      "xdg/git/ignore": "*\n",
      "xdg/git/attributes": "* text eol=crlf\n",
    });
    chmodSync(join(folder, "evil"), 0o755);
    chmodSync(join(folder, "template", "hooks", "post-checkout"), 0o755);
    vi.stubEnv("GIT_CONFIG_GLOBAL", settings);
    vi.stubEnv("XDG_CONFIG_HOME", join(folder, "xdg"));
    const before = picture();
    const chain = await begin();
    STEPS[0]!(chain.workspace.path);
    writeFiles(chain.workspace.path, { "spaces.txt": "trailing   \n\r\n" });
    const files = listTree(chain.workspace.path);
    const { changedFiles } = await chain.add();
    expect(changedFiles).toEqual(expect.arrayContaining(["crlf.txt", "spaces.txt", "new/untracked.txt"]));
    expect(listTree((await workspaces.restore(RUN, chain.replay)).path)).toEqual(files);
    expect(picture()).toEqual(before);
    await workspaces.resultBranch(await current(), {
      since: chain.since,
      repo,
      name: "result",
      message: "m",
      at: 0,
    });
    expect(existsSync(witness())).toBe(false);
  });

  it("is the one that was named, whatever a git hook around us has set", async () => {
    const other = makeRepository(join(folder, "other"), { other: "x" });
    const before = photograph(other);
    for (const name of [
      "GIT_DIR",
      "GIT_WORK_TREE",
      "GIT_INDEX_FILE",
      "GIT_OBJECT_DIRECTORY",
      "GIT_CONFIG_PARAMETERS",
    ])
      expect(REPOSITORY_VARIABLES).toContain(name);
    vi.stubEnv("GIT_DIR", join(other, ".git"));
    vi.stubEnv("GIT_WORK_TREE", other);
    vi.stubEnv("GIT_INDEX_FILE", join(other, ".git", "index"));
    const chain = await begin();
    STEPS[0]!(chain.workspace.path);
    await chain.add();
    await workspaces.restore(RUN, chain.replay);
    vi.unstubAllEnvs();
    expect(photograph(other)).toEqual(before);
    expect(chain.workspace.commit).toBe(git(repo, "rev-parse", "HEAD"));
  });

  it("may be shallow, or of another kind of hash", async () => {
    writeFiles(repo, { "a.txt": "second\n" });
    git(repo, "commit", "--quiet", "-a", "-m", "second");
    git(folder, "clone", "--quiet", "--depth=1", `file://${repo}`, join(folder, "shallow"));
    makeRepository(join(folder, "sha256"), BASE_FILES, "--object-format=sha256");
    for (const [place, name] of ["shallow", "sha256"].entries()) {
      const from = join(folder, name);
      const before = photograph(from);
      const workspace = await workspaces.create(place + 1, { repo: from, ref: "HEAD" });
      const chain = await new Chain(workspaces, workspace).addSteps();
      const restored = await workspaces.restore(place + 1, chain.replay);
      expect(git(restored.path, "log", "--oneline")).not.toBe("");
      expect(photograph(from)).toEqual(before);
      const branch = { since: chain.since, repo: from, name: "result", message: "m", at: 0 };
      expect(git(from, "rev-parse", "HEAD")).toBe(workspace.commit);
      expect(await workspaces.resultBranch(restored, branch)).toBe(git(from, "rev-parse", "result"));
      git(from, "fsck", "--strict");
    }
  });

  it("serves two runs at once", async () => {
    const before = picture();
    const chains = await Promise.all([begin(1), begin(2)]);
    for (const [place, { workspace }] of chains.entries())
      writeFiles(workspace.path, { "a.txt": `${place}\n` });
    await Promise.all(chains.map((chain) => chain.add()));
    const restored = await Promise.all(
      chains.map((chain) => workspaces.restore(chain.workspace.runId, chain.replay)),
    );
    expect(restored.map(({ path }) => readFileSync(join(path, "a.txt"), "utf8"))).toEqual(["0\n", "1\n"]);
    expect(picture()).toEqual(before);
  });
});

const current = async () => (await workspaces.current(RUN))!;

describe("the result of a run", () => {
  it("is one patch that the user can apply", async () => {
    const chain = await (await begin()).addSteps();
    writeFiles(chain.workspace.path, { "after the last checkpoint": "x" });
    const file = join(folder, "result.patch");
    const { since } = chain;
    const { changedFileCount } = await workspaces.resultPatch(chain.workspace, { since, file });
    expect(changedFileCount).toBeGreaterThan(5);
    const there = join(folder, "there");
    git(folder, "clone", "--quiet", repo, there);
    git(there, "apply", "--index", file);
    expect(listTree(there)).toEqual(listTree(chain.workspace.path));
  });

  it("is one commit on a new branch, and nothing else changes", async () => {
    makeBusy();
    const before = picture();
    const chain = await (await begin()).addSteps();
    const branch = {
      since: chain.since,
      repo,
      name: "daruma/run-7",
      message: "Result\n",
      at: 1_700_000_000_000,
    };
    const commit = await workspaces.resultBranch(chain.workspace, branch);
    expect(git(repo, "rev-parse", "daruma/run-7", "daruma/run-7^")).toBe(
      `${commit}\n${chain.workspace.commit}`,
    );
    const there = join(folder, "there");
    git(folder, "clone", "--quiet", "--branch", "daruma/run-7", repo, there);
    expect(listTree(there)).toEqual(listTree(chain.workspace.path));
    const fresh = (line: string) =>
      !/^\.git\/(objects|refs\/heads\/daruma|logs\/refs\/heads\/daruma)\//.test(line);
    expect(picture().files.filter(fresh)).toEqual(before.files.filter(fresh));
    expect(await codeOf(workspaces.resultBranch(chain.workspace, branch))).toBe("WORKSPACE_BRANCH_EXISTS");
    for (const name of ["daruma", "daruma/run-7/x"])
      expect(await codeOf(workspaces.resultBranch(chain.workspace, { ...branch, name }))).toBe(
        "WORKSPACE_BRANCH_EXISTS",
      );
    for (const name of ["-f", "a..b", "", "a b"])
      expect(await codeOf(workspaces.resultBranch(chain.workspace, { ...branch, name }))).toBe(
        "WORKSPACE_BRANCH_INVALID",
      );
    const other = makeRepository(join(folder, "other"), { other: "x" });
    expect(await codeOf(workspaces.resultBranch(chain.workspace, { ...branch, repo: other }))).toBe(
      "WORKSPACE_REF_NOT_FOUND",
    );
  });
});
