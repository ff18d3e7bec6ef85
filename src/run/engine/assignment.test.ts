import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Json } from "../../core/text/json.js";
import { Daruma } from "../../host/daruma.js";
import { defineWorkflow } from "../../operations/workflows/define-workflow.js";
import type { RunReport } from "../../tell/run-report.js";

let outputDir = "";
let seen: (Json | undefined)[] = [];
beforeEach(() => {
  outputDir = mkdtempSync(join(tmpdir(), "daruma-assignment-"));
  seen = [];
});
afterEach(() => rmSync(outputDir, { recursive: true, force: true }));

/** `look` is a function of the program: it notes the outputs it is given. */
async function run(workflow: Parameters<typeof defineWorkflow>[0]): Promise<RunReport> {
  const actions = {
    look: ({ variables }: { variables: { readonly [name: string]: Json } }) => {
      seen.push(variables.outputs);
      return null;
    },
  };
  const daruma = await Daruma.open({ outputDir, store: "memory", actions });
  const { result } = await daruma.start(defineWorkflow(workflow, { actions: ["look"] }));
  const report = await result;
  await daruma.close();
  return report;
}

function produce(text: string, ...dependsOn: string[]) {
  return { type: "command", exec: `echo ${text}`, depends_on: dependsOn } as const;
}

describe("a function of the program as a step", () => {
  it("is given the outputs of the steps it depends on, directly or through others, and no others", async () => {
    const steps = {
      first: produce("one"),
      second: produce("two", "first"),
      other: produce("three"),
      after: produce("four", "first", "other"),
      look: { kind: "look", implementation: {}, depends_on: ["second"] },
      late: { kind: "look", implementation: {}, depends_on: ["after"] },
    };
    await run({ name: "looks", steps });
    expect(seen).toHaveLength(2);
    expect(seen).toContainEqual({ first: "one", second: "two" });
    expect(seen).toContainEqual({ first: "one", other: "three", after: "four" });
  });

  it("is also given those that its templates name", async () => {
    const steps = {
      other: produce("three"),
      look: {
        kind: "look",
        implementation: { text: "{{ outputs.history.other[0] }}" },
        depends_on: ["other"],
      },
    };
    await run({ name: "looks", steps });
    expect(seen).toEqual([{ other: "three", history: expect.anything() }]);
  });
});

describe("a recovery script", () => {
  it("gets the workflow's env rendered; a variable that does not render is passed as it stands", async () => {
    const broken = "{% if attempt == 1 and error %}{{ inputs.nothing.like.this }}{% endif %}";
    const recovery_script = `echo "$WHO, $PLAIN, $BROKEN" > ${join(outputDir, "env")}`;
    const report = await run({
      name: "recovers",
      inputs: { nothing: { required: false } },
      env: {
        WHO: "{% if step.id == 'job' %}{{ outputs.first }}{% endif %}",
        PLAIN: "as it is",
        BROKEN: broken,
      },
      failure_handlers: [{ name: "h", rules: [{ exit_codes: [10], recovery_script, max_retries: 2 }] }],
      steps: {
        first: produce("one"),
        job: {
          ...produce("two", "first"),
          exec: "test $DARUMA_ATTEMPT_ID = 2 || exit 10",
          failure_handler: "h",
        },
      },
    });
    expect(report.status).toBe("completed");
    expect(readFileSync(join(outputDir, "env"), "utf8")).toBe(`one, as it is, ${broken}\n`);
  });
});
