import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

/** An agent that hands back what it is told, and a review that fails so many times with a telling line and JSON. */
const loop = (failures: number, marks: string) => `
name: make the app pass the review
steps:
  fix: { type: agent, exec: cat, prompt: Implement the feature. }
  review:
    depends_on: [fix]
    exec: |
      echo x >> ${marks}
      n=$(wc -l < ${marks})
      [ "$n" -gt ${failures} ] && exit 0
      echo "looked at $n"
      echo "REVIEW: three lines are missing in round $n" >&2
      echo '{"missing": 3}' > "$DARUMA_OUTPUT"
      exit 1
    on_fail: { goto: { step: fix, max: 3 } }
`;

const prompt = async (run: number, step: string, attempt: number): Promise<string> =>
  (await cli.daruma("logs", String(run), step, "--prompt", "--attempt", String(attempt))).stdout;

describe("an agent that a review sends back", () => {
  it("is told round by round what failed, and a first run nothing", async () => {
    const { exitCode, report } = await cli.runJson(loop(2, "loop-marks"));
    expect(exitCode).toBe(0);
    const [first, second, third] = [
      await prompt(report.run_id, "fix", 1),
      await prompt(report.run_id, "fix", 2),
      await prompt(report.run_id, "fix", 3),
    ];
    expect(first).not.toMatch(/round|asked|DARUMA_|review failed/);
    expect(second).toMatch(
      /^objective:\nmake the app pass the review\n\nstep: fix\nround: 2 of 4\n\ninstructions:\nImplement the feature\.\n\nwhy you are asked again:\nYou have done this step before\. Then the step `review` examined the result and failed\. Repair what it names\.\n\nconstraints:\n- do not re-run/,
    );
    expect(second).toMatch(
      /\nearlier rounds:\n1\. review failed: EXIT_1, signature [0-9a-f]{10}\n\nDARUMA_FAILURE_ROUTE_CONTEXT v1\npolicy_version: 2\nuntrusted_data: true\nroute: goto\nround: 2 of 4\n/,
    );
    expect(second).toContain('\noutput (JSON, 13 characters):\n{"missing":3}\n');
    expect(second).toContain("\nREVIEW: three lines are missing in round 1\n");
    expect(second).toContain("\nlooked at 1\n");
    expect(third).toContain("round: 3 of 4\n");
    expect(third).toMatch(/\n1\. review failed: [^\n]*\n2\. review failed: /);
    expect(third).toContain("missing in round 2");
    expect(third).not.toContain("looked at 1");
  });
});

describe("the retry of an agent", () => {
  it("has no line of the log before the last 1,000 characters of it, and no command line", async () => {
    const exec = "cat; seq -f 'old line %g' 1 400 >&2; echo 'the last word' >&2; exit 1";
    const { report } = await cli.runJson(
      `steps: { fix: { type: agent, exec: ${JSON.stringify(exec)}, prompt: Mend it., on_fail: { retry: { max: 1 } } } }`,
    );
    const second = await prompt(report.run_id, "fix", 2);
    expect(second).toMatch(/^DARUMA_RETRY_CONTEXT v1\npolicy_version: 2\n/);
    expect(second).toContain("stderr, last 1000 of ");
    expect(second).toContain("the last word");
    expect(second.match(/old line \d+$/gm)!.length).toBeLessThan(80);
    expect(second).not.toMatch(/old line 1$|stdout, last|last_command|DARUMA_FAILURE_ROUTE_CONTEXT/m);
  });
});

describe("a hint on the command line", () => {
  const flow = `
name: hinted
secrets: [API_KEY]
steps:
  fix:
    type: agent
    exec: "cat > /dev/null; echo hint=\${DARUMA_HINT-none}; [ -e mended ]"
    prompt: Mend it.
unhandled: hold
`;
  const env = { API_KEY: "s3cret-value-1" };
  const inFolder = (...args: string[]) => runCli([...args, "--output-dir", cli.outputDir], env, cli.path);

  it("reaches the step redacted, in prompt and environment, and is refused where nothing works again", async () => {
    const ran = await inFolder("run", cli.write("hinted.yaml", flow), "--json");
    const { run_id } = JSON.parse(ran.stdout) as { run_id: number };
    const run = String(run_id);
    for (const flags of [["--skip"], ["--fail"], ["--complete", "null"]]) {
      const refused = await inFolder("resolve", run, "fix", ...flags, "--hint", "look again");
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toMatch(/^error HINT_REFUSED: fix: (skip|fail|complete) takes no hint/);
    }
    const words = "the key s3cret-value-1 is right\nlook at the lexer";
    const retried = await inFolder("retry", run, "fix", "--reason", "seen it", "--hint", words, "--json");
    expect(retried.exitCode).toBe(3);
    const told = await prompt(run_id, "fix", 2);
    expect(told).toMatch(
      /\nhint from command line \(text of a person or a token, not of the workflow\):\n<<<BEGIN (\w{16})>>>\nthe key \[redacted:API_KEY\] is right\nlook at the lexer\n<<<END \1>>>\n/,
    );
    expect(await prompt(run_id, "fix", 1)).not.toContain("hint from");
    const log = await cli.daruma("logs", run, "fix", "--attempt", "2");
    expect(log.stdout).toContain("hint=the key [redacted:API_KEY] is right");
    expect((await cli.daruma("explain", run)).stdout).toContain("It was given a hint:");
    const events = (await cli.daruma("events", run, "--json")).stdout;
    expect(events).not.toContain("s3cret-value-1");
    expect(events).toContain('"hint":"the key [redacted:API_KEY] is right');
    cli.write("mended", "");
    const again = await inFolder("retry", run, "fix", "--json");
    expect(again.exitCode).toBe(0);
    expect(await prompt(run_id, "fix", 3)).not.toContain("hint from");
  });

  it("is refused where the run's secret is not set, and nothing of it is kept", async () => {
    const ran = await inFolder("run", cli.write("hinted.yaml", flow), "--json");
    const run = String((JSON.parse(ran.stdout) as { run_id: number }).run_id);
    const refused = await cli.daruma("retry", run, "fix", "--hint", "x s3cret-value-1");
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/^error MISSING_SECRET: not set in the environment: API_KEY;/);
    expect(refused.stderr).toContain("export API_KEY=");
    for (const words of [
      ["events", run, "--json"],
      ["explain", run],
    ])
      expect((await cli.daruma(...words)).stdout).not.toContain("s3cret-value-1");
  });

  it("of blanks alone is refused as empty", async () => {
    const { report } = await cli.runJson('steps: { a: { exec: "exit 1" } }');
    const refused = await cli.daruma("retry", String(report.run_id), "a", "--hint", "   ");
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/--hint\. It must not be empty/),
    ]);
  });

  it("of more than 4,000 characters is refused", async () => {
    const { report } = await cli.runJson('steps: { a: { exec: "exit 1" } }');
    const refused = await cli.daruma("retry", String(report.run_id), "a", "--hint", "h".repeat(4_001));
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/hint/);
    expect(refused.stderr).toMatch(/4,?000/);
  });

  it("needs a step with takeover, and none takes one with cancel or pause", async () => {
    const { report } = await cli.runJson('{ unhandled: hold, steps: { a: { exec: "exit 1" } } }');
    const run = String(report.run_id);
    expect((await cli.daruma("takeover", run, "--hint", "x")).stderr).toContain("needs step_id");
    expect((await cli.daruma("pause", run, "--hint", "x")).exitCode).toBe(2);
    expect((await cli.daruma("takeover", run, "a", "--hint", "x")).exitCode).toBe(0);
  });
});

describe("a command that a failure leads to", () => {
  it("finds the file of what failed, and another attempt of it the file of its own", async () => {
    const { report } = await cli.runJson(`
steps:
  mend:
    start: routed
    exec: |
      cp "$DARUMA_FAILURE_CONTEXT" mend-failure-$DARUMA_ATTEMPT_ID
      [ -n "\${DARUMA_RETRY_CONTEXT-}" ] && cp "$DARUMA_RETRY_CONTEXT" mend-retry
      [ $DARUMA_ATTEMPT_ID = 2 ]
    on_fail: { retry: { max: 1 } }
  test:
    exec: '[ -n "\${DARUMA_RETRY_CONTEXT-}" ] && cp "$DARUMA_RETRY_CONTEXT" test-retry && exit 0; echo it is red >&2; exit 4'
    on_fail: { run: [mend] }
`);
    expect(report.status).toBe("completed");
    const read = (name: string) => readFileSync(join(cli.path, name), "utf8");
    expect(read("mend-failure-1")).toMatch(/\nroute: remediate\nround: 2 of 2\n[\s\S]*\nit is red\n/);
    expect(read("mend-failure-2")).toContain("source_node_key: test\n");
    expect(read("mend-retry")).toMatch(/^DARUMA_RETRY_CONTEXT v1\n[\s\S]*\nfailed_attempt: 1\n/);
    expect(read("test-retry")).toMatch(
      /\nlast_command: [\s\S]*\nit is red\n[\s\S]*\nrepaired_by: mend, attempt 2\n/,
    );
  });
});
