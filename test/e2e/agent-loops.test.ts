import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { makeRepository, photograph } from "../support/git-repository.js";

let folder = "";
let repo = "";
let before: ReturnType<typeof photograph>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-loop-"));
  mkdirSync(join(folder, "marks"));
  repo = makeRepository(join(folder, "repo"), { "base.txt": "base\n" });
  before = photograph(repo);
});
afterEach(() => {
  expect(photograph(repo)).toEqual(before);
  rmSync(folder, { recursive: true, force: true });
});

const daruma = (...args: string[]) => runCli([...args, "--output-dir", join(folder, "out")]);
/** What steps have noted, one line each. */
const marks = (name: string): string[] =>
  existsSync(join(folder, "marks", name))
    ? readFileSync(join(folder, "marks", name), "utf8")
        .trimEnd()
        .split("\n")
    : [];

/** Adds a line to app.txt and notes how many it found. */
const work = (name: string, more = ""): string =>
  `cat > /dev/null; echo $(cat app.txt 2>/dev/null | wc -l) >> ${folder}/marks/${name}; echo work >> app.txt; ${more}`;
const agent = (name: string, more = "", prompt = "Make the review pass.") => ({
  type: "agent",
  exec: ["sh", "-c", work(name, more)],
  prompt,
});
/** Wants four lines, says how many there are, and leaves a file of its own. */
const REVIEW = () =>
  `n=$(cat app.txt | wc -l); echo "$n" >> ${folder}/marks/review; echo x > left-by-review.txt; test "$n" -ge 4 || { echo "needs four lines, has $n" >&2; exit 1; }`;

interface Report {
  readonly status: string;
  readonly jobs: readonly { readonly step: string; readonly attempts: number; readonly visits: number }[];
}

async function run(definition: object): Promise<Report> {
  const file = join(folder, "flow.json");
  writeFileSync(file, JSON.stringify({ name: "loop", workspace: { repo }, ...definition }));
  const { stdout, stderr } = await daruma("run", file, "--json");
  if (!stdout.startsWith("{")) throw new Error(stderr);
  return JSON.parse(stdout) as Report;
}

const attemptsOf = ({ jobs }: Report) =>
  Object.fromEntries(jobs.map(({ step, attempts }) => [step, attempts]));
const GOTO = { goto: { step: "fix", max: 3 } };

describe("fix, review, fix again, in a git workspace", () => {
  const FORMS: { readonly [form: string]: () => object } = {
    "a goto": () => ({
      steps: { fix: agent("fix"), review: { exec: REVIEW(), depends_on: ["fix"], on_fail: GOTO } },
    }),
    "a goto beside self_heal": () => ({
      self_heal: true,
      steps: { fix: agent("fix"), review: { exec: REVIEW(), depends_on: ["fix"], on_fail: GOTO } },
    }),
    "a goto whose prompt reads the failure": () => ({
      steps: {
        fix: agent("fix", "", "Work.{% if state._last_error %} {{ state._last_error.message }}{% endif %}"),
        review: { exec: REVIEW(), depends_on: ["fix"], on_fail: GOTO },
      },
    }),
    "a run list": () => ({
      steps: {
        fix: agent("fix"),
        review: {
          exec: REVIEW(),
          depends_on: ["fix"],
          on_fail: { run: { steps: ["mend"], max: 3 } },
        },
        mend: agent("fix"),
      },
    }),
    "a transition back": () => ({
      transitions: [{ from: "review", to: "fix", on: "failure" }],
      steps: { fix: { ...agent("fix"), start: "auto" }, review: { exec: REVIEW(), depends_on: ["fix"] } },
    }),
    "a transition to another agent and back": () => ({
      transitions: [
        { from: "review", to: "mend", on: "failure" },
        { from: "mend", to: "review", on: "success" },
      ],
      steps: {
        fix: agent("fix"),
        review: { exec: REVIEW(), depends_on: ["fix"] },
        mend: agent("fix"),
      },
    }),
  };

  it.each(Object.keys(FORMS))(
    "%s converges: four reviews for four fixes, each on the one before",
    async (form) => {
      const report = await run(FORMS[form]!());
      expect(report.status).toBe("completed");
      expect(marks("fix")).toEqual(["0", "1", "2", "3"]);
      expect(marks("review")).toEqual(["1", "2", "3", "4"]);
      const { review, ...agents } = attemptsOf(report);
      expect(review).toBe(4);
      expect(Object.values(agents).reduce((sum, attempts) => sum + attempts, 0)).toBe(4);
    },
  );

  it("the review in the agent's own command converges by retries", async () => {
    const report = await run({
      self_heal: { step_max_attempts: 5, step_no_progress_limit: 5 },
      steps: { fix: agent("fix", REVIEW()) },
    });
    expect(report.status).toBe("completed");
    expect(marks("review")).toEqual(["1", "2", "3", "4"]);
  });

  it("with a build between them, whose files of the failed round are there and made again", async () => {
    const built = `cat app.txt > built.txt; wc -l < built.txt >> ${folder}/marks/build`;
    const report = await run({
      steps: {
        fix: agent("fix"),
        build: { exec: built, depends_on: ["fix"] },
        review: { exec: REVIEW(), depends_on: ["build"], on_fail: GOTO },
      },
    });
    expect(attemptsOf(report)).toEqual({ fix: 4, build: 4, review: 4 });
    expect(marks("build").map(Number)).toEqual([1, 2, 3, 4]);
    expect(report.status).toBe("completed");
  });

  it("with a second agent in the same workspace, whose work stays and who never comes between", async () => {
    const other = `cat > /dev/null; ls | tr '\n' ' ' >> ${folder}/marks/other; echo >> ${folder}/marks/other; echo o > other.txt`;
    const report = await run({
      steps: {
        fix: agent("fix"),
        other: { type: "agent", exec: ["sh", "-c", other], prompt: "Something else.", depends_on: ["fix"] },
        docs: {
          type: "agent",
          exec: ["sh", "-c", `cat > /dev/null; test ! -e left-by-review.txt`],
          prompt: "Docs.",
        },
        review: { exec: REVIEW(), depends_on: ["fix"], on_fail: GOTO },
      },
    });
    expect(report.status).toBe("completed");
    expect(marks("fix")).toEqual(["0", "1", "2", "3"]);
    expect(attemptsOf(report).docs).toBe(1);
  });
});

describe("what was kept", () => {
  /** Two rounds, then a step that gets stuck twice and is well in a fresh workspace. */
  it("is replayed by a hard reset, and resume-from takes all of it back into a patch", async () => {
    const stuck = `echo x >> ${folder}/marks/stuck; n=$(wc -l < ${folder}/marks/stuck); wc -l < app.txt >> ${folder}/marks/found; [ "$n" -gt 2 ] || { echo same >&2; exit 1; }`;
    const patch = `[ -z "$DARUMA_PREVIOUS_PATCH" ] || cp "$DARUMA_PREVIOUS_PATCH" ${folder}/marks/patch`;
    const report = await run({
      self_heal: { step_max_attempts: 4, step_no_progress_limit: 2, job_self_heal_max_resets: 1 },
      steps: {
        fix: agent("fix", patch),
        review: { exec: REVIEW(), depends_on: ["fix"], on_fail: { ...GOTO, retry: { max: 0 } } },
        last: { exec: stuck, depends_on: ["review"] },
      },
    });
    expect(report.status).toBe("completed");
    expect(marks("found").map(Number)).toEqual([4, 4, 4]);
    expect(existsSync(join(folder, "marks/patch"))).toBe(false);
    rmSync(join(folder, "marks/fix"));
    rmSync(join(folder, "marks/review"));
    await daruma("resume-from", "1", "fix", "--force");
    await daruma("resume", "1");
    expect(marks("fix")).toEqual(["0", "1", "2", "3"]);
    expect(marks("review")).toEqual(["1", "2", "3", "4"]);
    const kept = readFileSync(join(folder, "marks/patch"), "utf8");
    expect(kept.match(/^\+work$/gm)).toHaveLength(4);
    expect(kept).toContain("left-by-review.txt");
  });

  it("stays where a person goes back with --files keep and a hint, once the loop has ended in vain", async () => {
    const more = `printf '%s|' "$DARUMA_HINT" >> ${folder}/marks/hints`;
    const report = await run({
      steps: {
        fix: agent("fix", more),
        review: { exec: REVIEW(), depends_on: ["fix"], on_fail: { goto: { step: "fix", max: 1 } } },
      },
    });
    expect(report.status).toBe("failed");
    const again = ["resume-from", "1", "fix", "--files", "keep", "--hint", "more lines"];
    expect((await daruma(...again)).stdout).toContain("fix: completed");
    expect(marks("fix")).toEqual(["0", "1", "2", "3"]);
    expect(marks("hints")).toEqual(["||more lines||"]);
    expect(marks("review")).toEqual(["1", "2", "3", "4"]);
    const { stdout } = await daruma("logs", "1", "fix", "--prompt", "--attempt", "3");
    expect(stdout).toContain("Your earlier changes are in the working folder (1 file: app.txt).");
    expect(stdout).toContain("What attempt 2 of `review` left is not there;");
  });

  it("is sent back from a held review by the command that the end, the inbox and explain name", async () => {
    const more = `printf '%s|' "$DARUMA_HINT" >> ${folder}/marks/hints`;
    const report = await run({
      unhandled: "hold",
      steps: {
        setup: { exec: "echo x > conf.txt" },
        fix: { ...agent("fix", more), depends_on: ["setup"] },
        review: { exec: REVIEW(), depends_on: ["fix"], on_fail: { goto: { step: "fix", max: 1 } } },
        ship: { exec: "true", depends_on: ["review"] },
      },
    });
    expect(report.status).toBe("held");
    const command = "daruma resume-from 1 fix --files keep";
    expect((await daruma("show", "1")).stdout).toMatch(
      new RegExp(`to send the work back: +${command} --hint "\\.\\.\\."`),
    );
    expect((await daruma("inbox")).stdout).toContain(`send back:  ${command} --hint "..."`);
    for (const decide of [
      ["resolve", "1", "review", "--retry"],
      ["retry", "1", "review"],
    ]) {
      const hinted = await daruma(...decide, "--hint", "more lines", "--dry-run");
      expect(hinted.stderr).toContain(
        `note: the hint is for review alone; for the step whose work that examines: ${command} --hint "..."`,
      );
      expect((await daruma(...decide, "--dry-run")).stderr).not.toContain("the hint is for");
    }
    const { advice } = JSON.parse((await daruma("explain", "1", "--json")).stdout) as {
      advice: { kind: string; argv: string[][]; calls: object[] }[];
    };
    expect(advice.filter(({ kind }) => kind === "resume_from")).toMatchObject([
      {
        argv: [["resume-from", "1", "fix", "--files", "keep"]],
        calls: [
          {
            operation: "control_run",
            input: { run_id: 1, action: "resume_from_step", step_id: "fix", files: "keep" },
          },
          {},
        ],
      },
    ]);
    expect((await daruma("resume-from", "1", "fix", "--dry-run")).stdout).toMatch(
      /^dry run; nothing changed. It would do this:\n {2}begins again:\n {4}fix \(completed\)\n {4}review \(held\)\n {4}ship \(blocked\)\n {2}taken out of the workspace, kept as a patch: fix \(app.txt\)\n {2}set aside as a patch: what attempt 2 of review left\n {2}stays in the workspace: setup \(conf.txt\)\n {2}run 1: held -> running\n/,
    );
    const explained = (await daruma("explain", "1")).stdout;
    expect(explained).toContain(
      "It changed app.txt (+1 -0 lines): daruma artifact 1 patches/steps/step-0002.patch",
    );
    expect(explained).toContain(
      "It left changes in left-by-review.txt (+1 -0 lines): daruma artifact 1 patches/attempts/j10000003_a2.patch",
    );
    const again = await daruma("resume-from", "1", "fix", "--files", "keep", "--hint", "more lines");
    expect(again.stdout).toContain("run 1 of loop completed");
    expect(marks("fix")).toEqual(["0", "1", "2", "3"]);
    expect(marks("hints")).toEqual(["||more lines||"]);
  });

  it("is not to be said of a run without a workspace", async () => {
    await run({ workspace: undefined, steps: { build: { exec: "true" } } });
    const refused = await daruma("resume-from", "1", "build", "--files", "keep");
    expect(refused.stderr).toContain("error NO_WORKSPACE: run 1 has no workspace: it has no files to keep");
    expect(refused.exitCode).toBe(2);
    expect((await daruma("retry", "1", "build", "--files", "keep")).stderr).toContain("unknown option");
  });

  it("is taken back where the file says so, and the agent finds it as a patch; validate warns", async () => {
    const patch = `[ -z "$DARUMA_PREVIOUS_PATCH" ] || cat "$DARUMA_PREVIOUS_PATCH" >> ${folder}/marks/patches`;
    const report = await run({
      steps: {
        fix: agent("fix", patch),
        review: {
          exec: REVIEW(),
          depends_on: ["fix"],
          on_fail: { goto: { step: "fix", max: 2, files: "restore" } },
        },
      },
    });
    expect(report.status).toBe("failed");
    expect(marks("fix")).toEqual(["0", "0", "0"]);
    expect(marks("patches").filter((line) => line === "+work")).toHaveLength(2);
    const { stdout, stderr } = await daruma("validate", join(folder, "flow.json"));
    expect(stdout + stderr).toContain("RESTORES_AGENT");
  });
});
