import { afterEach, describe, expect, test, vi } from "vitest";
import { EXPRESSION_DEADLINE_MS } from "./limits.js";
import { createSandbox } from "./quickjs-sandbox.js";
import type { Evaluation, Sandbox } from "./sandbox.js";
import { MAX_LIMITS_OF_WALL_TIME } from "./thread-cpu.js";

/** Code whose native parts never check for interrupts, so only ending the thread stops it. */
const UNINTERRUPTIBLE =
  "const s = 'a'.repeat(1e6); let n = 0; for (let i = 0; i < 1e6; i++) n += s.indexOf('b'); return n";

/** A wall time limit that only a hang reaches. */
const HANG_MS = 600_000;

let sandbox: Sandbox = createSandbox();
afterEach(async () => {
  vi.useRealTimers();
  await sandbox.close();
  sandbox = createSandbox();
});

function evaluate(code: string, options: Partial<Evaluation> = {}) {
  return sandbox.evaluate({ code, variables: {}, now: 0, expects: "json", ...options });
}

async function codeOf(code: string, options: Partial<Evaluation> = {}): Promise<string> {
  const result = await evaluate(code, options);
  return result.ok ? `value ${JSON.stringify(result.value)}` : result.code;
}

describe("hostile code is stopped", () => {
  test.each([
    ["an endless loop", "while (true) {}"],
    [
      "an endless loop that catches everything",
      "for (;;) { try { for (;;) {} } catch {} finally { continue } }",
    ],
    ["endless calls", "const f = () => 1; for (;;) f()"],
    ["a regular expression that backtracks", "/(a+)+$/.test('a'.repeat(40) + 'b')"],
    ["an endless toJSON", "({ toJSON() { for (;;) {} } })"],
    ["an endless getter in the result", "({ get a() { for (;;) {} } })"],
    ["an endless trap in the result", "new Proxy({}, { ownKeys() { for (;;) {} } })"],
    ["an endless getter in an error", "throw { get a() { for (;;) {} } }"],
  ])("by counting: %s", async (_, code) => {
    const result = await evaluate(code, { deadlineMs: HANG_MS });
    expect(result).toMatchObject({ code: "EXPRESSION_TIMEOUT", reason: "it ran too long and was stopped" });
  });

  test.each([
    ["builtins in a loop", UNINTERRUPTIBLE],
    [
      "a long sort",
      "const a = Array.from({ length: 2e5 }, (_, i) => -i); for (let i = 0; i < 1e6; i++) a.sort()",
    ],
  ])("by ending its thread: %s", async (_, code) => {
    const result = await evaluate(code, { budgetMs: 1e6, deadlineMs: 300 });
    expect(result).toMatchObject({ code: "EXPRESSION_TIMEOUT", reason: "it was stopped after 300 ms" });
    expect(await codeOf("1 + 1", { budgetMs: 1e6 })).toBe("value 2");
  });

  test("two seconds are the limit by default", async () => {
    expect(await evaluate(UNINTERRUPTIBLE)).toMatchObject({ reason: "it was stopped after 2000 ms" });
    expect(await codeOf("1 + 1")).toBe("value 2");
  });

  test.each([
    ["a huge string", "'a'.repeat(1e9)"],
    ["a huge padding", "'a'.padEnd(2 ** 29)"],
    ["a huge array", "new Array(1e8).fill(0)"],
    ["a list that keeps doubling", "let a = [1]; for (;;) a = a.concat(a)"],
  ])("%s", async (_, code) => {
    expect(await codeOf(code)).toBe("EXPRESSION_MEMORY");
    expect(await codeOf("1 + 1")).toBe("value 2");
  });

  test.each([
    ["endless recursion", "const f = () => 1 + f(); return f()"],
    ["deep JSON", "JSON.parse('['.repeat(1e5))"],
    ["code in many brackets", `${"(".repeat(3_000)}1${")".repeat(3_000)}; throw 1`],
    ["a tower of proxies", "let p = {}; for (let i = 0; i < 1e4; i++) p = new Proxy(p, {}); return p.x"],
  ])("%s", async (_, code) => {
    expect(await codeOf(code)).toBe("EXPRESSION_THREW");
    expect(await codeOf("1 + 1")).toBe("value 2");
  });

  test("variables that are too large or too deep are refused", async () => {
    let deep: Evaluation["variables"] = {};
    for (let i = 0; i < 100_000; i++) deep = { deep };
    expect(await codeOf("1", { variables: deep })).toBe("EXPRESSION_MEMORY");
    expect(await codeOf("1", { variables: { large: "x".repeat(9_000_000) } })).toBe("EXPRESSION_MEMORY");
  });
});

describe("the budget", () => {
  const work = "let n = 0; for (let i = 0; i < 3e6; i++) n++; return n";

  test("is counted, so that the same code always ends the same way", async () => {
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => codeOf(work)));
    expect(new Set(verdicts)).toEqual(new Set(["EXPRESSION_TIMEOUT"]));
  });

  test("scales with budgetMs", async () => {
    expect(await codeOf(work, { budgetMs: 1_000, deadlineMs: HANG_MS })).toBe("value 3000000");
  });

  test("a deadline longer than a timer can be is no deadline at once", async () => {
    expect(await codeOf(work, { budgetMs: 1_000, deadlineMs: 2 ** 40 })).toBe("value 3000000");
  });
});

describe("others go on", () => {
  test("the caller's thread keeps turning while hostile code runs", async () => {
    let turns = 0;
    const stop = new AbortController();
    const turn = () => {
      turns++;
      if (turns < 1_000) setImmediate(turn);
      else stop.abort();
    };
    await evaluate("1");
    const hostile = codeOf(UNINTERRUPTIBLE, { deadlineMs: HANG_MS, signal: stop.signal });
    turn();
    expect(await hostile).toBe("EXPRESSION_STOPPED");
  });

  test("an evaluation does not wait for the hostile one before it", async () => {
    const order: string[] = [];
    const hostile = evaluate(UNINTERRUPTIBLE).then(() => order.push("hostile"));
    const honest = evaluate("1").then(() => order.push("honest"));
    await Promise.all([hostile, honest]);
    expect(order).toEqual(["honest", "hostile"]);
  });

  test("of a batch with hostile code in it only the hostile is refused", async () => {
    const codes = Array.from({ length: 40 }, (_, n) => (n === 5 || n === 20 ? UNINTERRUPTIBLE : String(n)));
    const results = await Promise.all(codes.map((code) => codeOf(code)));
    expect(results).toEqual(codes.map((_, n) => (n === 5 || n === 20 ? "EXPRESSION_TIMEOUT" : `value ${n}`)));
  });

  test("more hostile evaluations than threads: each is refused, none lost, and then work goes on", async () => {
    const hostile = Array.from({ length: 5 }, () => codeOf(UNINTERRUPTIBLE, { deadlineMs: 300 }));
    expect(await Promise.all(hostile)).toEqual(Array(5).fill("EXPRESSION_TIMEOUT"));
    expect(await codeOf("1")).toBe("value 1");
  });

  test("time in the queue does not count towards the deadline", async () => {
    sandbox = createSandbox({ scriptThreads: 1 });
    const long = { budgetMs: 1_000, deadlineMs: 2_500 };
    const first = codeOf(UNINTERRUPTIBLE, long);
    const second = codeOf("2", { budgetMs: 1_000, deadlineMs: 2_000 });
    expect(await Promise.all([first, second])).toEqual(["EXPRESSION_TIMEOUT", "value 2"]);
  });

  test.skipIf(process.platform !== "linux")(
    "time in which the machine does something else does not count either, up to a limit",
    async () => {
      await evaluate("1");
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const verdictAfter = async (deadlines: number): Promise<string> => {
        const verdict = codeOf("let n = 0; for (let i = 0; i < 3e5; i++) n++; return n");
        await Promise.resolve();
        vi.advanceTimersByTime(deadlines * EXPRESSION_DEADLINE_MS);
        return verdict;
      };
      expect(await verdictAfter(MAX_LIMITS_OF_WALL_TIME - 2)).toBe("value 300000");
      expect(await verdictAfter(MAX_LIMITS_OF_WALL_TIME + 1)).toBe("EXPRESSION_TIMEOUT");
    },
  );

  test("scripts do not hold up expressions", async () => {
    sandbox = createSandbox({ scriptThreads: 2 });
    const stop = new AbortController();
    const script = { budgetMs: 1e9, deadlineMs: 1e9, signal: stop.signal };
    const scripts = Array.from({ length: 4 }, () => codeOf("for (;;) {}", script));
    expect(await codeOf("1")).toBe("value 1");
    stop.abort();
    expect(await Promise.all(scripts)).toEqual(Array(4).fill("EXPRESSION_STOPPED"));
  });
});

describe("stopping", () => {
  test("an aborted evaluation settles at once, whether it runs, waits, or has not begun", async () => {
    sandbox = createSandbox({ scriptThreads: 1 });
    const stop = new AbortController();
    const endless = { budgetMs: 1e9, deadlineMs: 1e9, signal: stop.signal };
    await evaluate("1", { budgetMs: 1e9 });
    const running = codeOf("for (;;) {}", endless);
    const waiting = codeOf("for (;;) {}", endless);
    const other = codeOf("1", { budgetMs: 1e9 });
    await new Promise(setImmediate);
    stop.abort();
    expect(await Promise.all([running, waiting, other])).toEqual([
      "EXPRESSION_STOPPED",
      "EXPRESSION_STOPPED",
      "value 1",
    ]);
    expect(await codeOf("1", endless)).toBe("EXPRESSION_STOPPED");
  });

  test("aborting one of a batch leaves the others their results", async () => {
    const stop = new AbortController();
    await evaluate("1");
    const aborted = codeOf(UNINTERRUPTIBLE, { signal: stop.signal });
    const others = Array.from({ length: 10 }, (_, n) => codeOf(String(n)));
    await new Promise(setImmediate);
    stop.abort();
    expect(await aborted).toBe("EXPRESSION_STOPPED");
    expect(await Promise.all(others)).toEqual(Array.from({ length: 10 }, (_, n) => `value ${n}`));
  });

  test("closing settles everything, and nothing is evaluated afterwards", async () => {
    const open = [codeOf("for (;;) {}"), codeOf("1", { budgetMs: 1e9 })];
    await sandbox.close();
    expect(await Promise.all(open)).toEqual(["EXPRESSION_STOPPED", "EXPRESSION_STOPPED"]);
    expect(await codeOf("1")).toBe("EXPRESSION_STOPPED");
  });
});
