import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/declare/program.js";
import { foreignWords, oursFor } from "../../src/core/text/foreign-words.js";
import { repositoryRoot } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();
const program = await createProgram({ exitCode: 0 }, []);
const OWN = new Set(program.commands.map((command) => command.name()));

/** The commands that a text tells to type. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/`daruma ([a-z-]+)/g)].map(([, word]) => word!);

describe("a word of another program", () => {
  it.each(foreignWords("command"))("%s is answered with what does it here", async (word) => {
    const { exitCode, stderr } = await cli.daruma(word);
    expect(exitCode).toBe(2);
    const [error, hint, ...more] = stderr.split("\n");
    expect(error).toBe(`error USAGE: unknown command '${word}'`);
    expect(hint!.toLowerCase()).toBe(`hint: ${oursFor("command", word)!.toLowerCase()}.`);
    expect(more).toEqual([""]);
    expect(OWN).not.toContain(word);
    for (const named of commandsIn(hint!)) if (named !== "--version") expect(OWN).toContain(named);
  });

  it.each([
    [["list", "--dry-run"], "`daruma run FILE --reuse --dry-run` says"],
    [["list", "-n"], "`daruma run FILE --reuse --dry-run` says"],
    [["slurm", "run"], "`daruma run FILE --server URL` runs"],
    [["prune", "-n"], "Write it as `--dry-run`."],
    [["run", "x.yaml", "-j4"], "`--max-parallel N` says"],
    [["run", "-k", "x.yaml"], "What does not depend on a failed step runs anyway"],
  ])("is known as a flag: %j", async (args, ours) => {
    const { exitCode, stderr } = await cli.daruma(...args);
    expect(exitCode).toBe(2);
    expect(stderr).not.toContain("Did you mean");
    expect(stderr).toContain(`\nhint: ${ours}`);
  });

  it("leaves others to the parser's guess", async () => {
    expect((await cli.daruma("valdate")).stderr).toContain("(Did you mean validate?)");
    expect((await cli.daruma("nosuch")).stderr).toContain("hint: See `daruma --help`.");
  });

  it("is known as a key of a workflow file, and named once with its place", async () => {
    const text = `steps:
  build:
    run: make
  test:
    exec: make test
    needs: [build]
    timeout-minutes: 5
`;
    const { exitCode, stderr } = await cli.daruma("validate", cli.write("elsewhere.yaml", text));
    expect(exitCode).toBe(2);
    const lines = stderr.split("\n").filter((line) => line.includes("elsewhere.yaml:"));
    expect(lines.map((line) => line.slice(line.indexOf("elsewhere.yaml:")))).toEqual([
      "elsewhere.yaml:3:5 UNKNOWN_KEY unknown key `run` here: write the command as `exec` (of `jobs`: `command`)",
      "elsewhere.yaml:6:12 INVALID_VALUE `needs` is one of `completed`, `settled` here: write the steps it waits for as `depends_on`",
      "elsewhere.yaml:7:5 UNKNOWN_KEY unknown key `timeout-minutes` here: write it as `timeout_ms`, such as `timeout_ms: 10m`",
    ]);
  });
});

it("a program that does not look at a wrong workflow's error prints each problem once", () => {
  const library = pathToFileURL(join(repositoryRoot, "dist/index.js")).href;
  const source = `import { defineWorkflow } from ${JSON.stringify(library)};
defineWorkflow({ name: "x", steps: { a: { type: "command", exec: "true", depends_on: ["b"] } } });`;
  const file = cli.write("wrong.mjs", source);
  const { status, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr.match(/depends_on\[0\]/g)).toHaveLength(1);
  expect(stderr).toContain("code: 'UNKNOWN_STEP'");
  expect(stderr).not.toMatch(/problems:|survey:|asked:|line: 0/);
});
