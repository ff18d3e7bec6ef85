import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Outcome } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import { endProcessesWithToken } from "../process/attempt-processes.js";
import { createProcessHost } from "../process/create-process-host.js";
import type { Attempt, StopCause } from "./action.js";
import { createCommandAction, MAX_OUTPUT_CAPTURE_BYTES } from "./command.js";

const host = createProcessHost();
const action = createCommandAction(host);
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-command-"));
});
afterAll(async () => {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
});

class Trial {
  readonly token = randomUUID();
  readonly abort = new AbortController();
  stdout = "";
  stderr = "";
  used: Outcome["used"];
  private onOutput = (): void => {};

  constructor(
    private readonly exec: Json,
    private readonly more: { readonly stdin?: string; readonly killGraceMs?: number } = {},
  ) {}

  /** What its processes used differs from time to time: it is put aside. */
  async run(): Promise<Outcome<Json>> {
    const { used, ...result } = await action.run(this.attempt());
    this.used = used;
    return result;
  }

  stop(cause: StopCause): void {
    this.abort.abort(cause);
  }

  printed(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.onOutput = () => this.stdout.includes(text) && resolve();
      this.onOutput();
    });
  }

  private attempt(): Attempt {
    const outputFile = join(folder, `${this.token}.output`);
    const failureFile = join(folder, `${this.token}.failure`);
    const { stdin, killGraceMs } = this.more;
    return {
      runId: 1,
      workflowId: 1,
      jobId: 10_000_001,
      stepId: "step",
      attempt: 1,
      token: this.token,
      action: { type: "command", exec: this.exec, ...(stdin === undefined ? {} : { stdin }) },
      env: {
        PATH: process.env.PATH!,
        DARUMA_ATTEMPT_TOKEN: this.token,
        DARUMA_OUTPUT: outputFile,
        DARUMA_FAILURE: failureFile,
      },
      cwd: folder,
      variables: {},
      startedAt: 0,
      timeoutMs: 600,
      idleTimeoutMs: 60,
      killGraceMs: killGraceMs ?? 30_000,
      writeStdout: (chunk) => {
        this.stdout += Buffer.from(chunk).toString();
        this.onOutput();
      },
      writeStderr: (chunk) => {
        this.stderr += Buffer.from(chunk).toString();
      },
      outputFile,
      failureFile,
      signal: this.abort.signal,
    };
  }
}

async function outputOf(exec: Json, stdin?: string): Promise<Json> {
  const result = await new Trial(exec, stdin === undefined ? {} : { stdin }).run();
  if (result.kind !== "succeeded") throw new Error(JSON.stringify(result));
  return result.output;
}

async function failureOf(exec: Json): Promise<FailureFacts> {
  const result = await new Trial(exec).run();
  if (result.kind !== "failed") throw new Error("it succeeded");
  return result.facts;
}

describe("the output of a command", () => {
  it.each<[string, Json]>([
    ["echo hello", "hello"],
    ["printf 'two\\nlines\\n\\n'", "two\nlines\n"],
    ["printf ''", ""],
    ['echo \'{"a": [1, "x", null]}\'', { a: [1, "x", null] }],
    ["echo 12", 12],
    ["echo 12 13", "12 13"],
  ])("is its stdout, as JSON where it is JSON: %s", async (exec, output) => {
    expect(await outputOf(exec)).toEqual(output);
  });

  it("stays text where a number could not hold it", async () => {
    expect(await outputOf("echo 12345678901234567890")).toBe("12345678901234567890");
    expect(await outputOf("echo 1e999")).toBe("1e999");
    expect(await outputOf("echo 42")).toBe(42);
  });

  it("is the JSON in $DARUMA_OUTPUT where the step wrote it", async () => {
    expect(await outputOf('echo noise; echo \'{"version": 3}\' > "$DARUMA_OUTPUT"')).toEqual({ version: 3 });
    expect(await outputOf('echo noise; echo null > "$DARUMA_OUTPUT"')).toBeNull();
  });

  it.each([
    ["echo '{broken' > \"$DARUMA_OUTPUT\"", "not valid JSON"],
    [': > "$DARUMA_OUTPUT"', "empty"],
    ['mkdir "$DARUMA_OUTPUT"', "not a regular file"],
    ['mkfifo "$DARUMA_OUTPUT"', "not a regular file"],
    ['head -c 17000000 /dev/zero > "$DARUMA_OUTPUT"', "larger than"],
  ])("is refused: %s", async (exec, defect) => {
    const failure = await failureOf(exec);
    expect(failure).toMatchObject({ code: "OUTPUT_INVALID", message: expect.stringContaining(defect) });
  });

  it("is the first part of a long stdout, whole characters, while the log gets everything", async () => {
    const trial = new Trial(["sh", "-c", "printf x; yes ☂ | tr -d '\\n' | head -c 3000000; echo"]);
    const result = await trial.run();
    if (result.kind !== "succeeded") throw new Error(JSON.stringify(result));
    const output = result.output as string;
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(MAX_OUTPUT_CAPTURE_BYTES);
    expect(Buffer.byteLength(output)).toBeGreaterThan(MAX_OUTPUT_CAPTURE_BYTES - 3);
    expect(/^x☂+$/.test(output)).toBe(true);
    expect(trial.stdout.length).toBeGreaterThan(1_000_000);
  });

  it("comes from a list without a shell, and from stdin that was given", async () => {
    expect(await outputOf(["printf", "%s|", "$HOME", "a b"])).toBe("$HOME|a b|");
    expect(await outputOf("cat", "from stdin")).toBe("from stdin");
  });

  it("is streamed to the attempt, each side to its own", async () => {
    const trial = new Trial("echo out; echo err >&2");
    await trial.run();
    expect([trial.stdout, trial.stderr]).toEqual(["out\n", "err\n"]);
  });
});

describe("the failure of a command", () => {
  it("has the exit code and the last line of stderr that says anything", async () => {
    const failure = await failureOf(
      "echo first >&2; printf '\\033[31mno such module\\033[0m\\n\\n  \\n' >&2; exit 3",
    );
    expect(failure).toEqual({ message: "exit code 3", said: "no such module", exitCode: 3 });
    expect(await failureOf("exit 4")).toEqual({ message: "exit code 4", said: "", exitCode: 4 });
  });

  it("has the line that says what broke, not what follows it, and from stdout where stderr does not say it", async () => {
    const node = await failureOf(["node", "-e", "throw new Error('no such module')"]);
    expect(node.said).toBe("Error: no such module");
    const npm = await failureOf(
      "echo 'src/a.ts(3,5): error TS2322: no'; echo 'Found 1 error.'; echo 'npm warn Unknown user config' >&2; exit 2",
    );
    expect(npm.said).toBe("src/a.ts(3,5): error TS2322: no");
    const { said } = await failureOf(
      "echo 'error: the beginning of it'; yes 'all is well here' | head -n 5000; exit 2",
    );
    expect(said).toBe("");
  });

  it("keeps a long line short", async () => {
    const { said } = await failureOf("head -c 5000 /dev/zero | tr '\\0' x >&2; exit 1");
    expect(said).toMatch(/^x{200}…$/);
  });

  it("has the signal that ended it", async () => {
    expect(await failureOf("kill -SEGV $$")).toEqual({
      message: "ended by signal SIGSEGV",
      said: "",
      signal: "SIGSEGV",
    });
  });

  it("says what could not be started", async () => {
    expect(await failureOf(["no-such-program-here"])).toEqual({
      code: "SPAWN_ERROR",
      errno: "ENOENT",
      message: "command no-such-program-here: no such file or directory (ENOENT)",
    });
    expect(await failureOf(["true", "x".repeat(4_000_000)])).toMatchObject({
      code: "SPAWN_ERROR",
      errno: "E2BIG",
    });
  });

  it("carries what the step declared in $DARUMA_FAILURE", async () => {
    const json =
      '{"code":"DB_DOWN","message":"no database","retryable":false,"retry_after_ms":1500,"more":1}';
    const failure = await failureOf(`echo '${json}' > "$DARUMA_FAILURE"; exit 9`);
    expect(failure).toEqual({
      message: "exit code 9",
      said: "",
      exitCode: 9,
      declared: { code: "DB_DOWN", message: "no database", retryable: false, retryAfterMs: 1500 },
    });
  });

  it.each([
    ["echo nonsense", "not valid JSON"],
    ["echo '[]'", "not a JSON object"],
    ["echo '{\"code\": 5}'", "code is not a string"],
    ["echo '{\"message\": {}}'", "message is not a string"],
    ['echo \'{"retryable": "no"}\'', "retryable is neither true nor false"],
    ["echo '{\"retry_after_ms\": -1}'", "retry_after_ms is not a duration"],
    ["head -c 65537 /dev/zero", "larger than 65536 bytes"],
  ])("says that a declaration made by `%s` could not be used", async (print, defect) => {
    const failure = await failureOf(`${print} > "$DARUMA_FAILURE"; exit 9`);
    expect(failure.message).toContain(`exit code 9 ($DARUMA_FAILURE was ignored: ${defect}`);
    expect(failure.declared).toBeUndefined();
  });
});

describe.runIf(process.platform === "linux")("what the processes of a command used", () => {
  it.each([["env true"], ["env false"], ["kill -9 $$"]])("is in the result of %s", async (exec) => {
    const trial = new Trial(exec);
    await trial.run();
    const amount = expect.any(Number);
    const used = { peak_memory_bytes: amount, cpu_ms: amount, read_bytes: amount, written_bytes: amount };
    expect(trial.used).toEqual(used);
  });

  it("is in the result of one that was stopped", async () => {
    const trial = new Trial("echo ready; while :; do sleep 0.01; done");
    const result = trial.run();
    await trial.printed("ready");
    trial.stop("timeout");
    await result;
    expect(trial.used).toBeDefined();
  });

  it("is missing where nothing was started", async () => {
    const trial = new Trial(["no-such-program-here"]);
    await trial.run();
    expect(trial.used).toBeUndefined();
  });
});

describe("a command that is stopped", () => {
  const exitedAt = expect.any(Number);
  const STOPPED = { kind: "stopped", exitedAt };

  /** A command that does this on SIGTERM, stopped while it runs. */
  async function stopWhileRunning(onTerm: string, cause: StopCause, more?: { killGraceMs: number }) {
    const trial = new Trial(`${onTerm}; echo ready; while :; do sleep 0.01; done`, more);
    const result = trial.run();
    await trial.printed("ready");
    trial.stop(cause);
    return result;
  }

  it.each<[StopCause, FailureFacts]>([
    ["timeout", { message: "timed out after 600 ms", timeout: "wall" }],
    ["idle_timeout", { message: "printed nothing for 60 ms", timeout: "idle" }],
  ])("because of %s says so, whatever it exits with", async (cause, failure) => {
    expect(await stopWhileRunning("trap 'exit 0' TERM", cause)).toEqual({
      kind: "failed",
      facts: failure,
      exitedAt,
    });
    expect(await stopWhileRunning("trap 'exit 7' TERM", cause)).toEqual({
      kind: "failed",
      facts: failure,
      exitedAt,
    });
  });

  it.each<[string, string, { killGraceMs: number }?]>([
    ["dies of the signal", ":"],
    ["ignores it until it is killed", "trap '' TERM", { killGraceMs: 200 }],
    ["catches it and exits with 0", "trap 'exit 0' TERM"],
    ["catches it and exits with 128 + 15, as is the custom", "trap 'exit 143' TERM"],
  ])("because nobody wants it any more has not failed where it %s", async (_, onTerm, more) => {
    expect(await stopWhileRunning(onTerm, "stopped", more)).toEqual(STOPPED);
  });

  it("because nobody wants it any more has failed where its clean-up fails, with its own words", async () => {
    const onTerm = `trap 'echo "cannot roll back" >&2; exit 7' TERM`;
    expect(await stopWhileRunning(onTerm, "stopped")).toEqual({
      kind: "failed",
      facts: { message: "exit code 7", said: "cannot roll back", exitCode: 7 },
      exitedAt,
    });
  });

  it("after its main process has failed has failed, although others of its group were still at work", async () => {
    const trial = new Trial(`trap '' TERM; sleep 1000 & echo "disk is full" >&2; echo ready; exit 5`, {
      killGraceMs: 200,
    });
    const result = trial.run();
    await trial.printed("ready");
    trial.stop("stopped");
    expect(await result).toEqual({
      kind: "failed",
      facts: { message: "exit code 5", said: "disk is full", exitCode: 5 },
      exitedAt,
    });
  });

  it("is not even started when it was stopped before", async () => {
    const trial = new Trial("echo started");
    trial.stop("stopped");
    expect((await trial.run()).kind).toBe("stopped");
    expect(trial.stdout).toBe("");
  });

  it("takes children with it that ignore SIGTERM or have left its group", async () => {
    const stubborn = 'trap "" TERM; echo ready; sleep 1000; sleep 1000';
    const trial = new Trial(`setsid sh -c '${stubborn}' & sh -c '${stubborn}' & wait; wait`, {
      killGraceMs: 20,
    });
    const result = trial.run();
    await trial.printed("ready\nready");
    trial.stop("timeout");
    expect(await result).toMatchObject({ kind: "failed", facts: { timeout: "wall" } });
    expect(execFileSync("sh", ["-c", `grep -ls ${trial.token} /proc/[0-9]*/environ || :`]).toString()).toBe(
      "",
    );
    expect(await endProcessesWithToken(trial.token)).toBe(0);
  });
});
