import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Daruma } from "../../host/daruma.js";
import { keptText } from "./check-secrets.js";
import { defineWorkflow } from "./define-workflow.js";
import { readWorkflowText } from "./workflow-source.js";

let outputDir = "";
beforeEach(() => {
  outputDir = mkdtempSync(join(tmpdir(), "daruma-secrets-"));
});
afterEach(() => rmSync(outputDir, { recursive: true, force: true }));

const SECRET = 'tr0ub4dor"and-3';

it("a secret that is not set is refused with what to do before there is a run", async () => {
  const daruma = await Daruma.open({ outputDir, store: "memory", env: {} });
  const workflow = defineWorkflow({
    name: "needs",
    secrets: ["API_KEY"],
    steps: { a: { type: "command", exec: "true" } },
  });
  await expect(daruma.start(workflow)).rejects.toMatchObject({
    code: "MISSING_SECRET",
    hint: "Set it, for example with `export API_KEY=...`, and start the run again.",
  });
  await daruma.close();
});

describe("a workflow that holds the value of its own secret", () => {
  it.each([
    [`curl -H 'X: ${SECRET}' example.test`, "as it stands"],
    [SECRET.toUpperCase(), "in other letters"],
  ])("does not start: %s (%s)", async (exec) => {
    const daruma = await Daruma.open({
      outputDir,
      store: "memory",
      env: { ...process.env, API_KEY: SECRET },
    });
    const workflow = defineWorkflow({
      name: "tells",
      secrets: ["API_KEY"],
      steps: { a: { type: "command", exec } },
    });
    await expect(daruma.start(workflow)).rejects.toMatchObject({
      code: "INVALID_VALUE",
      message: "the workflow itself contains the value of API_KEY",
      hint: "Refer to it as an environment variable, `$API_KEY`.",
    });
    expect(await daruma.store.listRuns({})).toEqual([]);
    await daruma.close();
  });
});

describe("the text of a workflow", () => {
  const kept = (note: string): boolean => {
    const workflow = readWorkflowText(
      `# ${note}\nname: noted\nsecrets: [API_KEY]\nsteps: { a: { type: noop } }\n`,
      { file: "noted.yaml", folder: "/", customActions: [] },
    );
    return keptText(workflow, { API_KEY: SECRET }) === workflow.written;
  };

  it("is kept as it was written, unless it is very large, or a comment has a secret or what looks like one", () => {
    expect(kept("what it is for")).toBe(true);
    expect(kept("x".repeat(1_000_000))).toBe(false);
    expect(kept(`the key is ${SECRET}`)).toBe(false);
    expect(kept("Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789")).toBe(false);
  });

  it("is not there where a program has built it", () => {
    const definition = defineWorkflow({ name: "built", steps: { a: { type: "noop" } } });
    expect(keptText({ definition }, {})).toBeNull();
  });
});
