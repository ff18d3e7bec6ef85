import { describe, expect, it } from "vitest";
import { brokeText, hasTellingLine, isBareEnd } from "./what-broke.js";

const seven = { exit_code: 7, signal: null };

describe("what broke", () => {
  it.each([
    ["exit code 7: the table is locked", "the table is locked"],
    ["migrate: exit code 7: migrate: 0181.sql failed", "0181.sql failed"],
    ["exit code 7", "exit code 7"],
    ["exit code 70: no", "exit code 70: no"],
    ["printed nothing for 700 ms", "printed nothing for 700 ms"],
  ])("is told of %s as %s", (message, told) => {
    expect(brokeText(message, "migrate", seven)).toBe(told);
  });

  it("is told without a signal, and known where there is nothing else", () => {
    const killed = { exit_code: null, signal: "SIGKILL" };
    expect(brokeText("ended by signal SIGKILL: out of memory", "a", killed)).toBe("out of memory");
    expect(isBareEnd("exit code 7", seven)).toBe(true);
    expect(isBareEnd("exit code 7: no", seven)).toBe(false);
  });

  it("is told by a line of the program or not", () => {
    expect(hasTellingLine("exit code 7: no", seven)).toBe(true);
    expect(hasTellingLine("exit code 7", seven)).toBe(false);
    expect(hasTellingLine("timed out after 5 s", { exit_code: 124, signal: null })).toBe(false);
  });
});
