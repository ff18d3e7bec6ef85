import { DarumaError } from "../errors/errors.js";
import {
  DEFAULT_MAX_ITEMS,
  DEFAULT_MAX_LOG_BYTES,
  type Definition,
  type StepDefinition,
} from "./definition.js";
import { sharingDefaults } from "./step-defaults.js";

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

const LATER_STEP_FIELDS = {
  runsOn: [],
  failureHandler: null,
  summarize: null,
  resources: null,
  usesWorkspace: false,
  progress: "output",
  noProgressLimit: null,
} as const satisfies Partial<StepDefinition>;
const LATER_STEP_KEYS = Object.keys(LATER_STEP_FIELDS);

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

function completeStep(step: StepDefinition): StepDefinition {
  const isComplete = LATER_STEP_KEYS.every((key) => Object.hasOwn(step ?? {}, key));
  return sharingDefaults(isComplete ? step : { ...step, ...LATER_STEP_FIELDS, ...step });
}
