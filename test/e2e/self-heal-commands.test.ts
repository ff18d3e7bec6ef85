import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot, runCli } from "../support/cli.js";
import { CliFolder, type Report } from "../support/cli-folder.js";
import { git, makeRepository } from "../support/git-repository.js";

const cli = new CliFolder();

/** `edit` goes on failing the same way until the file `flag` is there. */
function editing(repo: string, flag: string): string {
  return `
name: edited
workspace: { repo: ${repo}, ref: HEAD }
self_heal: { step_max_attempts: 3, step_no_progress_limit: 2, job_self_heal_max_resets: 1 }
steps:
  plan: { type: command, exec: "echo two > b.txt" }
  edit: { type: command, exec: "echo three > c.txt; test -f ${flag} || { echo stuck >&2; exit 1; }", depends_on: [plan] }
`;
}

describe("the playbook of docs/self-heal.md", () => {
  it("names commands that are there, from the first look to the last resort", { tags: ["M43"] }, async () => {
    const document = readFileSync(join(repositoryRoot, "docs/self-heal.md"), "utf8");
    const playbook = document.slice(document.indexOf("## Playbook"));
    const named = new Set([...playbook.matchAll(/`daruma ([a-z-]+)/g)].map((match) => match[1]));
    const { stdout } = await cli.daruma("help", "all");
    const commands = new Set([...stdout.matchAll(/^ {2}([a-z-]+) /gm)].map((match) => match[1]));
    for (const command of [
      "show",
      "explain",
      "events",
      "takeover",
      "hard-reset",
      "resume-from",
      "redrive",
      "cancel",
    ])
      expect(named).toContain(command);
    expect([...named].filter((command) => !commands.has(command))).toEqual([]);
  });
});

describe("a step that does not get on", () => {
  it("is told by run, show and explain; a hard reset by hand and apply bring the result home", {
    tags: ["M43"],
  }, async () => {
    const repo = makeRepository(join(cli.path, "repo"), { "a.txt": "one\n" });
    const flag = join(cli.path, "go");
    const ran = await cli.daruma("run", cli.write("edit.yaml", editing(repo, flag)));
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toMatch(
      /edit attempt 2 failed: .*no progress: the same failure 2 times.*hard reset 1 of 1: run it again in a fresh workspace/,
    );
    const explained = (await cli.daruma("explain", "last")).stdout;
    expect(explained).toMatch(
      /A fresh workspace was built beside the old one, from the pinned commit and checkpoint 1\./,
    );
    expect(explained).toMatch(/^ {4}daruma workspace 1 /m);
    expect(explained).toMatch(/^ {4}daruma hard-reset 1 edit (?!.*daruma resume)/m);

    // The path alone, for `cd`.
    const { stdout: path } = await cli.daruma("workspace", "1");
    expect(path).toMatch(/^\/.*\n$/);
    expect(readFileSync(join(path.trim(), "b.txt"), "utf8")).toBe("two\n");

    cli.write("go", "");
    const reset = await cli.daruma("hard-reset", "1", "edit", "--reason", "it went in circles");
    expect(reset.stdout).toMatch(
      /^edit runs again in a fresh workspace\n {2}edit: failed -> recovering\n✓ run 1 of \S+ completed /,
    );
    expect((await cli.daruma("show", "1")).stdout).toMatch(
      /last asked for by hand: hard_reset_step of edit, /,
    );

    const patch = await cli.daruma("apply", "1");
    expect(patch.stderr).toBe("");
    const file = join(cli.path, "result.patch");
    expect((await cli.daruma("apply", "1", "--patch", file)).stdout).toBe(
      `the result of run 1 is in ${file}: 2 changed files, apply it with git apply\n`,
    );
    expect(readFileSync(file, "utf8")).toBe(patch.stdout);
    execFileSync("git", ["apply", file], { cwd: repo });
    expect(readFileSync(join(repo, "c.txt"), "utf8")).toBe("three\n");

    const branched = await cli.daruma("apply", "1", "--branch", "result", "--message", "Edit it");
    expect(branched.stdout).toMatch(
      /^the result of run 1 is the branch result of .*repo, at [0-9a-f]{40}\n$/,
    );
    expect(git(repo, "show", "--format=%s", "--name-only", "result")).toBe("Edit it\n\nb.txt\nc.txt");
    const again = await cli.daruma("apply", "1", "--branch", "result");
    expect(again.exitCode).not.toBe(0);
    expect(again.stderr).toMatch(/^error WORKSPACE_BRANCH_EXISTS: /);
    const both = await cli.daruma("apply", "1", "--branch", "x", "--patch", file);
    expect(both.stderr).toMatch(/^error USAGE: --branch and --patch/);
  });

  it("goes back with the run to an earlier step", { tags: ["M43"] }, async () => {
    const repo = makeRepository(join(cli.path, "back"), { "a.txt": "one\n" });
    const { report } = await cli.runJson(editing(repo, repo));
    const id = String(report.run_id);
    const back = await cli.daruma("resume-from", id, "plan", "--reason", "another plan");
    expect(back.stdout).toMatch(/^plan and everything that depends on it run again\n/);
    const { value } = await cli.json<Report>("show", id);
    expect(value.jobs.map(({ step, visits }) => [step, visits])).toEqual([
      ["plan", 2],
      ["edit", 2],
    ]);
  });
});

describe("dead letters", () => {
  it("are listed with what to type, and redriven", { tags: ["M43"] }, async () => {
    const flag = join(cli.path, "network");
    const { report } = await cli.runJson(`
name: queued
queue: { max_attempts: 2, classes: [application], backoff: { mode: none } }
steps:
  call: { type: command, exec: "test -f ${flag} || { echo no answer >&2; exit 7; }" }
`);
    const job = report.jobs[0]!.id;
    const listed = (await cli.daruma("inbox", "--kind", "dead_letter")).stdout;
    expect(listed).toMatch(/^dead letter .* queued\/call .* EXIT_7: no answer$/m);
    expect(listed).toContain(`daruma redrive ${report.run_id} call --reason "..."`);
    const shown = (await cli.daruma("show", String(report.run_id))).stdout;
    expect(shown).toContain("failed (dead letter)");
    expect(shown).toContain("call is a dead letter (the queue has given it up)");
    expect((await cli.daruma("explain", String(report.run_id))).stdout).toMatch(
      new RegExp(`put it back into the queue:\n {4}daruma redrive ${job} .* && daruma resume `),
    );

    cli.write("network", "");
    const redriven = await cli.daruma("redrive", String(job), "--reason", "it is back");
    expect(redriven.stdout).toMatch(/^call of run \d+ goes back into the queue with fresh budgets\n/);
    expect((await cli.resume(report.run_id)).report.status).toBe("completed");
    expect((await cli.daruma("inbox", "--kind", "dead_letter")).stdout).toBe("nothing needs a person\n");
    expect((await cli.daruma("redrive", String(job))).stderr).toMatch(/^error NOT_DEAD_LETTER: /);
  });
});

describe("logs --prompt", () => {
  it("shows what an agent was told, attempt by attempt", async () => {
    const { report } = await cli.runJson(`
name: told
steps:
  mend: { type: agent, exec: "cat > /dev/null; test $DARUMA_ATTEMPT_ID = 2 || { echo broke >&2; exit 1; }", prompt: "Mend the page.", on_fail: { retry: { max: 1 } } }
`);
    const id = String(report.run_id);
    const first = await cli.daruma("logs", id, "mend", "--prompt", "--attempt", "1");
    const second = await cli.daruma("logs", id, "mend", "--prompt");
    expect(first.stdout).toContain("Mend the page.");
    expect(first.stdout).not.toContain("broke");
    expect(second.stdout).toContain("broke");
    const both = await cli.daruma("logs", id, "mend", "--prompt", "--summary");
    expect(both.stderr).toMatch(/^error USAGE: --prompt and --summary cannot be combined/);
  });
});

describe("a repository with a submodule and files of git LFS", () => {
  it("has the submodule's files changed, reset and brought home; what is missing is said at the start", async () => {
    const lib = makeRepository(join(cli.path, "lib"), { "s.txt": "lib\n" });
    const repo = makeRepository(join(cli.path, "with-lib"), {
      ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
      "big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n",
    });
    const anyProtocol = ["-c", "protocol.file.allow=always"];
    for (const path of ["lib", "other"])
      git(repo, ...anyProtocol, "submodule", "add", "--quiet", "--", lib, path);
    git(repo, "commit", "--quiet", "-m", "submodules");
    git(repo, "submodule", "deinit", "--quiet", "--force", "other");
    rmSync(join(repo, ".git/modules/other"), { recursive: true });
    const file = cli.write(
      "lib.yaml",
      `
workspace: { repo: ${repo} }
self_heal: { step_max_attempts: 3, step_no_progress_limit: 2, job_self_heal_max_resets: 1 }
steps:
  init: { exec: "git submodule update --init lib && echo changed >> lib/s.txt && echo put > other/put.txt" }
  commit: { exec: "cd lib && git add . && git commit -qm inside", depends_on: [init] }
  check:
    depends_on: [commit]
    exec: 'cat lib/s.txt other/put.txt > seen.txt; [ -e junk ] && { touch ${join(cli.path, "again")}; exit 1; }; [ -e ${join(cli.path, "again")} ] || { touch junk; exit 1; }'
`,
    );
    const out = join(cli.path, "lib-out");
    const ran = await runCli(["run", file, "--output-dir", out]);
    expect(ran.stderr).toContain(
      "warning: this submodule is not checked out in the repository and empty in the workspace: other; warning: files that git LFS keeps elsewhere are pointers in the workspace",
    );
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain("building a fresh workspace from 2 checkpoints");
    const told = JSON.parse((await runCli(["workspace", "1", "--json", "--output-dir", out])).stdout);
    expect(told.notes.map(({ kind }: { kind: string }) => kind)).toEqual([
      "empty_submodules",
      "lfs_pointers",
    ]);
    expect(told.checkpoints.map((made: { changed_files: string[] }) => made.changed_files)).toEqual([
      ["lib/s.txt", "other/put.txt"],
      [],
      ["seen.txt"],
    ]);
    expect(readFileSync(join(told.path, "seen.txt"), "utf8")).toBe("lib\nchanged\nput\n");
    const refused = await runCli(["apply", "1", "--branch", "result", "--output-dir", out]);
    expect(refused.stderr).toContain("WORKSPACE_SUBMODULE_CHANGED");
    const patch = join(cli.path, "lib.patch");
    await runCli(["apply", "1", "--patch", patch, "--output-dir", out]);
    execFileSync("git", ["apply", patch], { cwd: repo });
    expect(readFileSync(join(repo, "lib", "s.txt"), "utf8")).toBe("lib\nchanged\n");
  });
});
