import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failureOf, judged } from "../../../test/support/error-record.js";
import type { ActionDefinition } from "../../core/model/definition.js";
import { createRedactor } from "../../core/redaction/redaction.js";
import type { Assignment } from "../worker.js";
import { logFile, promptArtifact, runLogFolder, summaryArtifact } from "./attempt-paths.js";
import { withPromptFiles, writePrompt } from "./prompt-files.js";

const SECRET = "Tr0ub4dor-and-3";
const redactor = createRedactor([{ name: "TOKEN", value: SECRET }]);
let base: string;

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "daruma-prompt-"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function told(action: ActionDefinition, more: Partial<Assignment> = {}) {
  const assignment = {
    workflowId: 1,
    runId: 1,
    jobId: 10_000_001,
    attempt: 2,
    stepId: "mend",
    startedAt: 0,
    action,
    failureSource: null,
    summarize: null,
    ...more,
  } as Partial<Assignment> as Assignment;
  const prompt = writePrompt(base, assignment, { objective: "o", upstream: [] }, redactor);
  const files = promptArtifact(base, assignment);
  return { prompt, stored: readFileSync(files.text, "utf8"), manifest: readFileSync(files.manifest, "utf8") };
}

const failure = failureOf(judged({ message: "exit code 1", exitCode: 1, stderrTail: "boom" }));

describe("a prompt without secrets", () => {
  it("hides them in the step's own words before it is stored or handed on", { tags: ["M35"] }, () => {
    const { prompt, stored } = told({
      type: "llm_call",
      prompt: `use ${SECRET}`,
      system: `you are ${SECRET}`,
    });
    expect(prompt).toMatchObject({ text: "use [redacted:TOKEN]", system: "you are [redacted:TOKEN]" });
    expect(stored).toBe(prompt.text);
  });

  it("hides them in objective, hint and names of changed files", { tags: ["M34", "M35"] }, () => {
    const { prompt, manifest } = told(
      { type: "agent", exec: ["agent", `--key=${SECRET}`], prompt: "p", objective: `for ${SECRET}` },
      {
        retry: {
          ...{ attempt: 1, failure, signature: "v1:x", repairs: [] },
          ...{ changedFiles: [`${SECRET}.txt`], diffHash: "d1ff" },
        },
        hint: { text: `not ${SECRET}`, by: "ann" },
      },
    );
    expect(prompt.text + manifest).not.toContain(SECRET);
    expect(prompt.text).toContain("objective:\nfor [redacted:TOKEN]\n");
    expect(prompt.text).toContain("\nnot [redacted:TOKEN]\n");
    expect(prompt.text).not.toContain("last_command");
    expect(prompt.text).toContain("changed_files: 1\n- [redacted:TOKEN].txt\n");
    expect(prompt.text).toContain("diff_hash: d1ff\n");
  });

  it("stays within its budget though labels are longer than what they hide", () => {
    const words = `${SECRET.slice(0, 4)}`;
    const short = createRedactor([{ name: "A_LONG_NAME_FOR_A_SECRET", value: words }]);
    const assignment = {
      ...{ workflowId: 1, runId: 1, jobId: 10_000_001, attempt: 3, stepId: "mend", startedAt: 0 },
      action: { type: "llm_call", prompt: `${words} `.repeat(6_000) },
      failureSource: null,
      summarize: null,
    } as Partial<Assignment> as Assignment;
    const { text } = writePrompt(base, assignment, { objective: "o", upstream: [] }, short);
    expect(text).not.toContain(words);
    expect(text.length).toBeLessThanOrEqual(32_000);
  });
});

describe("a prompt for a worker that does not have the files", () => {
  it("is the same as here: the failure that led to it and the summary of its own go along", () => {
    const name = { workflowId: 1, runId: 1, jobId: 10_000_001 };
    const source = { ...name, jobId: 10_000_002, attempt: 1 };
    mkdirSync(runLogFolder(base, source.runId), { recursive: true });
    mkdirSync(dirname(summaryArtifact(base, source)), { recursive: true });
    writeFileSync(logFile(base, source, "stderr"), "three tests are red\n");
    writeFileSync(summaryArtifact(base, { ...name, attempt: 1 }), "SUMMED UP");
    const { failureSource, ...rest } = {
      ...name,
      attempt: 2,
      stepId: "mend",
      startedAt: 0,
      action: { type: "agent", exec: ["agent"], prompt: "mend it" },
      summarize: "sum up",
      promptMaterial: {
        objective: "o",
        upstream: [],
      },
      retry: { attempt: 1, failure, signature: "v1:x", repairs: [] },
      failureSource: {
        ...source,
        step: "test",
        target: "mend",
        ...({ route: "edge", round: 1, rounds: null, earlier: [], output: null } as const),
        failure,
        maxRetries: 0,
        retriesUsed: 0,
        upstream: [],
      },
    };
    const here = { ...rest, failureSource } as Partial<Assignment> as Assignment;
    const shipped = { ...withPromptFiles(base, here), failureSource: null };
    const text = (at: string, { promptMaterial }: Assignment, assignment: Assignment) =>
      writePrompt(at, assignment, promptMaterial!, redactor).text;
    const elsewhere = join(base, "elsewhere");
    expect(text(elsewhere, shipped, shipped)).toBe(text(base, here, here));
    expect(text(elsewhere, shipped, shipped)).toContain("SUMMED UP");
    expect(text(elsewhere, shipped, shipped)).toContain("three tests are red");
  });
});
