import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

/** A message that would be a second line of progress, a title, an erased screen and a line that reads backwards. */
const HOSTILE = String.raw`why\r\n  +9.999s  b completed\u001b]0;title\u0007\u001b[2J\u202eok`;
const SHOWN = "why +9.999s b completedok";

const FLOW = `
name: hostile
unhandled: hold
steps:
  setup: { exec: "true" }
  thrower:
    exec: "exit 3"
    depends_on: setup
    on_fail: { goto_js: ${JSON.stringify(`throw new Error('${HOSTILE}')`)} }
  namer:
    exec: "exit 3"
    depends_on: setup
    on_fail: { run_js: ${JSON.stringify(`return ['${HOSTILE}']`)} }
  declarer:
    exec: ${JSON.stringify(String.raw`printf '{"code":"BAD\\u001b[31m\\n+9.999s  b completed","message":"%s"}' '${HOSTILE}' > "$DARUMA_FAILURE"; exit 3`)}
  printer:
    exec: ${JSON.stringify(String.raw`printf '\033]0;title\007the last \342\200\256line\n' >&2; exit 3`)}
  decider:
    exec: "true"
    if: ${JSON.stringify(`(() => { throw new Error('${HOSTILE}') })()`)}
`;

// biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is what is tested
const CONTROL = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

describe("words that steps and expressions choose", () => {
  it("forge no line and reach no terminal as escapes, wherever a run is told", async () => {
    const run = await cli.daruma("run", cli.write("hostile.yaml", FLOW), "--debug");
    expect(run.exitCode).toBe(3);
    const told = { run: run.stdout + run.stderr } as Record<string, string>;
    for (const command of ["show", "explain", "events", "holds"])
      told[command] = (await cli.daruma(command, "1")).stdout;
    told.jobs = (await cli.daruma("jobs", "--run-id", "1")).stdout;
    told.list = (await cli.daruma("list")).stdout;
    for (const [command, text] of Object.entries(told)) {
      expect(CONTROL.exec(text), command).toBeNull();
      expect(text, command).not.toMatch(/^\s*\+9\.999s/m);
    }
    expect(told.run).toContain(SHOWN);
    expect(told.run).toContain("printer attempt 1 failed: exit code 3: the last line (EXIT_3");
    expect(told.holds).toContain("(BAD +9.999s b completed, application)");
    expect(told.explain).toContain(SHOWN);
  });

  it("are refused in a token's name", async () => {
    const made = await cli.daruma("token", "create", "bad\nname\x1b[31m", "--role", "viewer");
    expect(made.exitCode).toBe(2);
    expect(made.stderr).toContain("It must be on one line, without control characters.\n");
    expect((await cli.json<unknown[]>("token", "list")).value).toEqual([]);
  });
});
