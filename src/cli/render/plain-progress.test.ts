import { describe, expect, it } from "vitest";
import { fakeChannel } from "../../../test/support/fake-channel.js";
import { replayedTrial } from "../../../test/support/replayed-trial.js";
import { debugProgress } from "./debug-progress.js";
import { plainProgress } from "./plain-progress.js";

describe("progress without a terminal", () => {
  it("is one line a thing, with the time since the start and no escape codes", async () => {
    const file =
      "steps: { build: { type: noop, on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: 1500 } } } } }";
    const { states } = await replayedTrial(file, { build: ["fail", { output: 1, takesMs: 250 }] });
    const channel = fakeChannel();
    const progress = plainProgress(channel);
    for (const { run, logged } of states()) progress.events(run, [logged]);
    expect(channel.text).toBe(
      [
        "  +0.000s  run 1 of test started",
        "  +0.000s  build started",
        "  +0.000s  build attempt 1 failed: exit code 1 (EXIT_1, application) — retry 1 of 1 in 1.5 s",
        "  +1.500s  build started, attempt 2",
        "  +1.750s  build completed on attempt 2 in 250 ms",
        "",
      ].join("\n"),
    );
  });
});

describe("what a failed attempt printed", () => {
  const told = async (stderr: string, hasSeenAll = false): Promise<string[]> => {
    const file = "steps: { build: { type: noop, on_fail: { retry: { max: 1 } } } }";
    const { states } = await replayedTrial(file, { build: [{ exit: 1, stderr }] });
    const channel = fakeChannel();
    const progress = plainProgress(channel);
    if (hasSeenAll) progress.printed("build", ["x"]);
    for (const { run, logged } of states()) progress.events(run, [logged]);
    return channel.text.split("\n").flatMap((line) => /^ {11}(.*)$/.exec(line)?.slice(1) ?? []);
  };

  it("stands below its first line: the last five lines, and not again for the same failure", async () => {
    const lines = ["one", "two", "three", "four", "five", "six"];
    expect(await told(`${lines.join("\n")}\n`)).toEqual(lines.slice(1).map((line) => `build | ${line}`));
  });

  it("is left out for whoever sees everything", async () => {
    expect(await told("one\ntwo\n", true)).toEqual(["build | x"]);
  });
});

describe("--debug", () => {
  const FILE = `
secrets: [API_PASS]
steps:
  a: { type: noop }
  b:
    type: noop
    depends_on: [a]
    on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: 200 } }, goto_js: "return 'hunter2secret' && 'a'" }
`;

  async function debugText(): Promise<string> {
    const { states } = await replayedTrial(FILE, { b: ["fail", "fail", "ok"] });
    const channel = fakeChannel();
    const progress = debugProgress(channel, { API_PASS: "hunter2secret" });
    for (const { run, logged } of states()) progress.events(run, [logged]);
    return channel.text;
  }

  it("prints rungs, backoff, expressions with result and time, transitions and loop counters", async () => {
    const text = await debugText();
    expect(text).toContain("debug: b attempt 1: retry: yes, EXIT_1: retry 1 of 1 in 200 ms");
    expect(text).toContain(
      "debug: b: backoff 200 ms, due 2023-11-14T22:13:20.200Z; max_loops: 1 retry + 0 loops of 10",
    );
    expect(text).toContain('debug: b: on_fail.goto_js gave "a" in 0.0 ms: return');
    expect(text).toMatch(/debug: goto\.taken: b, attempt 2, target a, .*; loop 1 of 10$/m);
    expect(text).toContain("debug: barrier.closed: barrier 1, invalidated a, b");
  });

  it("hides secrets", async () => {
    const text = await debugText();
    expect(text).toContain("[redacted:API_PASS]");
    expect(text).not.toContain("hunter2secret");
  });
});
