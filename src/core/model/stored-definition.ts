import { DarumaError } from "../errors/errors.js";
import {
  DEFAULT_MAX_ITEMS,
  DEFAULT_MAX_LOG_BYTES,
  type Definition,
  type StepDefinition,
} from "./definition.js";
import { sharingDefaults, usualStep, withoutUsual } from "./step-defaults.js";

/** What definitions stored by an older Daruma lack, with the value that means what they did then. */
const LATER_FIELDS = {
  maxItems: DEFAULT_MAX_ITEMS,
  maxLogBytes: DEFAULT_MAX_LOG_BYTES,
  unhandled: "fail",
  failureHandlers: [],
  workspace: null,
  selfHeal: null,
  queue: null,
  transitions: [],
} as const satisfies Partial<Definition>;

/**
 * The text under which a definition is stored and hashed. A step has only what is unusual in it: of 100,000 plain steps
 * that is 4 MB instead of 55, which are written, hashed, sent to the store and read back.
 */
export function storedText(definition: Definition): string {
  const entries = Object.entries(definition).filter(([, value]) => value !== undefined);
  return `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${key === "steps" ? stepsText(definition) : JSON.stringify(value)}`).join(",")}}`;
}

/** Step by step, because 100,000 shortened copies at a time take more memory than the steps themselves. */
function stepsText({ steps }: Definition): string {
  return `[${steps.map((step) => JSON.stringify(withoutUsual(step))).join(",")}]`;
}

/** Read a definition back from the text under which it was stored, whichever Daruma wrote it. */
export function parseStoredDefinition(text: string, hash: string): Definition {
  const stored = parse(text, hash);
  // What was stored comes first, so that keys keep their order: an exported definition keeps its hash.
  return { ...stored, ...LATER_FIELDS, ...stored, steps: stored.steps.map(completeStep) };
}

function parse(text: string, hash: string): Definition {
  try {
    return JSON.parse(text) as Definition;
  } catch {
    const place = `the definition ${hash} in the table definition`;
    throw new DarumaError("STORE_DAMAGED", `the database is damaged: ${place} is not valid JSON`);
  }
}

/** An older Daruma wrote all that it knew of a step, usual or not. */
function completeStep(step: StepDefinition): StepDefinition {
  return sharingDefaults(usualStep(step));
}
