import { expect, it } from "vitest";
import { Random } from "../../../../test/sim/random.js";
import { CODE_VARIABLES } from "../../../../test/support/random-code.js";
import { randomTemplate } from "../../../../test/support/random-template.js";
import { problemsOf, REAL_CHECKS } from "../../../../test/support/workflow-text.js";
import type { Json } from "../../../core/text/json.js";
import { messageOf } from "../../../core/text/message-of.js";
import { renderTemplate } from "../template.js";
import { outputsNamedInTemplate } from "./find-names.js";

const TEMPLATES = Number(process.env.NAME_SEEDS ?? 200);
const FILE = `inputs: { a: { default: 1 }, dry-run: { default: true } }
env: { CI: "1" }
steps:
  build: { exec: make }
  test: { exec: make, depends_on: build }
  lint-fix: { exec: make, depends_on: test }
  last: { exec: make, depends_on: lint-fix, stdin: TEMPLATE }
`;

function render(template: string, variables: { readonly [name: string]: Json }): string {
  try {
    return renderTemplate(template, variables);
  } catch (error) {
    return messageOf(error);
  }
}

it("random templates: exactly the names that exist nowhere are told, and those that rendering misses are among them", () => {
  let missed = 0;
  for (let seed = 1; seed <= TEMPLATES; seed++) {
    const { template, unknown } = randomTemplate(new Random(seed));
    const problems = problemsOf(
      FILE.replace("TEMPLATE", () => JSON.stringify(template)),
      REAL_CHECKS,
    );
    const told = problems.map(({ message }) => /^unknown name `(\w+)`/.exec(message)?.[1] ?? message);
    expect([seed, template, [...new Set(told)].sort()]).toEqual([seed, template, [...unknown].sort()]);
    const lost = /undefined variable: (nope|outptus|JSON)\b/.exec(render(template, CODE_VARIABLES))?.[1];
    if (lost === undefined) continue;
    missed++;
    expect([seed, template, told]).toEqual([seed, template, expect.arrayContaining([lost])]);
  }
  expect(missed).toBeGreaterThan(TEMPLATES / 50);
});

it("random templates render the same with all outputs and with those that they name", () => {
  let narrowed = 0;
  for (let seed = 1; seed <= TEMPLATES; seed++) {
    const { template } = randomTemplate(new Random(seed));
    const named = outputsNamedInTemplate(template);
    if (named === "all") continue;
    narrowed++;
    const outputs = Object.fromEntries(
      Object.entries(CODE_VARIABLES.outputs).filter(([id]) => named.includes(id)),
    );
    const part = render(template, { ...CODE_VARIABLES, outputs });
    expect([seed, template, part]).toEqual([seed, template, render(template, CODE_VARIABLES)]);
  }
  expect(narrowed).toBeGreaterThan(TEMPLATES / 20);
});
