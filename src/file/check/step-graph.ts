import { type DependencyOrder, dependencyOrder } from "../../core/model/dependency-order.js";
import type { StepEntry } from "../fields/step-entries.js";
import { dependencyGroups, namesOf } from "../normalise/normalise.js";
import { rename } from "../read/fix.js";
import type { Findings } from "../read/problem.js";
import type { Located } from "../read/schema.js";
import { didYouMean, quote } from "../read/suggest.js";

/** A step that a `run` or `goto` names. */
export interface RouteReference {
  readonly kind: "run" | "goto";
  readonly on: "on_fail" | "on_success";
  readonly from: number;
  readonly target: Located<string>;
}

/** The steps of a file and all names in them, with their places: what the graph checks work on. */
export interface StepGraph {
  readonly entries: readonly StepEntry[];
  readonly indexOf: ReadonlyMap<string, number>;
  /** The `depends_on` groups of each step. */
  readonly groups: readonly (readonly (readonly Located<string>[])[])[];
  /** The same groups as plain names. */
  readonly dependsOn: readonly (readonly (readonly string[])[])[];
  readonly routes: readonly RouteReference[];
  readonly order: DependencyOrder;
  /**
   * Steps whose place in the graph is uncertain because of a problem reported elsewhere. Nothing more is reported about
   * them.
   */
  readonly doubtful: Uint8Array;
}

export function buildStepGraph(entries: readonly StepEntry[]): StepGraph {
  const indexOf = new Map(entries.map((entry, index) => [entry.id, index]));
  const groups = entries.map((entry) => dependencyGroups(entry.raw?.keys.depends_on));
  const dependsOn = groups.map(namesOf);
  const order = dependencyOrder(entries.map(({ id }, index) => ({ id, dependsOn: dependsOn[index]! })));
  return {
    entries,
    indexOf,
    groups,
    dependsOn,
    routes: entries.flatMap(routesOf),
    order,
    doubtful: markDoubtful(entries, indexOf, groups, order),
  };
}

function routesOf(entry: StepEntry, from: number): RouteReference[] {
  const routes: RouteReference[] = [];
  for (const on of ["on_fail", "on_success"] as const) {
    const keys = entry.raw?.keys[on];
    for (const target of keys?.run?.steps ?? []) routes.push({ kind: "run", on, from, target });
    const target = keys?.goto?.step;
    if (target !== undefined) routes.push({ kind: "goto", on, from, target });
  }
  return routes;
}

function markDoubtful(
  entries: readonly StepEntry[],
  indexOf: ReadonlyMap<string, number>,
  groups: StepGraph["groups"],
  order: DependencyOrder,
): Uint8Array {
  const doubtful = new Uint8Array(entries.length).fill(1);
  for (const index of order.order) {
    const unknown = groups[index]!.some((group) => group.some((member) => !indexOf.has(member.value)));
    const inherited = order.dependencies[index]!.some((dependency) => doubtful[dependency] === 1);
    if (!entries[index]!.unsure && !unknown && !inherited) doubtful[index] = 0;
  }
  return doubtful;
}

/** What can be reached from these along the edges, themselves included. */
export function closure(
  starts: readonly number[],
  edges: readonly (readonly number[])[],
  inside: (index: number) => boolean = () => true,
): Set<number> {
  const seen = new Set(starts);
  // A set is walked in order of insertion, what is added meanwhile included.
  for (const index of seen) for (const next of edges[index]!) if (inside(next)) seen.add(next);
  return seen;
}

/** `key` names a step that the file does not have. No key may name the step that it stands in. */
export function reportUnknownStep(
  name: Located<string>,
  key: string,
  steps: Iterable<string>,
  findings: Findings,
  source: string | null = null,
): void {
  const nearest = findings.suggester.nearest(name.value, steps);
  const suggestion = nearest === source ? null : nearest;
  const message = `${key} names the unknown step ${quote(name.value)}${didYouMean(suggestion)}`;
  const hint =
    suggestion === null
      ? "Fix the name or define the step."
      : `Rename it to \`${suggestion}\`, or define the step.`;
  const mending = rename(name.value, suggestion);
  findings.error({ code: "UNKNOWN_STEP", message, hint, at: name.at, path: name.path, mending });
}
