import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

describe("items of a fan-out that fail", () => {
  it("are one failure where only numbers and names of files differ, and one problem with its kinds", async () => {
    const flow = cli.write(
      "fan.yaml",
      `name: fan
unhandled: hold
steps:
  list: { type: script, content: 'return ["img-5.jpg", "cat.jpg", "dog.jpg", "ok.jpg"]', forEach: true }
  decode:
    exec: |
      case "{{ foreach.index }}" in
        0) echo "img-5.jpg: corrupt JPEG data in frame 5" >&2; exit 1 ;;
        1) echo "cat.jpg: corrupt JPEG data in frame 179" >&2; exit 1 ;;
        2) echo "no space left on device" >&2; exit 4 ;;
      esac
    depends_on: [list]
`,
    );
    expect((await cli.daruma("run", flow)).exitCode).toBe(3);
    const book = await cli.json<{ items: { code: string; occurrences: number; signature: string }[] }>(
      "failures",
    );
    expect(book.value.items.map(({ code, occurrences }) => `${code} ${occurrences}`).sort()).toEqual([
      "EXIT_1 2",
      "EXIT_4 1",
    ]);
    expect(book.value.items[0]!.signature).toMatch(/^v2:/);
    const inbox = await cli.daruma("inbox");
    const lines = inbox.stdout.split("\n").map((line) => line.replaceAll(/ {2,}/g, "  "));
    expect(lines[1]).toMatch(/^hold {2}1 {2}fan\/decode {2}.+ {2}3 items failed in 2 ways \(.+\.jpg.+\)$/);
    expect(lines[2]).toMatch(/[0-9a-f]{10} {2}2 items: EXIT_1: .+corrupt JPEG data in frame/);
    expect(lines[3]).toMatch(/[0-9a-f]{10} {2}1 item: EXIT_4: no space left on device$/);
    expect(inbox.stdout).toMatch(/^decide them: {2}daruma decide \d+ \d+ \d+ --action retry/m);
    const story = await cli.daruma("explain", "last");
    expect(story.stdout).toContain("3 items of decode are held, in 2 ways:\n");
    expect(story.stdout).toMatch(
      /^ {2}2 items \((?:img-5|cat)\.jpg, (?:img-5|cat)\.jpg\), for example decode@list\[[01]\]:$/m,
    );
  });
});

describe("a step that falls silent", () => {
  it("is transient the first time and stuck the second", async () => {
    const { report } = await cli.runJson(
      "name: silent\nsteps: { ask: { exec: 'sleep 30', idle_timeout_ms: 300, kill_grace_ms: 50, on_fail: { retry: { max: 1 } } } }",
    );
    const events = await cli.daruma("events", String(report.run_id), "--json");
    const failed = events.stdout
      .split("\n")
      .filter((line) => line.includes('"attempt.failed"'))
      .map((line) => /"class": ?"(\w+)"/.exec(line)?.[1]);
    expect(failed).toEqual(["transient_runtime", "stuck_no_progress"]);
  });
});

describe("a loop with self_heal", () => {
  it("ends when its rounds change nothing, and says so", async () => {
    const repo = join(cli.path, "repo");
    mkdirSync(repo);
    writeFileSync(join(repo, "app.txt"), "one\n");
    const git = (...args: string[]): unknown =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { cwd: repo });
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "first");
    const { exitCode, report } = await cli.runJson(
      `name: loop
workspace: { repo: ./repo, ref: HEAD }
self_heal: true
steps:
  fix: { exec: echo work >> app.txt }
  review: { exec: 'echo "app.txt needs three lines" >&2; exit 1', depends_on: [fix], on_fail: { goto: { step: fix, max: 9 } } }`,
    );
    expect(exitCode).toBe(1);
    expect(report.jobs.map(({ step, attempts }) => `${step} ${attempts}`)).toEqual(["fix 2", "review 2"]);
    const story = await cli.daruma("explain", String(report.run_id));
    expect(story.stdout).toContain(
      "No progress: the same failure in 2 rounds, and the same files after each.",
    );
  });
});

describe("daruma events --names design-004", () => {
  it("prints the design's events with their payload, one line each or as JSON", async () => {
    const { report } = await cli.runJson(
      `name: named
self_heal: { step_max_attempts: 2, step_no_progress_limit: 2 }
steps: { ask: { type: agent, prompt: p, exec: 'test "$DARUMA_ATTEMPT_ID" -gt 1' } }`,
    );
    const id = String(report.run_id);
    const text = await cli.daruma("events", id, "--names", "design-004");
    expect(text.stdout).toMatch(/ task\.self_heal\.triggered .*stepId ask.*strategy soft_reset/);
    const { stdout } = await cli.daruma("events", id, "--names", "design-004", "--json");
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; stepIndex: number });
    expect(events.map(({ type, stepIndex }) => `${type} ${stepIndex}`)).toEqual([
      "task.step.attempt.started 0",
      "task.step.attempt.failed 0",
      "task.self_heal.triggered 0",
      "task.step.attempt.started 0",
      "task.step.attempt.finished 0",
    ]);
  });
});
