import type { Definition, Routing, StepDefinition, Transition } from "../../core/model/definition.js";
import type { JobStatus } from "../../core/model/rows.js";
import { renderCondition } from "./render-condition.js";

/** A condition is a hint in a picture; the file has the whole of it. */
const MAX_CONDITION_CHARS = 40;

/** What of a workflow is drawn, whatever the language of the picture. Nodes have safe names of their own: `n0`, `n1`. */
export interface Drawing {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

export interface DrawnNode {
  readonly name: string;
  /** The id of the step; null: it stands for a choice between steps. */
  readonly step: string | null;
  readonly label: string;
  readonly shape: "step" | "routed" | "for_each" | "reduce" | "or";
  readonly status: JobStatus | null;
}

export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: "depends" | "on_fail" | "on_success" | `transition_${Transition["on"]}`;
  readonly label: string | null;
}

export type StepStatuses = { readonly [stepId: string]: JobStatus | undefined };

export const STATUS_COLOURS: Readonly<Record<JobStatus, string>> = {
  blocked: "#e5e7eb",
  ready: "#dbeafe",
  running: "#93c5fd",
  waiting: "#fde68a",
  recovering: "#fdba74",
  pending_failed: "#f9a8d4",
  completed: "#86efac",
  failed: "#fca5a5",
  skipped: "#f3f4f6",
  canceled: "#d1d5db",
};

export function draw(definition: Definition, statuses: StepStatuses = {}): Drawing {
  const nameOf = new Map(definition.steps.map((step, index) => [step.id, `n${index}`]));
  const nodes: DrawnNode[] = definition.steps.map((step) => ({
    name: nameOf.get(step.id)!,
    step: step.id,
    label: labelOf(step),
    shape: shapeOf(step),
    status: Object.hasOwn(statuses, step.id) ? (statuses[step.id] ?? null) : null,
  }));
  const edges: DrawnEdge[] = [];
  for (const step of definition.steps) {
    const to = nameOf.get(step.id)!;
    for (const [place, group] of step.dependsOn.entries()) {
      let source = nameOf.get(group[0]!)!;
      if (group.length > 1) {
        source = `${to}_or${place}`;
        nodes.push({ name: source, step: null, label: "or", shape: "or", status: null });
        for (const member of group)
          edges.push({ from: nameOf.get(member)!, to: source, kind: "depends", label: null });
      }
      edges.push({ from: source, to, kind: "depends", label: null });
    }
    edges.push(
      ...routes(step.onFail, "on_fail", to, nameOf),
      ...routes(step.onSuccess, "on_success", to, nameOf),
    );
  }
  for (const transition of definition.transitions) {
    const from = nameOf.get(transition.from)!;
    const to = nameOf.get(transition.to)!;
    edges.push({ from, to, kind: `transition_${transition.on}`, label: transitionLabel(transition) });
  }
  return { nodes, edges };
}

/** `on failure 2: error.code == "TIMEOUT"`. */
function transitionLabel({ on, priority, when }: Transition): string {
  const start = `${on === "any" ? "on any end" : `on ${on}`} ${priority}`;
  if (when === null) return start;
  const characters = [...renderCondition(when)];
  const short =
    characters.length > MAX_CONDITION_CHARS
      ? `${characters.slice(0, MAX_CONDITION_CHARS).join("")}…`
      : characters.join("");
  return `${start}: ${short}`;
}

function routes(
  { run, goto, gotoMax }: Routing,
  kind: "on_fail" | "on_success",
  from: string,
  nameOf: ReadonlyMap<string, string>,
): DrawnEdge[] {
  const when = kind === "on_fail" ? "on fail" : "on success";
  const edges = run.map((id): DrawnEdge => ({ from, to: nameOf.get(id)!, kind, label: `${when}: run` }));
  const bound = gotoMax == null ? "" : `, max ${gotoMax}`;
  if (goto !== null) edges.push({ from, to: nameOf.get(goto)!, kind, label: `${when}: goto${bound}` });
  return edges;
}

/** Retries and expressions cannot be drawn as arrows; they stand in the node. */
function labelOf(step: StepDefinition): string {
  const notes: string[] = [];
  if (step.onFail.retry !== null && step.onFail.retry.max > 0) notes.push(`retry ${step.onFail.retry.max}`);
  if (step.failureHandler !== null) notes.push(`handler ${step.failureHandler}`);
  if (step.forEach) notes.push("for each item");
  if (step.reduce) notes.push("reduce");
  if (step.if !== null) notes.push("if");
  for (const [when, routing] of [
    ["fail", step.onFail],
    ["success", step.onSuccess],
  ] as const) {
    if (routing.runJs !== null) notes.push(`on ${when}: run_js`);
    if (routing.gotoJs !== null)
      notes.push(`on ${when}: goto_js${routing.gotoMax == null ? "" : `, max ${routing.gotoMax}`}`);
  }
  return notes.length === 0 ? step.id : `${step.id}\n${notes.join(", ")}`;
}

function shapeOf(step: StepDefinition): DrawnNode["shape"] {
  if (step.reduce) return "reduce";
  if (step.forEach) return "for_each";
  return step.start === "routed" ? "routed" : "step";
}
