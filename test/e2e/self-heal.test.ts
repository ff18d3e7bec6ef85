import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
  it("leaves a run that resumes, builds the workspace again and recovers", async () => {
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

describe("kill -9 while a step works in the workspace", () => {
  it("leaves a run that goes on in the same workspace, with what was there", async () => {
    const mark = join(folder, "marks", "begun");
    const steps = {
      plan: { exec: "echo planned > plan.txt" },
      edit: {
        exec: `[ -e ${mark} ] && exec cat plan.txt half.txt; echo half > half.txt; touch ${mark}; sleep 60`,
        depends_on: ["plan"],
      },
    };
    writeFileSync(flow, JSON.stringify({ name: "heal", workspace: { repo }, steps }));
    const killed = new DarumaProcess("run", ["run", flow, "--quiet", "--output-dir", join(folder, "out")]);
    killed.start();
    await eventually("the step at work", 30_000, () => existsSync(mark));
    await killed.kill();
    const resumed = await daruma("resume", "1", "--json");
    expect(resumed.exitCode).toBe(0);
    const { jobs } = JSON.parse(resumed.stdout) as { jobs: { step: string; output: unknown }[] };
    expect(jobs.find(({ step }) => step === "edit")?.output).toBe("planned\nhalf");
  });
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
