import type { StepEntry } from "../fields/step-entries.js";
import type { TransitionDraft } from "../fields/transition-fields.js";
import { childPath } from "../read/path.js";
import type { Findings } from "../read/problem.js";
import type { Located } from "../read/schema.js";
import { findEntry } from "../read/source-tree.js";
import { quote } from "../read/suggest.js";
import { reportUnknownStep, type StepGraph } from "./step-graph.js";

export interface EndingCheck {
  readonly graph: StepGraph;
  readonly transitions: readonly TransitionDraft[];
  readonly finally: readonly Located<string>[];
}

type Kind = "undo" | "finally";

/** Steps that `undo` and `finally` name: they exist, serve nothing else, and have no key that could not be honoured there. */
export function validateEndings(
  { graph, transitions, finally: last }: EndingCheck,
  findings: Findings,
): void {
  const { entries, indexOf } = graph;
  const undone = entries.flatMap(({ id, raw }) =>
    raw?.keys.undo === undefined ? [] : [{ id, name: raw.keys.undo }],
  );
  const kindOf = new Map<string, Kind>();
  for (const { id, name } of undone) {
    if (!indexOf.has(name.value)) reportUnknownStep(name, "undo", indexOf.keys(), findings, id);
    else if (name.value === id) refuse(findings, name, `the undo of ${quote(id)} names the step itself`);
    else kindOf.set(name.value, "undo");
  }
  const seen = new Set<string>();
  for (const name of last) {
    if (!indexOf.has(name.value)) reportUnknownStep(name, "finally", indexOf.keys(), findings);
    else if (seen.has(name.value)) refuse(findings, name, `\`finally\` names ${quote(name.value)} twice`);
    else if (kindOf.get(name.value) === "undo")
      refuse(findings, name, `${quote(name.value)} is an undo step and one of \`finally\``);
    else kindOf.set(name.value, "finally");
    seen.add(name.value);
  }
  for (const [id, kind] of kindOf) checkKeys(entries[indexOf.get(id)!]!, kind, findings);
  refuseOtherNames(graph, transitions, kindOf, findings);
}

const HINT = "A step that undoes or finishes a run runs only then: give it a step of its own.";

function refuse(
  findings: Findings,
  { at, path }: Pick<Located<string>, "at" | "path">,
  message: string,
): void {
  findings.error({ code: "INVALID_VALUE", message, hint: HINT, at, path });
}

/** Nothing else may lead to such a step, or wait for it. */
function refuseOtherNames(
  { entries, groups, routes }: StepGraph,
  transitions: readonly TransitionDraft[],
  kindOf: ReadonlyMap<string, Kind>,
  findings: Findings,
): void {
  if (kindOf.size === 0) return;
  const check = (name: Located<string> | undefined, who: string): void => {
    const kind = name && kindOf.get(name.value);
    if (kind !== undefined)
      refuse(findings, name!, `${who} names ${quote(name!.value)}, which is ${called(kind)}`);
  };
  groups.forEach((members, index) => {
    for (const name of members.flat()) check(name, `the depends_on of ${quote(entries[index]!.id)}`);
  });
  for (const { from, on, kind, target } of routes)
    check(target, `the ${on}.${kind} of ${quote(entries[from]!.id)}`);
  for (const { from, to } of transitions) {
    check(from, "a transition");
    check(to, "a transition");
  }
}

function called(kind: Kind): string {
  return kind === "undo" ? "an undo step" : "one of `finally`";
}

/** Keys by which a step has a place among others, or leads to some. */
const PLACED_KEYS = [
  "depends_on",
  "needs",
  "start",
  "forEach",
  "for_each",
  "fanout",
  "join",
  "on_success",
  "undo",
  "hold",
];
const ROUTING_KEYS = ["run", "run_js", "run_max", "goto", "goto_js", "goto_max", "edge"];

function checkKeys({ id, raw }: StepEntry, kind: Kind, findings: Findings): void {
  if (raw === null) return;
  const { node, path } = raw;
  const report = (key: string, at: number, within = path): void =>
    findings.error({
      code: "INVALID_VALUE",
      message: `${quote(id)} is ${called(kind)}: ${quote(key)} does not apply to it`,
      hint:
        key === "continue_on_failure" || key === "hold"
          ? `Remove it: ${kind === "undo" ? "an undo that fails waits for a decision" : "a `finally` step is never held"}.`
          : "Remove it: the step runs when the run ends, one at a time, and leads nowhere.",
      at,
      path: childPath(within, key),
    });
  for (const key of kind === "undo" ? [...PLACED_KEYS, "continue_on_failure"] : PLACED_KEYS) {
    const entry = findEntry(node, key);
    if (entry !== undefined) report(key, entry.keyAt);
  }
  const onFail = findEntry(node, "on_fail")?.value;
  if (onFail?.kind !== "map") return;
  for (const key of ROUTING_KEYS) {
    const entry = findEntry(onFail, key);
    if (entry !== undefined) report(key, entry.keyAt, childPath(path, "on_fail"));
  }
}
