import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { DarumaProcess, eventually } from "../support/daruma-process.js";
import { listTree, makeRepository, photograph } from "../support/git-repository.js";
import type { LoggedLine } from "../support/recorded-run.js";
import { SlowGit } from "../support/slow-git.js";

let folder = "";
let repo = "";
let flow = "";
let before: ReturnType<typeof photograph>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-heal-"));
  repo = makeRepository(join(folder, "repo"), { "a.txt": "a\n", "gone.txt": "deleted by a step\n" });
  before = photograph(repo);
  flow = join(folder, "heal.yaml");
  mkdirSync(join(folder, "marks"));
});
afterEach(() => {
  expect(photograph(repo)).toEqual(before);
  rmSync(folder, { recursive: true, force: true });
});

const daruma = (...args: string[]) => runCli([...args, "--output-dir", join(folder, "out")]);

async function readLog(): Promise<LoggedLine[]> {
  const { stdout } = await daruma("events", "1", "--json");
  return stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LoggedLine);
}

/** Stuck twice in the same way, well again in a fresh workspace. */
function writeStuckFlow(): void {
  const marks = join(folder, "marks");
  const edit = `echo x >> ${marks}/n; n=$(wc -l < ${marks}/n); [ "$n" = 1 ] && cp -R . ${marks}/photo
if [ "$n" -lt 3 ]; then rm -f plan.txt; echo junk > junk.txt; echo same >&2; exit 1; fi; echo done > edit.txt`;
  writeFileSync(
    flow,
    JSON.stringify({
      name: "heal",
      workspace: { repo },
      self_heal: true,
      steps: {
        plan: { exec: "echo planned > plan.txt; rm gone.txt; head -c 3000 /dev/urandom > data.bin" },
        edit: { exec: edit, depends_on: ["plan"] },
        after: { exec: "cat plan.txt edit.txt", depends_on: ["edit"] },
      },
    }),
  );
}

describe("kill -9 of the command line in the middle of a hard reset", () => {
  it("leaves a run that resumes, builds the workspace again and recovers", {
    tags: ["M15", "M39"],
  }, async () => {
    writeStuckFlow();
    const slow = new SlowGit(join(folder, "slow"));
    const args = ["run", flow, "--quiet", "--output-dir", join(folder, "out")];
    const killed = new DarumaProcess("run", args, { PATH: slow.path });
    killed.start();
    await slow.reached();
    await killed.kill();
    slow.kill();
    const trees = join(folder, "out/output/run-1/workspace/trees");
    expect(existsSync(join(trees, "1", "junk.txt"))).toBe(true);
    expect(existsSync(join(trees, "2.partial"))).toBe(true);

    const resumed = await daruma("resume", "1", "--json");
    expect(resumed.exitCode).toBe(0);
    const tries = (await readLog()).filter(({ type }) => type === "rebuild.started");
    expect(tries.map((event) => event.try)).toEqual([1, 2]);
    const { jobs } = JSON.parse(resumed.stdout) as { jobs: { step: string; output: unknown }[] };
    expect(jobs.find(({ step }) => step === "after")?.output).toBe("planned\ndone");
    const others = listTree(join(trees, "2")).filter((line) => !line.startsWith("edit.txt "));
    expect(others).toEqual(listTree(join(folder, "marks", "photo")));
    expect(existsSync(join(trees, "1"))).toBe(false);
    expect(existsSync(join(trees, "2.partial"))).toBe(false);
  });
});

describe("kill -9 of the command line while what a failed step left is set aside", () => {
  it("leaves a run that resumes, ends the work and starts the next step in a clean tree", async () => {
    const bad =
      "echo junk > junk.txt; echo more >> a.txt; mkdir -p deep/er; echo x > deep/er/x; rm gone.txt; exit 1";
    const good = "find . -name .git -prune -o -type f -print | sort; cat a.txt; echo good > good.txt";
    const steps = { bad: { exec: bad }, good: { exec: good } };
    writeFileSync(flow, JSON.stringify({ name: "heal", workspace: { repo }, steps }));
    const slow = new SlowGit(join(folder, "slow"), "clean -ffdq");
    const killed = new DarumaProcess("run", ["run", flow, "--quiet", "--output-dir", join(folder, "out")], {
      PATH: slow.path,
    });
    killed.start();
    await slow.reached();
    await killed.kill();
    slow.kill();
    const tree = join(folder, "out/output/run-1/workspace/trees/1");
    // It was not over, and somebody has put a file of the mess back meanwhile.
    writeFileSync(join(tree, "junk.txt"), "junk\n");
    const patch = join(folder, "out/output/run-1/patches/partial/j10000001_a1.patch");
    const first = readFileSync(patch);

    const resumed = await daruma("resume", "1", "--json");
    expect(resumed.exitCode).toBe(1);
    const log = await readLog();
    expect(log.filter(({ type }) => type === "set_aside.started").map((event) => event.try)).toEqual([1, 2]);
    expect(log.find(({ type }) => type === "set_aside.finished")).toMatchObject({ ok: true, files: 4 });
    const { jobs } = JSON.parse(resumed.stdout) as { jobs: { step: string; output: unknown }[] };
    expect(jobs.find(({ step }) => step === "good")?.output).toBe("./a.txt\n./gone.txt\na");
    expect(readFileSync(patch)).toEqual(first);
    expect(statSync(patch).mode & 0o777).toBe(0o600);
    const told = await daruma("explain", "1");
    expect(told.stdout).toContain(
      "The changes of attempt 1 (4 files) were set aside before good started: patches/partial/j10000001_a1.patch.",
    );
    const { partials, checkpoints } = JSON.parse((await daruma("workspace", "1", "--json")).stdout);
    expect(partials).toMatchObject([{ job_id: 10_000_001, step: "bad", attempt: 1, files: 4 }]);
    expect(checkpoints).toMatchObject([{ step: "good", changed_files: ["good.txt"] }]);
    const applied = await daruma("apply", "1");
    expect(applied.stdout).toContain("good.txt");
    expect(applied.stdout).not.toMatch(/junk|deep/);
  });
});

describe("a command line that ends while a step works in the workspace", () => {
  it.each([
    ["SIGKILL", "set_aside", "from the last checkpoint, with no line twice", "planned\nline"],
    ["SIGINT", "set_aside", "from the last checkpoint, too", "planned\nline"],
    ["SIGKILL", "keep", "in what was there", "planned\nline\nline"],
  ] as const)(
    "by %s leaves a run that with on_lost: %s starts again %s",
    async (signal, onLost, _, output) => {
      const mark = join(folder, "marks", "begun");
      const edit = `echo line >> plan.txt; [ -e ${mark} ] && exec cat plan.txt; git add plan.txt; touch .git/index.lock ${mark}; sleep 60`;
      const steps = {
        plan: { exec: "echo planned > plan.txt" },
        edit: { exec: edit, depends_on: ["plan"] },
      };
      writeFileSync(flow, JSON.stringify({ name: "heal", workspace: { repo, on_lost: onLost }, steps }));
      const killed = new DarumaProcess("run", ["run", flow, "--quiet", "--output-dir", join(folder, "out")]);
      killed.start();
      await eventually("the step at work", () => existsSync(mark));
      killed.signal(signal);
      await killed.ended();
      const resumed = await daruma("resume", "1", "--json");
      expect(resumed.exitCode).toBe(0);
      const { jobs } = JSON.parse(resumed.stdout) as { jobs: { step: string; output: unknown }[] };
      expect(jobs.find(({ step }) => step === "edit")?.output).toBe(output);
      const partial = join(folder, "out/output/run-1/patches/partial/j10000002_a1.patch");
      expect(existsSync(partial)).toBe(onLost === "set_aside");
      const made = (await readLog()).filter(({ type }) => type === "attempt.succeeded");
      const files = made.map((event) => (event.checkpoint as { changed_files: string[] }).changed_files);
      expect(files).toEqual([["plan.txt"], ["plan.txt"]]);
    },
  );
});

describe("a workspace that cannot be made", () => {
  it.each([
    [{ repo: "./nowhere" }, "WORKSPACE_REPO_NOT_FOUND"],
    [{ repo: "./repo", ref: "no-such-branch" }, "WORKSPACE_REF_NOT_FOUND"],
  ])("is refused with exit code 2 before the run is recorded: %j", async (workspace, code) => {
    writeFileSync(flow, JSON.stringify({ name: "heal", workspace, steps: { a: { exec: "true" } } }));
    const { exitCode, stderr } = await daruma("run", flow);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(code);
    expect((await daruma("list", "--json")).stdout.trim()).toBe("[]");
  });

  it("is found relative to the workflow file, whatever the working folder", async () => {
    const workspace = { repo: "./repo", ref: "main" };
    writeFileSync(flow, JSON.stringify({ name: "heal", workspace, steps: { a: { exec: "cat a.txt" } } }));
    const { exitCode, stdout } = await daruma("run", flow, "--json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).jobs[0].output).toBe("a");
    expect(readFileSync(join(folder, "out/output/run-1/patches/steps/step-0001.patch"), "utf8")).toBe("");
  });
});
