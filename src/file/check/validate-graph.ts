import { added, NONE } from "../../core/model/sparse-lists.js";
import type { StepEntry } from "../fields/step-entries.js";
import type { TransitionDraft } from "../fields/transition-fields.js";
import { ROOT } from "../read/path.js";
import type { TextWithNames } from "../read/placed-text.js";
import type { Findings } from "../read/problem.js";
import type { Located } from "../read/schema.js";
import { quote } from "../read/suggest.js";
import { findCircles, renderCircle } from "./graph-walks.js";
import type { KnownNames } from "./references/check-names.js";
import { checkReferences } from "./references/check-references.js";
import { buildStepGraph, reportUnknownStep, type StepGraph } from "./step-graph.js";
import { validateEndings } from "./validate-endings.js";
import { validateFanOut } from "./validate-fan-out.js";
import { validateRoutes } from "./validate-routes.js";
import { validateTransitions } from "./validate-transitions.js";

export interface GraphCheck {
  readonly entries: readonly StepEntry[];
  readonly stepsAt: number;
  /** Ids of the steps that wait to be routed to. */
  readonly routed: ReadonlySet<string>;
  readonly transitions: readonly TransitionDraft[];
  /** Steps that run when a run ends. */
  readonly finally: readonly Located<string>[];
  /** The expressions and templates, and the names that they may use. */
  readonly texts: readonly TextWithNames[];
  readonly known: KnownNames;
}

/** Everything about steps that only shows when all of them are known. Returns the work done, for tests of the cost. */
export function validateGraph(check: GraphCheck, findings: Findings): number {
  const { entries, routed } = check;
  const graph = buildStepGraph(entries);
  checkNames(graph, findings);
  checkDependencyCircles(graph, findings);
  checkSuccessCircles(graph, findings);
  const paths = validateFanOut(graph, findings);
  const work = validateRoutes(graph, paths, routed, findings);
  validateTransitions({ ...check, graph, paths }, findings);
  validateEndings({ ...check, graph }, findings);
  checkReferences({ ...check, graph, paths }, findings);
  checkStart(check, graph, findings);
  return entries.length + work;
}

function checkStart({ entries, stepsAt, routed }: GraphCheck, graph: StepGraph, findings: Findings): void {
  const independent = entries.filter((_, index) => graph.groups[index]!.length === 0);
  if (independent.some((entry) => !routed.has(entry.id)) || graph.doubtful.includes(1)) return;
  const message =
    entries.length === 0
      ? "there are no steps"
      : "no step can start: each one depends on another or waits for a run list or a transition";
  const first = independent.find((entry) => entry.raw?.keys.start === undefined);
  const hint =
    first === undefined
      ? undefined
      : `\`${first.id}\` waits because something routes to it; give it \`start: auto\` if it should start on its own.`;
  findings.error({ code: "NO_START", message, hint, at: stepsAt, path: ROOT });
}

function checkNames(graph: StepGraph, findings: Findings): void {
  graph.groups.forEach((groups, index) => {
    for (const member of groups.flat()) {
      if (member.value === "") {
        findings.error({
          code: "INVALID_VALUE",
          message: "a step's id is missing next to `|`",
          hint: "Write `b|c`.",
          at: member.at,
          path: member.path,
        });
      } else if (!graph.indexOf.has(member.value))
        reportUnknownStep(member, "depends_on", graph.indexOf.keys(), findings, graph.entries[index]!.id);
      else if (member.value === graph.entries[index]!.id) {
        const message = `the step ${quote(member.value)} depends on itself`;
        findings.error({
          code: "CYCLE",
          message,
          hint: "Remove its own id from depends_on.",
          at: member.at,
          path: member.path,
        });
      }
    }
  });
  for (const { kind, on, from, target } of graph.routes) {
    if (!graph.indexOf.has(target.value))
      reportUnknownStep(target, `${on}.${kind}`, graph.indexOf.keys(), findings, graph.entries[from]!.id);
  }
}

function checkDependencyCircles(graph: StepGraph, findings: Findings): void {
  if (graph.order.order.length === graph.entries.length) return;
  for (const circle of findCircles(graph.order.dependencies)) {
    const first = graph.entries[circle[0]!]!;
    const ids = circle.map((index) => graph.entries[index]!.id);
    const message = `steps depend on each other in a circle: ${renderCircle(ids)}`;
    findings.error({
      code: "CYCLE",
      message,
      hint: "Remove one of these dependencies.",
      at: first.at,
      path: first.path,
    });
  }
}

/** Run lists of completed steps cost no loop budget: a circle of them would go on for ever. */
function checkSuccessCircles(graph: StepGraph, findings: Findings): void {
  const edges: (readonly number[])[] = graph.entries.map(() => NONE);
  for (const { kind, on, from, target } of graph.routes) {
    const to = graph.indexOf.get(target.value);
    if (kind === "run" && on === "on_success" && to !== undefined) edges[from] = added(edges[from]!, to);
  }
  for (const circle of findCircles(edges)) {
    const first = graph.entries[circle[0]!]!;
    const ids = circle.map((index) => graph.entries[index]!.id);
    const message = `steps run each other on success in a circle that never ends: ${renderCircle(ids)}`;
    findings.error({
      code: "CYCLE",
      message,
      hint: "Remove one of them from the on_success.run lists.",
      at: first.at,
      path: first.path,
    });
  }
}
