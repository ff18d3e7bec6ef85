import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judged } from "../../../test/support/error-record.js";
import type { FailureFacts } from "../model/failure.js";
import { isRetryable, judgeEnd } from "./judge.js";

const facts = (part: Partial<FailureFacts>): FailureFacts => ({ message: "it broke", ...part });
const kindOf = (part: Partial<FailureFacts>) => {
  const { code, class: kind, retryable } = judged(facts(part));
  return [code, kind, retryable];
};

describe("judge, by typed facts", () => {
  it.each([
    [{ timeout: "wall" }, "TIMEOUT", "transient_runtime", true],
    [{ timeout: "idle" }, "IDLE_TIMEOUT", "transient_runtime", true],
    [{ lost: true }, "WORKER_LOST", "infrastructure", true],
    [{ code: "TEMPLATE_ERROR" }, "TEMPLATE_ERROR", "deterministic_contract", false],
    [{ code: "OUTPUT_INVALID" }, "OUTPUT_INVALID", "deterministic_contract", false],
    [{ code: "MISSING_SECRET" }, "MISSING_SECRET", "deterministic_policy", false],
    [{ code: "SPAWN_ERROR" }, "SPAWN_ERROR", "deterministic_contract", false],
    [{ code: "SPAWN_ERROR", errno: "EAGAIN" }, "SPAWN_ERROR", "transient_runtime", true],
    [{ code: "SCRIPT_ERROR" }, "SCRIPT_ERROR", "application", true],
    [{ code: "MY_OWN" }, "MY_OWN", "application", true],
    [{ errno: "ECONNREFUSED" }, "NETWORK_ERROR", "transient_runtime", true],
    [{ errno: "ENOTFOUND" }, "NETWORK_ERROR", "transient_runtime", true],
    [{ errno: "ENOENT" }, "SPAWN_ERROR", "deterministic_contract", false],
    [{ errno: "CERT_HAS_EXPIRED" }, "NETWORK_ERROR", "deterministic_policy", false],
    [{ errno: "EWEIRD" }, "EWEIRD", "application", true],
    [{ signal: "SIGSEGV" }, "SIGNALED", "transient_runtime", true],
    [{ exitCode: 3 }, "EXIT_3", "application", true],
    [{ exitCode: 126 }, "EXIT_126", "application", true],
    [{ exitCode: 127 }, "EXIT_127", "deterministic_contract", false],
  ] as const)("%j is %s, %s, retryable %s", (part, code, kind, retryable) => {
    expect(kindOf(part)).toEqual([code, kind, retryable]);
  });
  it.each([
    [429, "transient_runtime"],
    [408, "transient_runtime"],
    [500, "transient_runtime"],
    [502, "transient_runtime"],
    [503, "transient_runtime"],
    [504, "transient_runtime"],
    [400, "deterministic_contract"],
    [404, "deterministic_contract"],
    [409, "deterministic_contract"],
    [422, "deterministic_contract"],
    [501, "deterministic_contract"],
    [302, "deterministic_contract"],
    [401, "deterministic_policy"],
    [403, "deterministic_policy"],
  ] as const)("HTTP %i is its own code and %s", (httpStatus, kind) => {
    expect(kindOf({ httpStatus })).toEqual([String(httpStatus), kind, kind === "transient_runtime"]);
  });
  it("trusts them in order: timeout, lost, code, status, errno, signal, exit code", () => {
    const all = {
      timeout: "wall",
      lost: true,
      code: "TEMPLATE_ERROR",
      httpStatus: 503,
      errno: "EPIPE",
      signal: "SIGKILL",
      exitCode: 1,
    };
    const order = ["TIMEOUT", "WORKER_LOST", "TEMPLATE_ERROR", "503", "NETWORK_ERROR", "SIGNALED", "EXIT_1"];
    const names = Object.keys(all);
    order.forEach((code, place) => {
      const left = Object.fromEntries(Object.entries(all).filter(([name]) => names.indexOf(name) >= place));
      expect(judged(facts(left as Partial<FailureFacts>)).code).toBe(code);
    });
  });
  it("pays no heed to words when there is a typed fact", () => {
    const message = "401 unauthorized: validation failed, merge conflict";
    expect(kindOf({ exitCode: 1, message })).toEqual(["EXIT_1", "application", true]);
    expect(kindOf({ httpStatus: 503, message: "503 invalid response" })).toEqual([
      "503",
      "transient_runtime",
      true,
    ]);
  });
  it("never lets a deterministic class be retryable by itself", () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            message: fc.string(),
            httpStatus: fc.integer({ min: 100, max: 599 }),
            exitCode: fc.nat(255),
            errno: fc.string(),
            code: fc.string(),
          },
          { requiredKeys: ["message"] },
        ),
        (anyFacts) => {
          const failure = judged(anyFacts);
          if (failure.class.startsWith("deterministic_")) expect(failure.retryable).toBe(false);
        },
      ),
    );
  });
});

describe("judge, what the step declares", () => {
  it("names the code and message, and keeps the observed class and exit code", () => {
    const failure = judged(
      facts({
        exitCode: 7,
        declared: { code: "NO_STOCK", message: "sold out", retryAfterMs: 50 },
        retryAfterMs: 9,
      }),
    );
    expect(failure).toMatchObject({
      code: "NO_STOCK",
      class: "application",
      message: "sold out",
      exit_code: 7,
      retry_after_ms: 50,
      retryable: true,
    });
  });
  it("takes no escapes, line breaks or marks that turn a line into code and message", () => {
    const failure = judged(
      facts({
        exitCode: 7,
        declared: {
          code: "NO\x1b[31m_STOCK\n  +1.0s  a\u202e completed",
          message: "\x1b]0;title\x07sold\u202e out\r\nat 9\x07",
        },
      }),
    );
    expect(failure).toMatchObject({ code: "NO_STOCK +1.0s a completed", message: "sold out\nat 9" });
  });
  it("cuts a code to 100 characters, and does without one of which nothing is left", () => {
    const codeOf = (code: string) => judged(facts({ exitCode: 7, declared: { code } })).code;
    expect(codeOf("x".repeat(101))).toBe("x".repeat(100));
    expect(codeOf("\x1b[31m \n")).toBe("EXIT_7");
  });
  it("takes the class of a code it knows", () => {
    expect(kindOf({ exitCode: 1, declared: { code: "503" } })).toEqual(["503", "transient_runtime", true]);
    expect(kindOf({ exitCode: 1, declared: { code: "OUTPUT_INVALID" } })).toEqual([
      "OUTPUT_INVALID",
      "deterministic_contract",
      false,
    ]);
  });
  it("lets retryable override both ways", () => {
    expect(judged(facts({ exitCode: 1, declared: { retryable: false } })).retryable).toBe(false);
    expect(judged(facts({ httpStatus: 400, declared: { retryable: true } })).retryable).toBe(true);
  });
  it("does not let a step pass for a lost worker", () => {
    expect(kindOf({ exitCode: 1, declared: { code: "WORKER_LOST" } })).toEqual([
      "EXIT_1",
      "application",
      true,
    ]);
  });
});

describe("judge, by words", () => {
  it.each([
    ["503 upstream sent an invalid response", "503", "transient_runtime"],
    ["upstream: HTTP 503: invalid request", "503", "transient_runtime"],
    ["request failed with status code 404", "404", "deterministic_contract"],
    ["got HTTP/1.1 502 from proxy", "502", "transient_runtime"],
    ["server said 429 Too Many Requests", "429", "transient_runtime"],
    ["rate limit reached, slow down", "429", "transient_runtime"],
    ["read ECONNRESET", "NETWORK_ERROR", "transient_runtime"],
    ["socket hang up", "NETWORK_ERROR", "transient_runtime"],
    ["CONFLICT: merge conflict in a.txt", "REPO_ERROR", "deterministic_repo"],
    ["authentication failed for bob", "ACCESS_DENIED", "deterministic_policy"],
    ["validation failed: name is missing", "VALIDATION_ERROR", "deterministic_contract"],
    ["could not listen on port 5029", "ACTION_FAILED", "application"],
    ["port 502 is taken", "ACTION_FAILED", "application"],
    ["500 files were broken", "ACTION_FAILED", "application"],
    ["error at line 503", "ACTION_FAILED", "application"],
    ["something else", "ACTION_FAILED", "application"],
  ])("%s: %s", (message, code, kind) => {
    expect(kindOf({ message }).slice(0, 2)).toEqual([code, kind]);
  });
  it("reads the end of stderr too", () => {
    expect(judged(facts({ stderrTail: "curl: connection refused" })).code).toBe("NETWORK_ERROR");
  });
});

describe("the error record", () => {
  it("gives rules an exit code: the code, 128 + signal, 124 for timeouts, none for HTTP", () => {
    expect(judged(facts({ exitCode: 9 })).exit_code).toBe(9);
    expect(judged(facts({ signal: "SIGKILL" })).exit_code).toBe(137);
    expect(judged(facts({ signal: "SIGTERM" })).exit_code).toBe(143);
    expect(judged(facts({ timeout: "wall", exitCode: 143 })).exit_code).toBe(124);
    expect(judged(facts({ timeout: "idle" })).exit_code).toBe(124);
    expect(judged(facts({ httpStatus: 500 })).exit_code).toBeNull();
  });
  it("names the signal in the message, once", () => {
    expect(judged(facts({ signal: "SIGSEGV" })).message).toBe("it broke (ended by SIGSEGV)");
    expect(judged(facts({ signal: "SIGSEGV", message: "died of SIGSEGV" })).message).toBe("died of SIGSEGV");
    expect(judged(facts({ signal: "SIGSEGV", message: "" })).message).toBe("ended by SIGSEGV");
  });
  it("carries tails and stack, empty where there are none", () => {
    expect(judged(facts({ stdoutTail: "o", stderrTail: "e", stack: "s" }))).toMatchObject({
      stdout_tail: "o",
      stderr_tail: "e",
      stack_trace: "s",
    });
    expect(judged(facts({ exitCode: 1 }))).toMatchObject({
      stdout_tail: "",
      stderr_tail: "",
      stack_trace: null,
      signal: null,
      retry_after_ms: null,
    });
  });
});

describe("isRetryable", () => {
  const exit = judged(facts({ exitCode: 1 }));
  const missing = judged(facts({ httpStatus: 404 }));
  it("goes by the failure when `on` is empty", () => {
    expect(isRetryable(exit, [])).toBe(true);
    expect(isRetryable(missing, [])).toBe(false);
  });
  it("narrows to the codes and classes that `on` names", () => {
    expect(isRetryable(exit, ["503", "TIMEOUT"])).toBe(false);
    expect(isRetryable(exit, ["EXIT_1"])).toBe(true);
    expect(isRetryable(exit, ["application"])).toBe(true);
    expect(isRetryable(exit, ["transient_runtime"])).toBe(false);
  });
  it("lets a named code win over its class, but not a named class", () => {
    expect(isRetryable(missing, ["404"])).toBe(true);
    expect(isRetryable(missing, ["deterministic_contract"])).toBe(false);
  });
  it("does not retry what the step itself called not retryable", () => {
    const refused = judged(facts({ exitCode: 1, declared: { retryable: false } }));
    expect(isRetryable(refused, ["EXIT_1"])).toBe(false);
    expect(isRetryable(refused, ["application"])).toBe(false);
  });
});

describe("what ends a job or a run by itself", () => {
  it("has its class by its code: the table's, that of an HTTP status, else the application's", () => {
    const classOf = (code: string) => judgeEnd(code, "m").class;
    expect(["LOOP_BUDGET_EXCEEDED", "RUN_CANCELED", "FAIL_FAST"].map(classOf)).toEqual(
      Array(3).fill("deterministic_policy"),
    );
    expect([classOf("RESET_FAILED"), classOf("STALLED")]).toEqual(["deterministic_repo", "infrastructure"]);
    expect([classOf("503"), classOf("EXIT_3"), classOf("MINE")]).toEqual([
      "transient_runtime",
      "application",
      "application",
    ]);
    expect(judgeEnd("503", "m").retryable).toBe(true);
    expect(judgeEnd("IF_FAILED", "m").retryable).toBe(false);
  });
});
