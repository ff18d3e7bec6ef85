import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { DarumaProcess } from "../support/daruma-process.js";
import { fileAppears } from "../support/file-appears.js";
import { makeRepository, photograph } from "../support/git-repository.js";

let folder = "";
let repo = "";
let before: ReturnType<typeof photograph>;
let first: DarumaProcess | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-lost-"));
  mkdirSync(join(folder, "marks"));
  repo = makeRepository(join(folder, "repo"), { "base.txt": "base\n" });
  before = photograph(repo);
});
afterEach(async () => {
  await first?.kill();
  expect(photograph(repo)).toEqual(before);
  rmSync(folder, { recursive: true, force: true });
});

const mark = (name: string) => join(folder, "marks", name);
const out = ["--output-dir"] as const;

/** Fails once with its work half right, is at work when the process dies, and then takes up what it is told of. */
function writeFlow(more: object = {}): string {
  const script = `cat > /dev/null
case "$DARUMA_ATTEMPT_ID" in
1) echo one > app.txt; echo "the title is wrong" >&2; exit 3;;
2) cp app.txt ${mark("found")}; echo two > more.txt; touch ${mark("working")}; sleep 600;;
*) ls > ${mark("tree")}; echo "$DARUMA_PREVIOUS_PATCH" > ${mark("patch")};;
esac`;
  const file = join(folder, "flow.json");
  const fix = {
    ...{ type: "agent", exec: ["sh", "-c", script], prompt: "Repair it." },
    on_fail: { retry: { max: 2 } },
  };
  writeFileSync(file, JSON.stringify({ name: "lost", workspace: { repo, ...more }, steps: { fix } }));
  return file;
}

async function endInRetry(how: "SIGKILL" | "SIGINT", file: string): Promise<string> {
  first = new DarumaProcess("run", ["run", file, ...out, join(folder, "out")]);
  first.start();
  await fileAppears(mark("working"));
  first.signal(how);
  await first.ended();
  const { exitCode, stderr } = await runCli(["resume", "1", ...out, join(folder, "out")]);
  expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
  const { stdout } = await runCli(["logs", "1", "fix", "--prompt", ...out, join(folder, "out")]);
  return stdout;
}

describe("an attempt that is lost while it repairs what an earlier one had failed with", () => {
  it.each(["SIGKILL", "SIGINT"] as const)(
    "leaves the next one that failure, and a patch of the work of both: %s",
    async (how) => {
      const prompt = await endInRetry(how, writeFlow());
      expect(prompt).toContain("failed_attempt: 1\n");
      expect(prompt).toContain("code: EXIT_3\n");
      expect(prompt).toContain("the title is wrong");
      expect(prompt).not.toContain("WORKER_LOST");
      expect(prompt).toContain(
        "Attempt 2 ended in the middle of its work, through no fault of yours, and the working folder went back to its last checkpoint. The changes of attempts 1 and 2 (app.txt) are not in it; they are in $DARUMA_PREVIOUS_PATCH.",
      );
      expect(readFileSync(mark("found"), "utf8")).toBe("one\n");
      expect(readFileSync(mark("tree"), "utf8")).toBe("base.txt\n");
      const patch = readFileSync(mark("patch"), "utf8").trim();
      execFileSync("git", ["clone", "-q", repo, join(folder, "clone")]);
      execFileSync("git", ["apply", patch], { cwd: join(folder, "clone") });
      expect(readFileSync(join(folder, "clone", "app.txt"), "utf8")).toBe("one\n");
      expect(readFileSync(join(folder, "clone", "more.txt"), "utf8")).toBe("two\n");
    },
  );

  it("leaves its work in place where the file says on_lost: keep, and the next one goes on in it", async () => {
    const prompt = await endInRetry("SIGKILL", writeFlow({ on_lost: "keep" }));
    expect(prompt).toContain("code: EXIT_3\n");
    expect(prompt).toContain(
      "Attempt 2 ended in the middle of the work, through no fault of yours. What you did is",
    );
    expect(readFileSync(mark("tree"), "utf8")).toBe("app.txt\nbase.txt\nmore.txt\n");
    expect(readFileSync(mark("patch"), "utf8").trim()).toBe("");
  });
});
