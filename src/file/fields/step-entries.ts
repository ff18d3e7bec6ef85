import { childPath, type Path } from "../read/path.js";
import { type ReadContext, type Schema, wrongType } from "../read/schema.js";
import type { SourceMap } from "../read/source-tree.js";
import { quote } from "../read/suggest.js";
import { type RawStep, step } from "./read-step.js";

const MAX_STEP_ID_CHARS = 200;
const STEP_ID_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/;
/** `outputs.history` holds earlier outputs, and `__proto__` is no ordinary key in JavaScript. */
const RESERVED_STEP_IDS = new Set(["history", "__proto__"]);

/** One step of the map, also where its content could not be read: others may still name it. */
export interface StepEntry {
  readonly id: string;
  readonly at: number;
  readonly path: Path | null;
  readonly raw: RawStep | null;
  /** Problems in this step leave open what it depends on; graph checks then keep quiet about what follows. */
  readonly unsure: boolean;
}

export const steps: Schema<readonly StepEntry[]> = {
  expected: "a map of steps (`id: {...}`)",
  fits: (node) => node.kind === "map",
  read(node, path, context) {
    if (node.kind !== "map") return wrongType(steps, node, path, context);
    reportRepeatedSteps(node, path, context);
    return node.entries.map((entry) => {
      const here = childPath(path, entry.key);
      checkStepId(entry.key, entry.keyAt, here, context);
      const before = context.findings.errors.length;
      const raw = step.read(entry.value, here, context) ?? null;
      const unsure =
        raw === null ||
        context.findings.errors
          .slice(before)
          .some((found) => found.code === "UNKNOWN_KEY" || found.path.includes(".depends_on"));
      return { id: entry.key, at: entry.keyAt, path: here, raw, unsure };
    });
  },
  json: (definitions) => {
    definitions.set("step", step.json(definitions));
    return {
      type: "object",
      propertyNames: {
        pattern: STEP_ID_PATTERN.source,
        maxLength: MAX_STEP_ID_CHARS,
        not: { enum: [...RESERVED_STEP_IDS] },
      },
      additionalProperties: { $ref: "#/$defs/step" },
    };
  },
};

function reportRepeatedSteps(node: SourceMap, path: Path | null, context: ReadContext): void {
  for (const { key, at } of node.repeated) {
    const message = `two steps have the id ${quote(key)}`;
    context.findings.error({ code: "DUPLICATE_ID", message, at, path: childPath(path, key) });
  }
}

/** Says what is wrong with an id; false if something is. */
export function checkStepId(id: string, at: number, path: Path | null, context: ReadContext): boolean {
  const flaw = flawOfStepId(id);
  if (flaw === null) return true;
  const [message, hint] = flaw;
  context.findings.error({ code: "INVALID_VALUE", message, hint, at, path });
  return false;
}

function flawOfStepId(id: string): readonly [message: string, hint: string] | null {
  if (RESERVED_STEP_IDS.has(id))
    return [`${quote(id)} is reserved and cannot be a step's id`, "Rename the step."];
  if (id.length > MAX_STEP_ID_CHARS)
    return [`the step's id has ${id.length} characters, more than ${MAX_STEP_ID_CHARS}`, "Shorten it."];
  if (STEP_ID_PATTERN.test(id)) return null;
  const undeclared = /\{([A-Za-z_]\w*)[^{}]*\}/.exec(id);
  const hint =
    undeclared === null
      ? "Use letters, digits, `_`, `.`, `:` and `-`; begin with a letter, digit or `_`."
      : `Declare \`${undeclared[1]}\` under \`parameters\` of the job, or remove the braces.`;
  return [`${quote(id)} is not allowed as a step's id`, hint];
}
