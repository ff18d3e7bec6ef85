import { describe, expect, it } from "vitest";
import { CliFolder, type Report } from "../support/cli-folder.js";

const cli = new CliFolder();

const RELEASE = `
name: release
steps:
  build: { type: command, exec: "echo 1.2" }
  approve: { type: human, prompt: "Release {{ outputs.build }}?", depends_on: [build] }
  ship: { type: command, exec: "echo shipped, {{ outputs.approve.text }}", depends_on: [approve] }
`;

describe("a human step", () => {
  it("shows question, choices and the command to answer; an approval completes it with the words said", async () => {
    const running = cli.start("run", cli.write("release.yaml", RELEASE), "--json");
    const [, id = ""] = await running.until(/run (\d+) of release started[\s\S]*asks: .*\n/);
    expect(running.text).toContain(
      `approve asks: Release 1.2? (approve, reject) — daruma answer ${id} approve --choose approve --output-dir ${cli.outputDir}\n`,
    );
    const waiting = (await cli.daruma("holds", id)).stdout.split("\n");
    expect(waiting[0]).toMatch(/^approve \(run \d+, job \d+\) asked at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC:$/);
    const place = `--output-dir ${cli.outputDir}`;
    expect(waiting.slice(1)).toEqual([
      "  | Release 1.2?",
      `to answer approve:  daruma answer ${id} approve --choose approve ${place}`,
      `to answer reject:   daruma answer ${id} approve --choose reject ${place}`,
      "",
    ]);
    const { stdout: inbox } = await cli.daruma("inbox", "--kind", "question");
    for (const choice of ["approve", "reject"])
      expect(inbox).toContain(
        `to answer ${choice}:  daruma answer ${id} approve --choose ${choice} ${place}\n`,
      );
    type Listed = { kind: string; decisions: { command: string }[] }[];
    const { value: listed } = await cli.json<Listed>("holds", id);
    expect(listed).toMatchObject([
      {
        kind: "question",
        decisions: [{ command: waiting[2]!.replace(/.*: {2}/, "") }, { decision: "reject" }],
      },
    ]);
    const all = await cli.daruma("resolve", id, "--all", "--retry");
    expect(all.stderr).toMatch(/^error NOT_HELD: run \d+ has no hold/);
    const wrong = await cli.daruma("answer", id, "approve", "--choose", "maybe");
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toMatch(/^error INVALID_VALUE: maybe is not one of approve, reject\n/);
    expect((await cli.daruma("answer", id, "build", "--choose", "approve")).stderr).toMatch(
      /^error NOT_ASKED: build is completed/,
    );
    expect((await cli.daruma("explain", id)).stdout).toContain(
      `- approve waits for an answer; to reject:\n    daruma answer ${id} approve --choose reject `,
    );
    const answered = await cli.daruma("answer", id, "approve", "--choose", "approve", "--text", "all good");
    expect(answered.exitCode).toBe(0);
    expect(answered.stdout).toMatch(/^approve is answered: approve\n/);
    expect(await running.ended).toBe(0);
    expect(running.text).toContain("approve is answered: approve, all good\n");
    expect((await cli.json<Report>("show", id)).value.jobs.map(({ output }) => output)).toEqual([
      1.2,
      { choice: "approve", text: "all good" },
      "shipped, all good",
    ]);
    expect((await cli.daruma("explain", id)).stdout).toContain('The answer was approve: "all good".');
  });

  it("rejected fails as REJECTED and climbs the ladder", async () => {
    const running = cli.start("run", cli.write("reject.yaml", RELEASE));
    const [, id = ""] = await running.until(/run (\d+) of release started[\s\S]*asks: .*\n/);
    await cli.daruma("answer", id, "approve", "--choose", "reject", "--text", "not today");
    expect(await running.ended).toBe(1);
    const { value } = await cli.json<Report>("show", id);
    expect(value.jobs).toMatchObject([
      { status: "completed" },
      { status: "failed", error: { code: "REJECTED", message: "reject: not today" } },
      { status: "canceled" },
    ]);
  });

  it("that ends a run in another process gives its exit code with --strict, and says why", async () => {
    const text = `steps:
  build: { exec: exit 1, on_fail: { edge: { to: stand_in, then: continue } } }
  stand_in: { exec: "true" }
  approve: { type: human, prompt: "Well?", depends_on: [build] }
`;
    const answer = async (...flags: string[]) => {
      const running = cli.start("run", cli.write("amber.yaml", text));
      const [, id = ""] = await running.until(/asks: Well\?.* daruma answer (\d+) /);
      const given = await cli.daruma("answer", id, "approve", "--choose", "approve", ...flags);
      expect(await running.ended).toBe(0);
      return given;
    };
    expect(await answer()).toMatchObject({ exitCode: 0 });
    expect(await answer("--strict")).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining("strict: the exit code is 1, because a failure was handled"),
    });
  });

  it("that nobody answers in time fails as TIMEOUT", async () => {
    const flow = 'steps: { approve: { type: human, prompt: "?", timeout_ms: 50 } }';
    const { exitCode, report } = await cli.runJson(flow);
    expect(exitCode).toBe(1);
    expect(report.jobs).toMatchObject([{ error: { code: "TIMEOUT" } }]);
  });

  it("can be answered while nobody runs the run, which then goes on with the answer", async () => {
    const running = cli.start("run", cli.write("later.yaml", RELEASE));
    const [, id = ""] = await running.until(/run (\d+) of release started[\s\S]*asks: .*\n/);
    running.kill("SIGINT");
    expect(await running.ended).toBe(130);
    const { exitCode, stdout } = await cli.daruma("answer", id, "approve", "--choose", "approve");
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`✓ run ${id} of release completed`)]);
  });
});
