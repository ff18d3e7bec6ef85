import { describe, expect, it } from "vitest";
import { MAX_CONTEXT_CHARS_TOTAL } from "./context-assembly.js";
import type { FailureContextInput } from "./failure-context.js";
import { assemblePrompt, type PromptInput, type RetryPart } from "./prompt.js";

const input = (part: Partial<PromptInput> = {}): PromptInput => ({
  objective: "Make the build green.",
  step: "mend",
  instructions: "Repair what fails.",
  system: null,
  bare: false,
  failure: null,
  upstream: [],
  retry: null,
  hint: null,
  earlierFiles: [],
  ...part,
});

const failure = (stderr: string): FailureContextInput => ({
  runId: 1,
  route: "edge",
  round: 1,
  rounds: null,
  earlier: [],
  output: null,
  targetStep: "mend",
  sourceStep: "test",
  sourceJob: 10_000_001,
  sourceAttempt: 2,
  failureArtifact: null,
  retrySummaryArtifact: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  maxRetries: 1,
  retriesOver: "1 of 1 retries used",
  failure: { code: "EXIT_1", class: "application", message: "exit code 1", exit_code: 1, signal: null },
  stderr,
  stdout: "",
  retrySummary: null,
});

const retry = (part: Partial<RetryPart> = {}): RetryPart => ({
  attempt: 1,
  failure: { code: "EXIT_1", class: "application", message: "exit code 1", exit_code: 1 },
  signature: "v1:abc",
  stderr: "boom",
  stdout: "",
  repairs: [],
  summary: null,
  lastCommand: "agent --quick",
  changes: null,
  ...part,
});

const statusOf = (prompt: ReturnType<typeof assemblePrompt>) =>
  Object.fromEntries(prompt.manifest.parts.map(({ name, status }) => [name, status]));

describe("the prompt of a first attempt", () => {
  it("has objective, step and instructions", () => {
    const prompt = assemblePrompt(input());
    expect(prompt.text).toBe(
      "objective:\nMake the build green.\n\nstep: mend\n\ninstructions:\nRepair what fails.\n",
    );
    expect(prompt.system).toBeNull();
    expect(prompt.manifest.total_chars).toBe(prompt.text.length);
    expect(statusOf(prompt)).toEqual({ objective: "included", instructions: "included" });
  });

  it("is the author's words alone where it is bare", () => {
    const prompt = assemblePrompt(input({ bare: true }));
    expect(prompt.text).toBe("Repair what fails.");
    expect(statusOf(prompt)).toEqual({ instructions: "included" });
  });

  it("goes on with the failure that led here, then with upstream outputs in order", () => {
    const { text } = assemblePrompt(
      input({
        failure: failure("boom"),
        upstream: [
          { step: "plan", text: "the plan" },
          { step: "docs", text: "the docs" },
        ],
      }),
    );
    const places = ["Repair what fails.", "DARUMA_FAILURE_ROUTE_CONTEXT v1", "the plan", "the docs"].map(
      (part) => text.indexOf(part),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

describe("the prompt of a retry", () => {
  it("has the minimal retry context in place of the plain words, and the same surroundings", () => {
    const { text } = assemblePrompt(
      input({ retry: retry(), failure: failure("x"), upstream: [{ step: "plan", text: "the plan" }] }),
    );
    expect(text).toMatch(/^DARUMA_RETRY_CONTEXT v1\n/);
    expect(text).toContain("objective:\nMake the build green.");
    expect(text).toContain("instructions:\nRepair what fails.");
    expect(text).toContain("last_command: agent --quick");
    expect(text).toContain("DARUMA_FAILURE_ROUTE_CONTEXT v1");
    expect(text).toContain("the plan");
  });

  it("tells a bare one its objective, too", () => {
    expect(assemblePrompt(input({ bare: true, retry: retry() })).text).toContain(
      "objective:\nMake the build green.",
    );
  });
});

describe("the budget of a prompt", () => {
  const long = (letter: string) => letter.repeat(100_000);

  it.each([
    ["first attempt", null],
    ["retry", retry({ stderr: long("e"), changes: { files: Array(900).fill(long("f")), diffHash: "d1" } })],
  ])("is kept by a %s whose every part is too long", (_, again) => {
    const prompt = assemblePrompt(
      input({
        objective: long("o"),
        instructions: long("i"),
        system: long("s"),
        failure: failure(long("x")),
        upstream: [{ step: "plan", text: long("u") }],
        retry: again,
      }),
    );
    const total = prompt.text.length + (prompt.system?.length ?? 0);
    expect(total).toBeLessThanOrEqual(MAX_CONTEXT_CHARS_TOTAL);
    expect(prompt.manifest.total_chars).toBe(total);
    const instructions = prompt.manifest.parts.find(({ name }) => name === "instructions")!;
    expect(instructions.included_chars).toBeGreaterThan(7_000);
    expect(statusOf(prompt)).toMatchObject({
      system: "cut",
      objective: "cut",
      instructions: "cut",
      "failure.stderr": "cut",
      "upstream.plan": "dropped",
    });
  });

  it("reserves the failure's room before the instructions, and gives upstream what is left", () => {
    const prompt = assemblePrompt(
      input({
        instructions: long("i"),
        failure: failure(long("x")),
        upstream: [{ step: "plan", text: "the plan" }],
      }),
    );
    expect(prompt.text).toContain("DARUMA_FAILURE_ROUTE_CONTEXT v1");
    expect(/x{2000}/.test(prompt.text)).toBe(true);
    expect(statusOf(prompt)).toMatchObject({ instructions: "cut", "upstream.plan": "dropped" });
  });
});
