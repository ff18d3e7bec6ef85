import { DarumaError } from "../core/errors/errors.js";
import type { Definition, StepDefinition } from "../core/model/definition.js";
import { FUNCTION } from "../core/model/flow.js";
import { withoutUsual } from "../core/model/stored-definition.js";
import type { Json } from "../core/text/json.js";
import { defineWorkflow, type StepInput } from "../file/builder.js";
import { InvalidWorkflow } from "../file/invalid-workflow.js";
import { compilePattern } from "../run/sandbox/compile-pattern.js";
import { checkExpression } from "../run/sandbox/wrap-code.js";
import { type FlowOptions, type Policy, type Repair, retryOf } from "./flow.js";

type Unusual = { readonly [key: string]: Json };

/** A step as the program calls it: what is unusual in its definition, and in those of the steps that repair it. */
export interface Declaration {
  readonly definition: Unusual;
  readonly repairs: readonly Unusual[];
}

/** Known by their text: a program that calls a step a thousand times has it read once. */
export type Declarations = Map<string, Declaration>;

/** What is read has short names for the step and its repairs; in the run they are called after the step. */
const STEP = "step";

/** Read as the step of a file is, with the same checks and messages. */
export function declare(
  known: Declarations,
  { breakers, failure_handlers: handlers }: FlowOptions,
  id: string,
  given: object,
  retry: Policy["retry"],
  repair: { readonly [name: string]: Repair } = {},
): Declaration {
  const repairs = Object.entries(repair);
  const ids = repairs.map((_, index) => `${STEP}_repair_${index + 1}`);
  const onFail = {
    ...(retry === undefined ? {} : { retry: retryOf(retry) }),
    ...(repairs.length === 0 ? {} : { run: ids }),
  };
  const step = { ...given, ...(Object.keys(onFail).length === 0 ? {} : { on_fail: onFail }) };
  const steps = Object.fromEntries([
    [STEP, step],
    ...repairs.map(([, how], index) => [ids[index]!, actionOf(how)]),
  ]);
  const text = JSON.stringify(steps);
  const read = known.get(text) ?? readSteps(id, { steps, ...sharedKeys(breakers, handlers) });
  known.set(text, read);
  if (repairs.length === 0) return read;
  const names = repairs.map(([name]) => repairName(id, name));
  const { onFail: routing, ...rest } = read.definition as Unusual & {
    readonly onFail: { [key: string]: Json };
  };
  return {
    definition: { ...rest, onFail: { ...routing, run: names } },
    repairs: read.repairs.map((each, index) => ({ ...each, id: names[index]! })),
  };
}

function sharedKeys(breakers: FlowOptions["breakers"], handlers: FlowOptions["failure_handlers"]) {
  return {
    ...(breakers === undefined ? {} : { breakers }),
    ...(handlers === undefined ? {} : { failure_handlers: handlers }),
  };
}

export function repairName(step: string, repair: string): string {
  return `${step}.${repair}`;
}

function actionOf(how: Repair): object {
  return typeof how === "function" ? { kind: FUNCTION, implementation: {} } : how;
}

function readSteps(id: string, input: object): Declaration {
  const { steps } = defined(id, input);
  const [{ id: _, ...definition }, ...repairs] = steps.map(unusual) as [Unusual, ...Unusual[]];
  return { definition, repairs };
}

function defined(id: string, input: object): Definition {
  try {
    // No text of a call is a template: what is put into it is data.
    return defineWorkflow({ name: "flow", ...input } as never, {
      ...{ checkExpression, compilePattern },
      customActions: [FUNCTION],
    });
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    const told = error.problems.map(({ path, message, hint }) => `${placeOf(path)}: ${message}. ${hint}`);
    throw new DarumaError(error.code, `${id} cannot be called so: ${told.join("; ")}`);
  }
}

/** As the call has it: `steps.step.on_fail.retry` is its `retry`. */
function placeOf(path: string): string {
  return path.split(".").slice(2).join(".") || "the call";
}

function unusual(step: StepDefinition): Unusual {
  return JSON.parse(JSON.stringify(withoutUsual(step))) as Unusual;
}

export function functionInput(): StepInput {
  return { kind: FUNCTION, implementation: {} };
}
