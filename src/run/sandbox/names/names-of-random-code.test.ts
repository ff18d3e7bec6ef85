import { afterAll, beforeAll, expect, it } from "vitest";
import { Random } from "../../../../test/sim/random.js";
import { CODE_VARIABLES, OWN_NAMES, randomCode } from "../../../../test/support/random-code.js";
import { problemsOf, REAL_CHECKS } from "../../../../test/support/workflow-text.js";
import type { Json } from "../../../core/text/json.js";
import { createSandbox } from "../quickjs-sandbox.js";
import type { Sandbox } from "../sandbox.js";
import { nameFinder, outputsNamedInCode } from "./find-names.js";

const PROGRAMS = Number(process.env.NAME_SEEDS ?? 200);
const FILE = `inputs: { a: { default: 1 }, dry-run: { default: true } }
env: { CI: "1" }
steps:
  build: { exec: make }
  test: { exec: make, depends_on: build }
  lint-fix: { exec: make, depends_on: test }
  last: { exec: make, depends_on: lint-fix, if: CODE }
`;

let sandbox: Sandbox;
beforeAll(() => {
  sandbox = createSandbox();
});
afterAll(() => sandbox.close());

const evaluate = (code: string, variables: { readonly [name: string]: Json }) =>
  sandbox.evaluate({ code, variables, now: 0, expects: "json", deadlineMs: 60_000 });

it("the sandbox offers every name that passes for one of the language", async () => {
  const missing: string[] = [];
  for (const name of nameFinder.globals.keys())
    if (!(await evaluate(`${name} !== 0`, {})).ok) missing.push(name);
  expect(missing).toEqual([]);
});

it("random code: exactly the names that exist nowhere are told, and those that the sandbox misses are among them", async () => {
  let checked = 0;
  let missed = 0;
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const { code, unknown } = randomCode(new Random(seed));
    const problems = problemsOf(FILE.replace("CODE", JSON.stringify(code)), REAL_CHECKS);
    // Some samples declare a name twice.
    if (problems[0]?.code === "EXPRESSION_SYNTAX") continue;
    checked++;
    const told = problems.map(({ message }) => /^unknown name `(\w+)`/.exec(message)?.[1] ?? message);
    expect([seed, code, [...new Set(told)].sort()]).toEqual([seed, code, [...unknown].sort()]);
    const result = await evaluate(code, CODE_VARIABLES);
    const lost = result.ok ? undefined : /(\w+)'? is not defined/.exec(result.reason)?.[1];
    if (lost === undefined) continue;
    missed++;
    expect([seed, code, [...told, ...OWN_NAMES]]).toEqual([seed, code, expect.arrayContaining([lost])]);
  }
  expect(checked).toBeGreaterThan(PROGRAMS / 2);
  expect(missed).toBeGreaterThan(PROGRAMS / 50);
});

it("random code gives the same with all outputs and with those that it names", async () => {
  let narrowed = 0;
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const { code } = randomCode(new Random(seed));
    const named = outputsNamedInCode(code);
    if (named === "all") continue;
    narrowed++;
    const outputs = Object.fromEntries(
      Object.entries(CODE_VARIABLES.outputs).filter(([id]) => named.includes(id)),
    );
    const [whole, part] = await Promise.all([
      evaluate(code, CODE_VARIABLES),
      evaluate(code, { ...CODE_VARIABLES, outputs }),
    ]);
    expect([seed, code, { ...part, duration_ms: 0 }]).toEqual([seed, code, { ...whole, duration_ms: 0 }]);
  }
  expect(narrowed).toBeGreaterThan(PROGRAMS / 10);
});
