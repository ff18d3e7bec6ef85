import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { CliFolder, RunningCli } from "../support/cli-folder.js";

const cli = new CliFolder();
const SECRET = "s3cr3t-0123456789";

const TALKING = `
name: talking
secrets: [TOKEN]
steps:
  list: { type: command, exec: "echo '[1, 2]'", forEach: true }
  each: { type: command, exec: "printf 'item \\\\033[31m{{ outputs.list }}\\\\033[0m'; echo token $TOKEN >&2", depends_on: [list] }
`;
const FAILING = `
name: failing
steps:
  test:
    type: command
    exec: "echo 'a.ts: 1 test failed'; echo expected 3 to be 4 >&2; exit 1"
    on_fail: { retry: { max: 1, backoff: { mode: none } } }
`;

/** Lines of what steps printed, in the order of their names: steps run side by side. */
const printed = (text: string): string[] =>
  text
    .split("\n")
    .flatMap((line) => /^ {11}(\S+ \| .*)$/.exec(line)?.slice(1) ?? [])
    .sort();

const SHOWN = [
  "each@list[0] | item 1",
  "each@list[0] | token [redacted:TOKEN]",
  "each@list[1] | item 2",
  "each@list[1] | token [redacted:TOKEN]",
  "list | [1, 2]",
];

describe("what steps print", () => {
  it("is shown with --verbose: each line with its step, without secrets and escape codes", async () => {
    const file = cli.write("talking.yaml", TALKING);
    const args = ["run", file, "--output-dir", cli.outputDir];
    const told = await runCli([...args, "-v"], { TOKEN: SECRET });
    expect(printed(told.stderr)).toEqual(SHOWN);
    expect(told.stderr).not.toContain("\u001b");
    const quiet = await runCli(args, { TOKEN: SECRET });
    expect(printed(quiet.stderr)).toEqual([]);
  });

  it("is shown by resume --verbose, too", async () => {
    const { report } = await cli.runJson(`unhandled: hold\n${FAILING}`);
    const run = String(report.run_id);
    await cli.daruma("resolve", run, "test", "--retry", "--no-resume");
    const { stderr } = await cli.daruma("resume", run, "--verbose");
    expect(printed(stderr)).toEqual([
      "test | a.ts: 1 test failed",
      "test | a.ts: 1 test failed",
      "test | expected 3 to be 4",
      "test | expected 3 to be 4",
    ]);
  });

  it("is shown below each new failure: the end of stderr, or of stdout where stderr is empty", async () => {
    const file = cli.write(
      "loud.yaml",
      `
secrets: [TOKEN]
steps:
  a:
    type: command
    exec: "seq 1 9 >&2; echo token $TOKEN >&2; exit 1"
    on_fail: { retry: { max: 1, backoff: { mode: none } } }
  b: { type: command, exec: "echo one; echo two; exit 2", depends_on: [a], needs: settled }
  c: { type: command, exec: "echo alone >&2; exit 3" }
`,
    );
    const args = ["run", file, "--max-parallel", "1", "--output-dir", cli.outputDir];
    const { stderr } = await runCli(args, { TOKEN: SECRET });
    const lines = ["a | 6", "a | 7", "a | 8", "a | 9", "a | token [redacted:TOKEN]", "b | one", "b | two"];
    expect(printed(stderr)).toEqual(lines);
    const verbose = (await runCli([...args, "-v"], { TOKEN: SECRET })).stderr;
    expect(printed(verbose).filter((line) => line === "a | 9")).toHaveLength(2);
  });

  it("is shown at the end of a failed run, each failure once", async () => {
    const { stdout, stderr } = await cli.daruma("run", cli.write("failing.yaml", FAILING));
    const told = stdout.split("\n");
    expect(
      told.slice(
        4,
        told.findIndex((line) => line.startsWith("log: ")),
      ),
    ).toEqual([
      "test failed on attempt 2: exit code 1 (EXIT_1)",
      "from its stdout:",
      "  | a.ts: 1 test failed",
      "from its stderr:",
      "  | expected 3 to be 4",
    ]);
    expect(stderr.match(/expected 3 to be 4/g)).toHaveLength(1);
    expect(stderr).toContain(
      "test attempt 2 failed like attempt 1 (EXIT_1) — no retries left (1 used); the step",
    );
  });
});

describe("what steps print at a server", () => {
  let server: RunningCli;
  let url = "";
  beforeAll(async () => {
    const args = ["serve", "--port", "0", "--output-dir", join(cli.path, "server")];
    server = new RunningCli(args, { TOKEN: SECRET });
    url = (await server.until(/listening at (\S+)/))[1]!;
  });
  afterAll(async () => {
    server.kill("SIGTERM");
    await server.ended;
  });

  it("is shown with --verbose as it is here", async () => {
    const args = ["run", cli.write("there.yaml", TALKING), "--server", url, "--verbose"];
    const told = await runCli(args);
    expect([told.exitCode, printed(told.stderr)]).toEqual([0, SHOWN]);
  });
});
