import { isSamePath } from "../core/model/fan-out.js";
import { buildStepGraph, closure, reportUnknownStep, type StepGraph } from "./check/step-graph.js";
import { fanOutOf } from "./check/validate-fan-out.js";
import type { RawStep, StepKeys } from "./fields/read-step.js";
import type { StepEntry } from "./fields/step-entries.js";
import { BOUNDED_KEYS, type GotoDraft, type RunDraft } from "./fields/step-fields.js";
import { addsToRetry } from "./normalise/step-policies.js";
import { childPath, type Path, ROOT, renderPath } from "./read/path.js";
import type { Located, ReadContext } from "./read/schema.js";
import { findEntry, Locator, type SourceNode } from "./read/source-tree.js";
import { quote } from "./read/suggest.js";

type OnFailKeys = NonNullable<StepKeys["on_fail"]>;
/** An edge is never a default. */
type Key = Exclude<keyof OnFailKeys, "edge">;
type Defaults = Pick<OnFailKeys, Key>;

export const DEFAULTS_PATH: Path = childPath(childPath(childPath(ROOT, "routing"), "defaults"), "on_fail");

/** Why a default may be left with no step at all. */
const NOBODY_TAKES_IT: { readonly [key in Key]: string } = {
  retry: "all of them have these keys themselves",
  run: "all of them have their own, or may not run these steps",
  run_js: "all of them have their own",
  run_max: "all of them have their own bound, or no run list",
  goto: "all of them have their own, or do not depend on its target in their scope",
  goto_js: "all of them have their own, or depend on nothing",
  goto_max: "all of them have their own bound, or no goto",
};

/**
 * Steps with the keys of `routing.defaults.on_fail` that they do not give themselves. A default that a step could not
 * write itself is left out for that step; of those that run when the run ends (`atEnd`) that is all but `retry`. `retry`, which is merged key by key with more than these two, is left to normalise.
 */
export function withDefaults(
  entries: readonly StepEntry[],
  defaults: Defaults | undefined,
  atEnd: ReadonlySet<string>,
  root: SourceNode,
  context: ReadContext,
): readonly StepEntry[] {
  if (defaults === undefined) return entries;
  const graph = buildStepGraph(entries);
  const known = withoutUnknown(defaults, graph, context);
  const mayTake = legality(known, graph);
  const taken = new Set<Key>();
  const merged = entries.map((entry, index) => {
    if (entry.raw === null) return entry;
    const isAtEnd = atEnd.has(entry.id);
    const on_fail = mergeKeys(entry.raw.keys, known, (key) => !isAtEnd && mayTake(index, key), taken);
    reportTwoBounds(entry.id, entry.raw, on_fail, context);
    return { ...entry, raw: { ...entry.raw, keys: { ...entry.raw.keys, on_fail } } };
  });
  warnOfIdle(known, taken, root, context);
  return merged;
}

/** Told once here, and not once for every step. */
function withoutUnknown(defaults: Defaults, { indexOf }: StepGraph, { findings }: ReadContext): Defaults {
  const isKnown = (key: "run" | "goto") => (name: Located<string>) => {
    if (indexOf.has(name.value)) return true;
    reportUnknownStep(name, `${renderPath(DEFAULTS_PATH)}.${key}`, indexOf.keys(), findings);
    return false;
  };
  const { run, goto } = defaults;
  const runIsKnown = (run?.steps ?? []).map(isKnown("run")).every(Boolean);
  const gotoIsKnown = goto?.step !== undefined && isKnown("goto")(goto.step);
  return { ...defaults, run: runIsKnown ? run : undefined, goto: gotoIsKnown ? goto : undefined };
}

/** Whether a step could write the default itself, by the rules for run lists and gotos. */
function legality({ run, goto }: Defaults, graph: StepGraph): (step: number, key: Key) => boolean {
  const { order, groups, indexOf, entries } = graph;
  const fan = fanOutOf(graph).paths;
  const pathOf = (index: number) => fan.get(entries[index]!.id)!;
  const isSameScope = (first: number, second: number) => isSamePath(pathOf(first), pathOf(second));
  const listed = (run?.steps ?? []).map(({ value }) => indexOf.get(value)!);
  const beforeListed = closure(listed, order.dependencies);
  // One that depends on nothing is routed and belongs to every scope that routes to it.
  const placed = listed.filter(
    (index) => groups[index]!.length > 0 || entries[index]!.raw?.keys.start === "auto",
  );
  const target = goto?.step === undefined ? undefined : indexOf.get(goto.step.value);
  const behindTarget = target === undefined ? new Set<number>() : closure([target], order.dependents);
  return (step, key) => {
    if (key === "run") return !beforeListed.has(step) && placed.every((index) => isSameScope(step, index));
    if (key === "goto") return step !== target && behindTarget.has(step) && isSameScope(step, target!);
    return key !== "goto_js" || groups[step]!.length > 0;
  };
}

function mergeKeys(
  { on_fail: own, execution }: StepKeys,
  defaults: Defaults,
  mayTake: (key: Key) => boolean,
  taken: Set<Key>,
): OnFailKeys {
  const merge = <K extends Key>(key: K): OnFailKeys[K] | undefined => {
    if (own?.[key] !== undefined || defaults[key] === undefined || !mayTake(key)) return own?.[key];
    taken.add(key);
    return defaults[key];
  };
  const { retry } = defaults;
  if (retry !== undefined && addsToRetry(own?.retry ?? execution?.retry_policy, retry)) taken.add("retry");
  const [goto, goto_js] = [merge("goto"), merge("goto_js")];
  const [run, run_js] = [merge("run"), merge("run_js")];
  const goesBack = goto !== undefined || goto_js !== undefined;
  const isRepaired = run !== undefined || run_js !== undefined;
  return {
    retry: own?.retry,
    run,
    run_js,
    run_max: isRepaired ? merge("run_max") : own?.run_max,
    goto,
    goto_js,
    goto_max: goesBack ? merge("goto_max") : own?.goto_max,
    edge: own?.edge,
  };
}

/** `goto: { step, max }` in one of the two places and `goto_max` in the other: which of them should hold? As for `run`. */
function reportTwoBounds(
  id: string,
  { keys, node, path }: RawStep,
  merged: OnFailKeys,
  context: ReadContext,
) {
  for (const key of BOUNDED_KEYS) {
    const bounded = merged[key];
    if (bounded?.max === undefined || merged[`${key}_max`] === undefined) continue;
    const ownsIt = keys.on_fail?.[key] !== undefined;
    // If both are in one place, this is reported where they are read.
    if (ownsIt === (keys.on_fail?.[`${key}_max`] !== undefined)) continue;
    const here = childPath(path, "on_fail");
    const [own, other] = ownsIt ? [`${key}.max`, `${key}_max`] : [`${key}_max`, `${key}.max`];
    const [ownPlace, otherPlace] = [`${renderPath(here)}.${own}`, `${renderPath(DEFAULTS_PATH)}.${other}`];
    const split = `\`${key}: ${namesOf(bounded)}\` and \`${key}_max: ${bounded.max}\``;
    context.findings.error({
      code: "INVALID_VALUE",
      message: `the ${key} of ${quote(id)} has two bounds: ${quote(ownPlace)} and ${quote(otherPlace)}`,
      hint: ownsIt
        ? `Write ${split} in the step, whose \`${key}_max\` wins over the default's.`
        : `Write ${split} in ${renderPath(DEFAULTS_PATH)}, so that the step's own \`${key}_max\` wins.`,
      at: findEntry(node, "on_fail")?.keyAt ?? node.at,
      path: here,
    });
  }
}

/** The names in the short form: `setup`, `[fix, format]`. */
function namesOf(bounded: GotoDraft | RunDraft): string {
  if ("step" in bounded) return bounded.step?.value ?? "";
  return `[${(bounded.steps ?? []).map(({ value }) => value).join(", ")}]`;
}

function warnOfIdle(
  defaults: Defaults,
  taken: ReadonlySet<Key>,
  root: SourceNode,
  { findings }: ReadContext,
): void {
  for (const key of Object.keys(NOBODY_TAKES_IT) as Key[]) {
    if (defaults[key] === undefined || taken.has(key)) continue;
    findings.warn({
      code: "NO_EFFECT",
      message: `the default ${quote(key)} applies to no step: ${NOBODY_TAKES_IT[key]}`,
      hint: "Remove it.",
      at: new Locator(root).locate(["routing", "defaults", "on_fail", key]),
      path: childPath(DEFAULTS_PATH, key),
    });
  }
}
