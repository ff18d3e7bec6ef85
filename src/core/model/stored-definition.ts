import { DarumaError } from "../errors/errors.js";
import type { Definition, FailureRouting, Join, Routing, StepDefinition } from "./definition.js";
import { NONE } from "./sparse-lists.js";

/** What very many steps leave as it is: they share it, whether they come from a file or from the store. */
export const NO_VARIABLES: { readonly [name: string]: string } = Object.freeze({});
export const NO_ROUTING: Routing = Object.freeze({
  run: NONE,
  runJs: null,
  goto: null,
  gotoJs: null,
  gotoMax: null,
});
export const NO_FAILURE_ROUTING: FailureRouting = Object.freeze({ ...NO_ROUTING, retry: null });
export const JOIN_ALL: Join = Object.freeze({ kind: "all" });

/**
 * The properties of a step that a stored definition leaves out. Stored definitions omit these values, so a default here
 * must never change; a changed default must be written out from then on.
 */
const USUAL: Omit<StepDefinition, "id" | "action"> = Object.freeze({
  dependsOn: NONE,
  start: "auto",
  if: null,
  env: NO_VARIABLES,
  cwd: null,
  timeoutMs: null,
  idleTimeoutMs: null,
  killGraceMs: 3_000,
  continueOnFailure: false,
  forEach: false,
  reduce: false,
  join: JOIN_ALL,
  onFail: NO_FAILURE_ROUTING,
  onSuccess: NO_ROUTING,
  outputSchema: null,
  tags: NONE,
  runsOn: NONE,
  group: null,
  failureHandler: null,
  summarize: null,
  resources: null,
  usesWorkspace: false,
  progress: "output",
  noProgressLimit: null,
});

/** The step with what it leaves to be usual, its keys in the order of a step that is read from a file. */
function usualStep(step: StepDefinition): StepDefinition {
  const { id, action } = step;
  const own: Partial<StepDefinition> = step;
  // Names before what is spread: V8 keeps an object that begins with a spread as a slow table.
  return { id, action, ...USUAL, ...own };
}

/** A step of which only what is unusual is known, as stored definitions and the log have it. */
export function completeStep(unusual: { readonly [key: string]: unknown }): StepDefinition {
  return sharingDefaults(usualStep(unusual as unknown as StepDefinition));
}

/** The other way round. */
export function withoutUsual(step: StepDefinition): Partial<StepDefinition> {
  const unusual: { [key: string]: unknown } = {};
  for (const key of Object.keys(step) as (keyof StepDefinition)[])
    if (!isUsual(key, step[key])) unusual[key] = step[key];
  return unusual;
}

function isUsual(key: keyof StepDefinition, value: unknown): boolean {
  if (key === "id" || key === "action" || !Object.hasOwn(USUAL, key)) return false;
  const usual: unknown = USUAL[key];
  return value === usual || (isObject(value) && isObject(usual) && isAlike(value, usual));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** The step with shared default values. Its JSON is the same, because keys and their order are unchanged. */
function sharingDefaults(step: StepDefinition): StepDefinition {
  return Object.assign(step, {
    dependsOn: shared(step.dependsOn, NONE),
    env: shared(step.env, NO_VARIABLES),
    join: shared(step.join, JOIN_ALL),
    onFail: shared(step.onFail, NO_FAILURE_ROUTING),
    onSuccess: shared(step.onSuccess, NO_ROUTING),
    tags: shared(step.tags, NONE),
    runsOn: shared(step.runsOn, NONE),
  } satisfies Partial<StepDefinition>);
}

/** The shared value if both are equal. A definition from elsewhere may lack it, which its reader reports. */
function shared<T extends object>(own: T, usual: T): T {
  return own === usual || (isObject(own) && isAlike(own, usual)) ? usual : own;
}

function isAlike(own: object, usual: object): boolean {
  const keys = Object.keys(own);
  const usualKeys = Object.keys(usual);
  return (
    keys.length === usualKeys.length &&
    keys.every((key, place) => key === usualKeys[place] && isSame(own, usual, key))
  );
}

function isSame(own: object, usual: object, key: string): boolean {
  const value: unknown = own[key as keyof typeof own];
  return value === usual[key as keyof typeof usual] || (Array.isArray(value) && value.length === 0);
}

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
