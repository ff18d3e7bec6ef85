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
  folder = mkdtempSync(join(tmpdir(), "daruma-patches-"));
  mkdirSync(join(folder, "marks"));
  repo = makeRepository(join(folder, "repo"), { "base.txt": "base\n" });
  writeFileSync(join(repo, "tool.sh"), "#!/bin/sh\necho tool\n", { mode: 0o755 });
  before = photograph(repo);
});
afterEach(() => {
  expect(photograph(repo)).toEqual(before);
  rmSync(folder, { recursive: true, force: true });
});

const daruma = (...args: string[]) => runCli([...args, "--output-dir", join(folder, "out")]);
const ofRun = (path: string) => join(folder, "out/output/run-1", path);

interface Report {
  readonly status: string;
  readonly jobs: readonly {
    readonly step: string;
    readonly attempts: number;
    readonly error: { readonly message: string } | null;
  }[];
}

async function run(definition: object): Promise<Report> {
  const file = join(folder, "flow.json");
  writeFileSync(file, JSON.stringify({ name: "patches", workspace: { repo }, ...definition }));
  const { stdout, stderr } = await daruma("run", file, "--json");
  if (!stdout.startsWith("{")) throw new Error(stderr);
  return JSON.parse(stdout) as Report;
}

/** Leaves junk and fails alike until its third attempt; that one notes which patch it is told of. */
const stuck = (more = ""): string =>
  `echo x >> ${folder}/marks/n; n=$(wc -l < ${folder}/marks/n); ${more}
if [ "$n" -lt 3 ]; then echo junk > junk.txt; echo same >&2; exit 1; fi
test ! -e junk.txt; cp "$DARUMA_PREVIOUS_PATCH" ${folder}/marks/previous; echo done > edit.txt`;

describe("the patch of a failed attempt", () => {
  it("is kept of each, and the attempt in a fresh workspace finds the last one", async () => {
    const report = await run({ self_heal: true, steps: { edit: { exec: stuck() } } });
    expect(report).toMatchObject({ status: "completed", jobs: [{ attempts: 3 }] });
    for (const attempt of [1, 2])
      expect(readFileSync(ofRun(`patches/attempts/j10000001_a${attempt}.patch`), "utf8")).toContain("+junk");
    expect(readFileSync(join(folder, "marks/previous"), "utf8")).toContain("+junk");
    expect(existsSync(ofRun("patches/attempts/j10000001_a3.patch"))).toBe(false);
    const { stdout } = await daruma("artifacts", "1");
    expect(stdout).toContain("patches/attempts/j10000001_a2.patch");
  });

  it("tells an agent that its folder is fresh, and where its changes are", async () => {
    const exec = ["sh", "-c", `cat > ${folder}/marks/prompt; ${stuck()}`];
    const report = await run({ self_heal: true, steps: { edit: { type: "agent", exec, prompt: "Edit." } } });
    expect(report.status).toBe("completed");
    expect(readFileSync(join(folder, "marks/prompt"), "utf8")).toContain(
      "This is a fresh working folder. The changes of attempts 1 and 2 (junk.txt) are not in it; they are in $DARUMA_PREVIOUS_PATCH.",
    );
  });

  it("is kept where `fail_if` has failed the attempt", async () => {
    const exec = `echo '{"ok": false}' > "$DARUMA_OUTPUT"; echo junk > junk.txt`;
    const report = await run({ steps: { edit: { exec, fail_if: "output.ok === false" } } });
    expect(report.status).toBe("failed");
    expect(readFileSync(ofRun("patches/attempts/j10000001_a1.patch"), "utf8")).toContain("+junk");
  });

  it("is not kept where it is larger than max_log, and explain says so", async () => {
    const exec = "head -c 20000 /dev/urandom > data.bin; exit 1";
    const report = await run({ max_log: "4kb", steps: { edit: { exec } } });
    expect(report.status).toBe("failed");
    expect(existsSync(ofRun("patches/attempts/j10000001_a1.patch"))).toBe(false);
    const { stdout } = await daruma("explain", "1", "edit", "--full");
    expect(stdout).toContain(
      "What it left in the workspace is larger than max_log: no patch of it was kept.",
    );
  });
});

describe("what a person changes in the workspace", () => {
  /** The path of the tree that the run has now. */
  const tree = async (): Promise<string> =>
    (JSON.parse((await daruma("workspace", "1", "--json")).stdout) as { path: string }).path;
  const edit = { exec: "echo x >> edit.txt; test -e allowed.txt" };

  it("after a failed attempt is kept as a patch when a hard reset replaces the workspace", async () => {
    await run({
      steps: { plan: { exec: "echo planned > plan.txt" }, edit: { ...edit, depends_on: ["plan"] } },
    });
    await daruma("takeover", "1");
    writeFileSync(join(await tree(), "by-hand.txt"), "mine\n");
    await daruma("hard-reset", "1", "edit");
    const patch = readFileSync(ofRun("patches/partial/j10000002_a1.patch"), "utf8");
    expect(patch).toContain("+mine");
    expect(patch).not.toContain("planned");
    expect((await daruma("explain", "1", "edit")).stdout).toContain(
      "What attempt 1 had left there (2 files) was kept: patches/partial/j10000002_a1.patch.",
    );
  });

  it("after a completed step is kept as a patch when a person goes back and restores the files", async () => {
    await run({ steps: { edit: { exec: "echo x >> edit.txt" } } });
    writeFileSync(join(await tree(), "edit.txt"), "mine\n");
    expect((await daruma("resume-from", "1", "edit")).stderr).toContain("patches/other/rebuild-1.patch");
    expect(readFileSync(ofRun("patches/other/rebuild-1.patch"), "utf8")).toContain("-x\n+mine");
    expect(readFileSync(join(await tree(), "edit.txt"), "utf8")).toBe("x\n");
  });

  it("is part of the next step's work, which finds it, and of its checkpoint", async () => {
    await run({ unhandled: "hold", steps: { edit } });
    await daruma("takeover", "1");
    writeFileSync(join(await tree(), "allowed.txt"), "mine\n");
    await daruma("resolve", "1", "edit", "--retry", "--no-resume");
    await daruma("resume", "1");
    expect(readFileSync(ofRun("patches/steps/step-0001.patch"), "utf8")).toContain("+mine");
  });
});

describe("a patch file of a checkpoint", () => {
  it.each([
    ["with one letter changed", "sed -i s/planned/plamned/"],
    ["that is no patch any more", "truncate -s 20"],
  ])("%s is replaced from the store", async (_, damage) => {
    const more = `[ "$n" != 2 ] || ${damage} "$DARUMA_OUTPUT_DIR/run-1/patches/steps/step-0001.patch";`;
    const plan = { exec: "echo planned > plan.txt" };
    const report = await run({
      self_heal: true,
      steps: { plan, edit: { exec: stuck(more), depends_on: ["plan"] } },
    });
    expect(report.status).toBe("completed");
    expect(readFileSync(ofRun("patches/steps/step-0001.patch"), "utf8")).toContain("+planned");
  });
});

describe("a command that is not found", () => {
  it.each<[string | string[], string | null]>([
    ["./tool.sh", "commit it and start a new run"],
    [["./tool.sh", "--fast"], "tool.sh is in your working tree, but not in commit"],
    ["./nowhere.sh", null],
  ])("names the file that is not committed: %s", async (exec, said) => {
    const report = await run({ steps: { edit: { exec } } });
    const { message } = report.jobs[0]!.error!;
    if (said === null) expect(message).not.toContain("working tree");
    else expect(message).toContain(said);
  });
});
