import { describe, expect, it } from "vitest";
import { workflow } from "../../../test/support/harness.js";
import { workExaminer } from "./examined-work.js";

const AGENT = "{ type: agent, exec: [./agent], prompt: Do it.";
/** Whose work the step `review` examines. */
function examined(steps: string, more = ""): string[] {
  const { definition } = workflow(`name: loop\n${more}\nsteps:\n${steps}`);
  return workExaminer(definition)("review").map(({ id }) => id);
}

describe("the work that a step examines", () => {
  it("is that of the nearest agents and models before it, whatever lies between", () => {
    const steps = `  plan: ${AGENT} }
  fix: ${AGENT}, depends_on: plan }
  docs: { type: llm_call, provider: anthropic, model: m, prompt: Write., depends_on: plan }
  build: { exec: make, depends_on: [fix, docs] }
  review: { exec: check, depends_on: build }`;
    expect(examined(steps)).toEqual(["fix", "docs"]);
  });

  it("is where its file sends its failures back to, if that is an agent or a model", () => {
    const steps = `  plan: ${AGENT}, start: auto }
  build: { exec: make, depends_on: plan }
  fix: ${AGENT}, depends_on: build }
  review: { exec: check, depends_on: fix`;
    const back = "transitions: [{ from: review, to: plan, on: failure }]";
    expect(examined(`${steps}, on_fail: { goto: plan } }`)).toEqual(["plan"]);
    expect(examined(`${steps} }`, back)).toEqual(["plan"]);
    expect(examined(`${steps}, on_fail: { goto: build } }`)).toEqual(["fix"]);
  });

  it("is nobody's where only commands come before it, or a failure leads on rather than back", () => {
    const steps =
      "  build: { exec: make }\n  review: { exec: check, depends_on: build }\n  mend: { exec: mend }";
    expect(examined(steps)).toEqual([]);
    expect(examined(steps, "transitions: [{ from: review, to: mend, on: failure }]")).toEqual([]);
  });
});
