import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failureOf, judged } from "../../../test/support/error-record.js";
import { plainLines } from "../text/plain-text.js";
import { tellingLine } from "../text/telling-line.js";
import { besideOf, brokeOf, excerptOf, headlineOf, lastWordsOf, lineBelow } from "./excerpt.js";
import type { Failure } from "./failure.js";

const printed = (stderr: string, stdout = ""): Failure =>
  failureOf({ stderr_tail: stderr, stdout_tail: stdout });
const shown = (failure: Failure, lines: number): string[] =>
  excerptOf(failure, lines).map(({ stream, at, text }) => `${stream} ${at}: ${text}`);
const numbered = (word: string, count: number): string =>
  Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join("");

describe("the lines that tell what broke", () => {
  it("are all lines where there is room, without empty ones, each with its place", () => {
    expect(shown(printed("one\n\n  two\t!\r\n"), 5)).toEqual(["stderr 0: one", "stderr 2:   two    !"]);
    expect(shown(printed("", "out\n"), 5)).toEqual(["stdout 0: out"]);
    expect(shown(printed("", ""), 5)).toEqual([]);
  });

  it("are the one that names it, errors and the last ones, so that neither a trace nor a summary hides the error", () => {
    const trace = `start\nError: boom\n${numbered("    at f (x.js", 20).replaceAll("\n", ")\n")}`;
    expect(shown(printed(trace), 1)).toEqual(["stderr 1: Error: boom"]);
    expect(shown(printed(trace), 4)).toEqual([
      ...["stderr 0: start", "stderr 1: Error: boom"],
      ...["stderr 20:     at f (x.js 18)", "stderr 21:     at f (x.js 19)"],
    ]);
    const cascade = `${numbered("error: e", 10)}${numbered("note", 10)}`;
    expect(shown(printed(cascade), 6)).toEqual([
      ...["stderr 8: error: e 8", "stderr 9: error: e 9", "stderr 16: note 6"],
      ...["stderr 17: note 7", "stderr 18: note 8", "stderr 19: note 9"],
    ]);
  });

  it("are those of the stream that names it, and as far as there is room those of the other, errors before all", () => {
    const tests = `ok 1\nFAIL parser\n${numbered("ok", 30)}`;
    expect(shown(printed("npm notice\n", tests), 3)).toEqual([
      ...["stdout 1: FAIL parser", "stdout 30: ok 28", "stdout 31: ok 29"],
    ]);
    expect(shown(printed("1 problem\n", "a.ts: too long\n"), 6)).toEqual([
      ...["stdout 0: a.ts: too long", "stderr 0: 1 problem"],
    ]);
    expect(shown(printed(numbered("e", 9), "a.ts: too long\n"), 2)).toEqual([
      "stderr 7: e 7",
      "stderr 8: e 8",
    ]);
    expect(shown(printed(numbered("e", 9), numbered("error: e", 9)), 6)).toEqual([
      ...["stdout 7: error: e 7", "stdout 8: error: e 8"],
      ...["stderr 5: e 5", "stderr 6: e 6", "stderr 7: e 7", "stderr 8: e 8"],
    ]);
  });

  it("are those of the failure behind the one that ended the job", () => {
    const ended = failureOf({ stderr_tail: "", code: "REMEDIATION_FAILED", cause: printed("why\n") });
    expect(shown(ended, 3)).toEqual(["stderr 0: why"]);
  });

  it("are what a terminal would show at last: no escapes, no overwritten states, no endless lines", () => {
    const [line] = excerptOf(printed(`10 %\r90 %\r\u001b[31mfailed\u001b[0m\r\n${"x".repeat(5_000)}`), 2);
    expect(line).toEqual({ stream: "stderr", at: 0, text: "failed", telling: true, beside: false });
    expect(excerptOf(printed("x".repeat(5_000)), 1)[0]!.text).toBe(`${"x".repeat(400)}…`);
  });

  it("are never more than there is room for, in their order, and have an error if there is any", () => {
    const text = fc
      .array(fc.constantFrom("ok", "error: no", "", "  at x", "0 failed"))
      .map((all) => all.join("\n"));
    fc.assert(
      fc.property(text, text, fc.integer({ min: 1, max: 20 }), (stderr, stdout, most) => {
        const lines = excerptOf(printed(stderr, stdout), most);
        const all = excerptOf(printed(stderr, stdout), 1_000);
        expect(lines.length).toBe(Math.min(most, all.length));
        expect(
          all.filter((line) => lines.some(({ stream, at }) => stream === line.stream && at === line.at)),
        ).toEqual(lines);
        const named = tellingLine(plainLines(stderr), plainLines(stdout));
        if (named !== null) expect(lines.map(({ text }) => text.trim())).toContain(named);
      }),
    );
  });
});

describe("what broke", () => {
  const command = (said: string, rest: object = {}) =>
    judged({ message: "exit code 7", said, exitCode: 7, ...rest });

  it("is what the step said, without how its process ended", () => {
    expect(brokeOf(command("the table is locked"))).toBe("the table is locked");
    expect(brokeOf(command("build: 0181.sql failed"))).toBe("0181.sql failed");
    expect(brokeOf(command("", { declared: { message: "no database" } }))).toBe("no database");
    expect(brokeOf(judged({ message: "printed nothing for 700 ms", timeout: "idle" }))).toBe(
      "printed nothing for 700 ms",
    );
  });

  it("is how its process ended where the step said nothing, and then its last words tell more", () => {
    const failure = command("", { stdoutTail: "deploying\n}\n" });
    expect(brokeOf(failure)).toBe("exit code 7");
    expect(lastWordsOf(failure)?.text).toBe("deploying");
    expect(lastWordsOf(command("no", { stdoutTail: "deploying\n" }))).toBeNull();
    expect(lastWordsOf(judged({ message: "fetch: HTTP 500", stdoutTail: "HTTP 500\n" }))).toBeNull();
  });

  it("has its code beside it, unless that says nothing new", () => {
    expect(headlineOf(command("the table is locked"))).toBe("the table is locked (EXIT_7)");
    expect(headlineOf(command(""))).toBe("exit code 7");
    expect(headlineOf(command("EXIT_7 again"))).toBe("EXIT_7 again");
    const behind = failureOf({ code: "REMEDIATION_FAILED", message: "no", cause: command("") });
    expect(headlineOf(behind)).toBe("no (EXIT_7)");
  });

  it("is not said twice above the lines that say it", () => {
    const failure = command("the table is locked", { stderrTail: "wait\nthe table is locked\n" });
    expect(besideOf(failure, excerptOf(failure, 9))).toBe("exit code 7");
    expect(besideOf(failure, [])).toBe("exit code 7: the table is locked");
    const remarked = command("not found; x is not committed", { stderrTail: "not found\n" });
    expect(besideOf(remarked, excerptOf(remarked, 9))).toBe("exit code 7: not found; x is not committed");
    const declared = command("", { declared: { message: "no" }, stderrTail: "no\n" });
    expect(besideOf(declared, excerptOf(declared, 9))).toBe("no");
  });

  it("has below it the first error that says more", () => {
    const failure = printed("error: a\nerror: b\n", "FAIL c\n");
    expect(lineBelow(failure, "exit code 1")).toBe("error: a");
    expect(lineBelow(failure, "error: a")).toBe("error: b");
    expect(lineBelow(printed("fine\n"), "x")).toBeNull();
  });
});

describe("a failure's message", () => {
  it("keeps apart how the process ended and what it said", () => {
    expect(judged({ message: "exit code 7", said: "no", exitCode: 7 })).toMatchObject({
      ...{ message: "exit code 7: no", how: "exit code 7", said: "no" },
    });
    expect(judged({ message: "exit code 7", said: "", exitCode: 7 })).toMatchObject({
      ...{ message: "exit code 7", how: "exit code 7", said: null },
    });
    expect(judged({ message: "timed out", timeout: "wall" })).toMatchObject({
      ...{ message: "timed out", how: null, said: null },
    });
    expect(judged({ message: "exit code 7", said: "x", declared: { message: "no" } })).toMatchObject({
      ...{ message: "no", how: "exit code 7", said: "no" },
    });
  });

  it("has nothing that a step said while it was taken away", () => {
    const facts = {
      message: "ended by SIGTERM while its worker was being stopped",
      said: "bye",
      evicted: true,
    };
    expect(judged(facts)).toMatchObject({ message: facts.message, how: null, said: null });
  });
});
