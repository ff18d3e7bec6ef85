import type { FailureRouting, Join, Routing, StepDefinition } from "./definition.js";
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

/** The same step, as JSON too: a value takes the place of one with the same keys in the same order. */
export function sharingDefaults(step: StepDefinition): StepDefinition {
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

/** A definition from elsewhere may lack it: whoever reads it complains. */
function shared<T extends object>(own: T, usual: T): T {
  return typeof own === "object" && own !== null && isAlike(own, usual) ? usual : own;
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
