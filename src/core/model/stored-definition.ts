import { DarumaError } from "../errors/errors.js";
import type { Definition } from "./definition.js";
import { sharingDefaults, usualStep, withoutUsual } from "./step-defaults.js";

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

/** Read a definition back from the text under which it was stored. */
export function parseStoredDefinition(text: string, hash: string): Definition {
  const stored = parse(text, hash);
  return { ...stored, steps: stored.steps.map((step) => sharingDefaults(usualStep(step))) };
}

function parse(text: string, hash: string): Definition {
  try {
    return JSON.parse(text) as Definition;
  } catch {
    const place = `the definition ${hash} in the table definition`;
    throw new DarumaError("STORE_DAMAGED", `the database is damaged: ${place} is not valid JSON`);
  }
}
