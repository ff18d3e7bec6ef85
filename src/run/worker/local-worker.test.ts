import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failureOf, judged } from "../../../test/support/error-record.js";
import type { Outcome } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import type { Action, Attempt } from "../action/action.js";
import type { AbortCause, Assignment } from "../worker.js";
import { contextArtifact, outputArtifact, summaryArtifact } from "./attempt-paths.js";
import { LocalWorker } from "./local-worker.js";
import type { LocalWorkerOptions } from "./local-worker-options.js";

const MAX_TEXT_CHARS = 4 * 1024;
/** No attempt here has a timer. */
const CLOCK: LocalWorkerOptions["clock"] = { now: () => 0, elapsed: () => 0, after: () => () => {} };
const SECRET = "correct-horse-battery";

let folder = "";
let workers: LocalWorker[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-worker-"));
});
afterEach(async () => {
  for (const worker of workers) await worker.close();
  workers = [];
  rmSync(folder, { recursive: true, force: true });
});

const ASSIGNMENT: Assignment = {
  runId: 1,
  workflowId: 1,
  jobId: 10_000_001,
  stepId: "a",
  attempt: 1,
  token: "token-of-the-attempt",
  startedAt: 0,
  action: { type: "trial" },
  env: {},
  secrets: [],
  cwd: tmpdir(),
  variables: {},
  timeoutMs: null,
  idleTimeoutMs: null,
  killGraceMs: 100,
  outputSchema: null,
  resources: null,
  summarize: null,
  returnCode: null,
  recovery: false,
  runsOn: [],
  lastWorker: null,
  failureContext: null,
  failureSource: null,
  failedAlready: null,
};

function trial(run: (attempt: Attempt) => Outcome<Json> | Promise<Outcome<Json>>, type = "trial"): Action {
  return { type, run: async (attempt) => run(attempt) };
}

async function execute(
  actions: readonly Action[],
  assignment: Partial<Assignment> = {},
  options: Partial<LocalWorkerOptions> & { signal?: AbortSignal } = {},
) {
  const { signal = new AbortController().signal, ...more } = options;
  const worker = new LocalWorker({ actions, outputDir: folder, clock: CLOCK, ...more });
  workers.push(worker);
  const { duration_ms: _, ...outcome } = await worker.run({ ...ASSIGNMENT, ...assignment }, null, signal);
  return outcome;
}

/** A file where a folder should be: nothing can be written below it. */
function block(file: string): void {
  mkdirSync(dirname(dirname(file)), { recursive: true });
  writeFileSync(dirname(file), "in the way");
}

describe("an attempt that is told to end", () => {
  const OWN: Outcome<Json> = { kind: "failed", facts: { message: "cannot roll back", exitCode: 7 } };
  const ENDED: Outcome<Json> = { kind: "stopped" };

  /** The attempt is told while its action runs, and settles like this. */
  function endedWith(result: Outcome<Json>, cause: AbortCause) {
    const controller = new AbortController();
    const action = trial(() => {
      controller.abort(cause);
      return result;
    });
    return execute([action], {}, { signal: controller.signal });
  }

  it("is stopped where it has not failed", async () => {
    expect(await endedWith(ENDED, "stopped")).toEqual({ kind: "stopped" });
    expect(await endedWith({ kind: "succeeded", output: 1 }, "stopped")).toEqual({ kind: "stopped" });
  });

  it("has failed where it failed on its own, with a summary as any failure", async () => {
    expect(await endedWith(OWN, "stopped")).toMatchObject({
      kind: "failed",
      facts: { message: "cannot roll back", exitCode: 7 },
    });
    expect(readFileSync(summaryArtifact(folder, ASSIGNMENT), "utf8")).toContain("EXIT_7");
  });

  it("is stopped however it ends where its engine lets go of the run", async () => {
    expect(await endedWith(OWN, "released")).toEqual({ kind: "stopped" });
  });
});

describe("an attempt whose files cannot be written", () => {
  it("fails with LOG_FAILED if its output does not fit into the log and cannot be kept", async () => {
    block(outputArtifact(folder, ASSIGNMENT));
    const result = await execute([trial(() => ({ kind: "succeeded", output: "x".repeat(100_000) }))]);
    if (result.kind !== "failed") throw new Error(`it is ${result.kind}`);
    expect(result.facts.message).toMatch(/^the output could not be written: (EEXIST|ENOTDIR)/);
    expect(judged(result.facts)).toMatchObject({ code: "LOG_FAILED", class: "infrastructure" });
  });

  it("fails with LOG_FAILED, and is not begun, if the context of the failure it handles cannot be kept", async () => {
    block(contextArtifact(folder, ASSIGNMENT).text);
    let begun = false;
    const action = trial(() => {
      begun = true;
      return { kind: "succeeded", output: null };
    });
    const failure = failureOf();
    const source = {
      workflowId: 1,
      runId: 1,
      jobId: 10_000_002,
      attempt: 1,
      step: "b",
      target: "a",
      ...({ route: "edge", round: 1, rounds: null, earlier: [], output: null } as const),
    };
    const failureSource = { ...source, failure, maxRetries: 0, retriesUsed: 0, upstream: [] };
    expect(await execute([action], { failureSource })).toMatchObject({
      kind: "failed",
      facts: { code: "LOG_FAILED", message: expect.stringMatching(/^what the attempt needs could not be/) },
    });
    expect(begun).toBe(false);
  });

  it("fails as it did if only the summary cannot be kept", async () => {
    block(summaryArtifact(folder, ASSIGNMENT));
    const action = trial(() => ({ kind: "failed", facts: { message: "no", exitCode: 7 } }));
    expect(await execute([action])).toMatchObject({ kind: "failed", facts: { message: "no", exitCode: 7 } });
  });

  it("never rejects, whatever goes wrong", async () => {
    const worker = new LocalWorker({ actions: [], outputDir: folder, clock: CLOCK, env: { KEY: SECRET } });
    workers.push(worker);
    const assignment = { ...ASSIGNMENT, secrets: ["KEY"] };
    Object.defineProperty(assignment, "resources", {
      get(): never {
        throw new Error(`no resources for ${SECRET}`);
      },
    });
    expect(await worker.run(assignment, null, new AbortController().signal)).toEqual({
      kind: "failed",
      duration_ms: expect.any(Number),
      facts: {
        code: "LOG_FAILED",
        message: "what the attempt left could not be written: no resources for [redacted:KEY]",
      },
    });
  });
});

describe("the texts of a failure", () => {
  it("are cut to 4 KB each, with both ends kept", async () => {
    const long = `first${"x".repeat(MAX_TEXT_CHARS)}last`;
    const failure = { message: long, stack: long, declared: { code: "MINE", message: long } };
    const result = await execute([trial(() => ({ kind: "failed", facts: failure }))]);
    if (result.kind !== "failed") throw new Error(`it is ${result.kind}`);
    const { message, stack = "", declared } = result.facts;
    expect(declared?.code).toBe("MINE");
    for (const text of [message, stack, declared?.message ?? ""]) {
      expect(text).toMatch(/^first.*characters dropped.*last$/s);
      expect(text.length).toBeLessThanOrEqual(MAX_TEXT_CHARS);
    }
  });

  it("are cut after they are redacted, so that no part of a secret is left at the cut", async () => {
    const messages = Array.from(
      { length: SECRET.length },
      (_, shift) => `${"-".repeat(shift)}${SECRET.repeat(400)}`,
    );
    for (const message of messages) {
      const action = trial(() => ({ kind: "failed", facts: { message } }));
      const result = await execute([action], { secrets: ["KEY"] }, { env: { KEY: SECRET } });
      expect(JSON.stringify(result)).not.toMatch(/horse|battery/);
    }
  });
});

describe("the environment of a step", () => {
  it("has the worker's address for DARUMA_API_URL, never an inherited one", async () => {
    const seen: (string | undefined)[] = [];
    const action = trial(({ env }) => {
      seen.push(env.DARUMA_API_URL);
      return { kind: "succeeded", output: null };
    });
    const env = { DARUMA_API_URL: "http://127.0.0.1:1" };
    await execute([action], {}, { env, apiUrl: "http://127.0.0.1:2" });
    await execute([action], {}, { env });
    expect(seen).toEqual(["http://127.0.0.1:2", ""]);
  });
});

describe("a step's own summarising command", () => {
  const failing = trial(() => ({ kind: "failed", facts: { message: "no", exitCode: 1 } }));

  it("carries the attempt's token", async () => {
    const command = trial(({ env, writeStdout }) => {
      writeStdout(new TextEncoder().encode(`token ${env.DARUMA_ATTEMPT_TOKEN}`));
      return { kind: "succeeded", output: null };
    }, "command");
    await execute([failing, command], { summarize: "sum up" });
    expect(readFileSync(summaryArtifact(folder, ASSIGNMENT), "utf8")).toBe("token token-of-the-attempt");
  });

  it("is ended with its attempt", async () => {
    const controller = new AbortController();
    let isEnded = false;
    const command = trial(({ signal }) => {
      controller.abort();
      isEnded = signal.aborted;
      return { kind: "failed", facts: { message: "ended" } };
    }, "command");
    await execute([failing, command], { summarize: "sum up" }, { signal: controller.signal });
    expect(isEnded).toBe(true);
  });
});
