import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openWorkspaces } from "../../src/run/workspace/workspaces.js";
import { runCli } from "../support/cli.js";
import { git, makeRepository, writeFiles } from "../support/git-repository.js";
import { BASE_FILES, Chain, codeOf } from "../support/workspace-chain.js";

const RUN = 1;

let folder = "";
let repo = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-hostile-"));
  mkdirSync(join(folder, "ran"));
  repo = makeRepository(join(folder, "repo"), BASE_FILES);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** A program that leaves a mark of that name if anybody runs it. */
function trap(name: string): string {
  const file = join(folder, `trap-${name}`);
  writeFileSync(file, `#!/bin/sh\ntouch '${join(folder, "ran", name)}'\nexit 1\n`);
  chmodSync(file, 0o755);
  return file;
}

const sprung = (): string[] => readdirSync(join(folder, "ran"));
const setConfig = (text: string): void => appendFileSync(join(repo, ".git", "config"), text);
/** An `ext::` address of a trap; there is no blank in its path. */
const ext = (name: string): string => `ext::${trap(name)}`;

/** Each of these makes some git command run a program. None of them needs anything missing. */
function everySetting(): string {
  return `
[core]
  fsmonitor = ${trap("fsmonitor")}
  hooksPath = ${join(folder, "hooks")}
  pager = ${trap("pager")}
  editor = ${trap("editor")}
  sshCommand = ${trap("ssh")}
  askPass = ${trap("askpass")}
  gitProxy = ${trap("proxy")}
  alternateRefsCommand = ${trap("alternate-refs")}
[pager]
  rev-parse = ${trap("pager-rev-parse")}
  config = ${trap("pager-config")}
  for-each-ref = ${trap("pager-refs")}
[alias]
  clone = !${trap("alias-clone")}
  fetch = !${trap("alias-fetch")}
[credential]
  helper = !${trap("credential")}
[filter "evil"]
  clean = ${trap("clean")}
  smudge = ${trap("smudge")}
  process = ${trap("process")}
  required = true
[diff]
  external = ${trap("diff-external")}
[diff "evil"]
  textconv = ${trap("textconv")}
  command = ${trap("diff-command")}
[merge "evil"]
  driver = ${trap("merge-driver")}
[gpg]
  program = ${trap("gpg")}
[commit]
  gpgSign = true
[log]
  showSignature = true
[uploadpack]
  packObjectsHook = ${trap("pack-objects-hook")}
[protocol]
  allow = always
[protocol "ext"]
  allow = always
[url "${ext("instead-of")} "]
  insteadOf = /
[url "${ext("push-instead-of")} "]
  pushInsteadOf = /
[remote "origin"]
  url = ${ext("remote-url")}
  uploadpack = ${trap("uploadpack")}
  receivepack = ${trap("receivepack")}
[remote "${join(folder, "out/output/run-1/workspace/store.git")}"]
  url = ${folder}
  uploadpack = ${trap("uploadpack-of-store")}
  vcs = evil
[gc]
  auto = 1
  recentObjectsHook = ${trap("gc-hook")}
[maintenance]
  auto = true
[submodule]
  recurse = true
[submodule "sub"]
  url = ${ext("submodule-url")}
  update = !${trap("submodule-update")}
[include]
  path = ${join(folder, "included")}
`;
}

const HOOKS = ["post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction", "post-rewrite"];

describe("a repository whose own settings name programs", () => {
  it("gets none of them run, in all that is done with a workspace and its result", async () => {
    writeFiles(repo, {
      ".gitattributes": "* filter=evil diff=evil merge=evil\n",
      ".git/info/attributes": "* filter=evil diff=evil merge=evil\n",
    });
    git(repo, "add", "--all");
    git(repo, "commit", "--quiet", "-m", "attributes");
    setConfig(everySetting());
    writeFiles(folder, { included: `[core]\n  fsmonitor = ${trap("included")}\n` });
    for (const hook of HOOKS) {
      writeFiles(folder, { [`hooks/${hook}`]: `#!/bin/sh\nexec '${trap(`hook-${hook}`)}'\n` });
      writeFiles(repo, { [`.git/hooks/${hook}`]: `#!/bin/sh\nexec '${trap(`own-${hook}`)}'\n` });
      for (const place of [join(folder, "hooks"), join(repo, ".git", "hooks")])
        chmodSync(join(place, hook), 0o755);
    }
    const workspaces = openWorkspaces({ outputDir: join(folder, "out") });
    const chain = new Chain(workspaces, await workspaces.create(RUN, { repo, ref: "HEAD" }));
    await chain.addSteps();
    await workspaces.changes(chain.workspace, chain.since);
    await workspaces.discard(await workspaces.rebuild(RUN, chain.replay));
    const restored = await workspaces.restore(RUN, chain.replay);
    const { since } = chain;
    await workspaces.resultPatch(restored, { since, file: join(folder, "result.patch") });
    const branch = { since, repo, name: "result", message: "m", at: 0 };
    const commit = await workspaces.resultBranch(restored, branch);
    expect(sprung()).toEqual([]);
    // The traps are live: an ordinary git falls into some of them.
    expect(() => execFileSync("git", ["status"], { cwd: repo, stdio: "ignore" })).toThrow();
    expect(sprung()).not.toEqual([]);
    expect(commit).toMatch(/^[0-9a-f]{40}$/);
  });

  it("gets none run by `daruma apply --branch`, where addresses are rewritten to a program", async () => {
    setConfig(`[protocol "ext"]\n  allow = always\n[url "${ext("instead-of")} "]\n  insteadOf = /\n`);
    const file = join(folder, "flow.yaml");
    writeFileSync(file, `workspace: { repo: ${repo} }\nsteps: { a: { exec: "echo new > new.txt" } }\n`);
    const place = ["--output-dir", join(folder, "out")];
    expect((await runCli(["run", file, ...place])).exitCode).toBe(0);
    const applied = await runCli(["apply", "1", "--branch", "result", ...place]);
    expect(applied).toMatchObject({ exitCode: 0, stderr: "" });
    expect(git(repo, "show", "result:new.txt")).toBe("new");
    expect(sprung()).toEqual([]);
    execFileSync("sh", ["-c", "git fetch /nowhere || true"], { cwd: repo, stdio: "ignore" });
    expect(sprung()).toEqual(["instead-of"]);
  });
});

/** The repository as a partial clone that lacks the commit of HEAD, and fetches by way of a trap. */
function loseHead(remote: string): void {
  git(repo, "update-ref", "--no-deref", "HEAD", git(repo, "rev-parse", "HEAD"));
  writeFileSync(join(repo, ".git", "HEAD"), `${"ab".repeat(20)}\n`);
  setConfig(`[extensions]\n  partialClone = origin\n[core]\n  repositoryformatversion = 1
[protocol]\n  allow = always\n[protocol "ext"]\n  allow = always\n[remote "origin"]\n  promisor = true\n${remote}`);
}

describe("a partial clone that lacks objects", () => {
  it.each([
    ["an ext:: address", () => `  url = ${ext("fetched")}\n`],
    ["an upload-pack program", () => `  url = ${folder}\n  uploadpack = ${trap("fetched")}\n`],
    ["an ssh command", () => `  url = ssh://nowhere.invalid/x\n[core]\n  sshCommand = ${trap("fetched")}\n`],
  ])("is refused before the run is on record, and nothing is fetched: by %s", async (_how, remote) => {
    loseHead(remote());
    const file = join(folder, "flow.yaml");
    writeFileSync(file, `workspace: { repo: ${repo} }\nsteps: { a: { exec: "true" } }\n`);
    const place = ["--output-dir", join(folder, "out")];
    const ran = await runCli(["run", file, ...place]);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain("WORKSPACE_OBJECTS_MISSING");
    expect(sprung()).toEqual([]);
    expect(JSON.parse((await runCli(["list", "--json", ...place])).stdout)).toEqual([]);
    // The trap is live.
    execFileSync("sh", ["-c", "git rev-parse HEAD^{commit} || true"], { cwd: repo, stdio: "ignore" });
    expect(sprung()).toEqual(["fetched"]);
  });

  it("is taken where the files of the commit are there, and refused where one is not", async () => {
    writeFiles(repo, { "a.txt": "second\n", "big.bin": "x".repeat(10_000) });
    git(repo, "add", "--all");
    git(repo, "commit", "--quiet", "-m", "second");
    git(repo, "config", "uploadpack.allowFilter", "true");
    const from = `file://${repo}`;
    const checkedOut = join(folder, "checked-out");
    const bare = join(folder, "bare.git");
    git(folder, "clone", "--quiet", "--filter=blob:none", from, checkedOut);
    git(folder, "clone", "--quiet", "--bare", "--filter=blob:none", from, bare);
    const workspaces = openWorkspaces({ outputDir: join(folder, "out") });
    const chain = new Chain(workspaces, await workspaces.create(1, { repo: checkedOut, ref: "HEAD" }));
    await chain.addSteps();
    await workspaces.restore(1, chain.replay);
    const objects = (): string => git(bare, "count-objects", "-v");
    const before = objects();
    expect(await codeOf(workspaces.create(2, { repo: bare, ref: "HEAD" }))).toBe("WORKSPACE_OBJECTS_MISSING");
    expect(await codeOf(workspaces.create(3, { repo: checkedOut, ref: "HEAD^" }))).toBe(
      "WORKSPACE_OBJECTS_MISSING",
    );
    expect(objects()).toBe(before);
    expect(existsSync(join(folder, "out/output/run-2/workspace/current.json"))).toBe(false);
  });
});

describe("a damaged repository", () => {
  it("is refused where a file or a folder of the commit is gone", async () => {
    const workspaces = openWorkspaces({ outputDir: join(folder, "out") });
    for (const [run, name] of [
      [1, "HEAD:a.txt"],
      [2, "HEAD:bin"],
    ] as const) {
      const id = git(repo, "rev-parse", name);
      rmSync(join(repo, ".git", "objects", id.slice(0, 2), id.slice(2)));
      expect(await codeOf(workspaces.create(run, { repo, ref: "HEAD" }))).toBe("WORKSPACE_OBJECTS_MISSING");
    }
  });
});

describe("a repository of another user", () => {
  it("is refused, unless the user's own settings trust it", async () => {
    // git takes every repository for somebody else's.
    const program = join(folder, "git-of-another");
    writeFileSync(program, '#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec git "$@"\n');
    chmodSync(program, 0o755);
    const settings = join(folder, "settings");
    vi.stubEnv("GIT_CONFIG_GLOBAL", settings);
    vi.stubEnv("GIT_CONFIG_NOSYSTEM", "1");
    writeFileSync(settings, "");
    const workspaces = openWorkspaces({ outputDir: join(folder, "out"), git: program });
    const opened = workspaces.create(RUN, { repo, ref: "HEAD" });
    await expect(opened).rejects.toMatchObject({
      code: "WORKSPACE_REPO_NOT_FOUND",
      message: expect.stringContaining("dubious ownership"),
    });
    writeFileSync(settings, `[safe]\n  directory = ${repo}\n[user]\n  name = Of the settings\n`);
    const chain = new Chain(workspaces, await workspaces.create(RUN, { repo, ref: "HEAD" }));
    await chain.addSteps();
    const branch = { since: chain.since, repo, name: "result", message: "m", at: 0 };
    await workspaces.resultBranch(await workspaces.restore(RUN, chain.replay), branch);
    expect(git((await workspaces.current(RUN))!.path, "config", "user.name")).toBe("Of the settings");
  });
});
