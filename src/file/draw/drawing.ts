import type {
  Definition,
  FailureRouting,
  Routing,
  StepDefinition,
  Transition,
} from "../../core/model/definition.js";
import { ROUTE_ENDS } from "../../core/model/route.js";
import { JOB_STATUSES, type JobStatus } from "../../core/model/rows.js";
import { noted, nullable, number, type OfFields, text, word } from "../../core/text/shape.js";
import { placeText } from "../read/path.js";
import { renderCondition } from "./render-condition.js";

/** A condition is a hint in a picture; the file has the whole of it. */
const MAX_CONDITION_CHARS = 40;

/** What of a workflow is drawn, whatever the language of the picture. Nodes have safe names of their own: `n0`, `n1`. */
export interface Drawing {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

export const DRAWN_NODE = {
  name: text,
  step: noted(nullable(text), "Null: it stands for a choice between steps."),
  label: text,
  shape: word(["step", "routed", "for_each", "reduce", "or"]),
  status: nullable(word(JOB_STATUSES)),
} as const;
export type DrawnNode = OfFields<typeof DRAWN_NODE>;

export const DRAWN_EDGE = {
  /** It is unique. */
  id: noted(text, "Where a workflow file has it, such as transitions[0]."),
  from: text,
  to: text,
  kind: word([
    ...(["depends", "on_fail", "on_success", "undo"] as const),
    ...(["transition_success", "transition_failure", "transition_any"] as const),
  ]),
  /** For `on_fail` and `on_success`: whether the route runs the step and comes back, or goes on from there. */
  route: nullable(word(["run", "goto"])),
  /** For a transition: lower priorities are tried first. */
  priority: nullable(number),
  /** For a transition: its condition as text. Null if it has none. */
  condition: nullable(text),
  then: noted(
    nullable(word(ROUTE_ENDS)),
    "Of a transition that takes a failure: what becomes of it when its route has completed.",
  ),
  label: nullable(text),
} as const;
export type DrawnEdge = OfFields<typeof DRAWN_EDGE>;

export type StepStatuses = { readonly [stepId: string]: JobStatus | undefined };

export const STATUS_COLOURS: Readonly<Record<JobStatus, string>> = {
  blocked: "#e5e7eb",
  ready: "#dbeafe",
  running: "#93c5fd",
  waiting: "#fde68a",
  recovering: "#fdba74",
  held: "#f9a8d4",
  completed: "#86efac",
  failed: "#fca5a5",
  skipped: "#f3f4f6",
  canceled: "#d1d5db",
};

/**
 * A definition that was read from a text with problems may name steps that it does not have: nothing leads there.
 *
 * @param unread ids of steps whose content could not be read
 */
export function draw(
  definition: Definition,
  statuses: StepStatuses = {},
  unread: readonly string[] = [],
): Drawing {
  const nameOf = new Map(
    [...definition.steps.map(({ id }) => id), ...unread].map((id, index) => [id, `n${index}`]),
  );
  const nodes: DrawnNode[] = definition.steps.map((step) => ({
    name: nameOf.get(step.id)!,
    step: step.id,
    label: labelOf(step, definition.finally?.includes(step.id) === true),
    shape: shapeOf(step),
    status: Object.hasOwn(statuses, step.id) ? (statuses[step.id] ?? null) : null,
  }));
  for (const id of unread)
    nodes.push({ name: nameOf.get(id)!, step: id, label: id, shape: "step", status: null });
  const edges: DrawnEdge[] = [];
  for (const step of definition.steps) {
    const to = nameOf.get(step.id)!;
    for (const [place, group] of step.dependsOn.entries()) {
      const id = `steps.${step.id}.depends_on[${place}]`;
      if (group.length === 1) edges.push(dependency(id, nameOf.get(group[0]!), to));
      else {
        const or = `${to}_or${place}`;
        nodes.push({ name: or, step: null, label: "or", shape: "or", status: null });
        for (const member of group) edges.push(dependency(`${id}.${member}`, nameOf.get(member), or));
        edges.push(dependency(id, or, to));
      }
    }
    edges.push(
      ...routes(step.onFail, "on_fail", step.id, nameOf),
      ...routes(step.onSuccess, "on_success", step.id, nameOf),
      ...undoEdge(step, nameOf),
    );
  }
  for (const transition of definition.transitions) edges.push(transitionEdge(transition, nameOf));
  return { nodes, edges: edges.filter(({ from, to }) => from !== NOWHERE && to !== NOWHERE) };
}

/** The end of an edge that leads to no step of the workflow. */
const NOWHERE = "";
const UNCONDITIONAL = { route: null, priority: null, condition: null, then: null, label: null };

function dependency(id: string, from: string | undefined, to: string): DrawnEdge {
  return { id, from: from ?? NOWHERE, to, kind: "depends", ...UNCONDITIONAL };
}

function undoEdge({ id, undo }: StepDefinition, nameOf: ReadonlyMap<string, string>): DrawnEdge[] {
  if (undo === undefined) return [];
  const [from, to] = [nameOf.get(id)!, nameOf.get(undo) ?? NOWHERE];
  return [{ id: `steps.${id}.undo`, from, to, kind: "undo", ...UNCONDITIONAL, label: "undo" }];
}

function transitionEdge(transition: Transition, nameOf: ReadonlyMap<string, string>): DrawnEdge {
  const { from, to, on, priority, when, then = "skip" } = transition;
  return {
    id: placeText(transition),
    from: nameOf.get(from) ?? NOWHERE,
    to: nameOf.get(to) ?? NOWHERE,
    kind: `transition_${on}`,
    route: null,
    priority,
    condition: when === null ? null : renderCondition(when),
    then: on === "success" ? null : then,
    label: transitionLabel(transition),
  };
}

/** `on failure 2, then continue: error.code == "TIMEOUT"`. */
function transitionLabel({ on, priority, when, then }: Transition): string {
  const end = then === undefined ? "" : `, then ${then}`;
  const start = `${on === "any" ? "on any end" : `on ${on}`} ${priority}${end}`;
  if (when === null) return start;
  const characters = [...renderCondition(when)];
  const short =
    characters.length > MAX_CONDITION_CHARS
      ? `${characters.slice(0, MAX_CONDITION_CHARS).join("")}…`
      : characters.join("");
  return `${start}: ${short}`;
}

function routes(
  { run, runMax, goto, gotoMax }: Partial<FailureRouting> & Routing,
  kind: "on_fail" | "on_success",
  step: string,
  nameOf: ReadonlyMap<string, string>,
): DrawnEdge[] {
  const when = kind === "on_fail" ? "on fail" : "on success";
  const edge = (id: string, target: string, route: "run" | "goto", label: string): DrawnEdge => ({
    id: `steps.${step}.${kind}.${id}`,
    from: nameOf.get(step)!,
    to: nameOf.get(target) ?? NOWHERE,
    kind,
    route,
    priority: null,
    condition: null,
    then: null,
    label: `${when}: ${label}`,
  });
  const bound = (max: number | null | undefined) => (max == null ? "" : `, max ${max}`);
  const edges = run.map((id, place) => edge(`run[${place}]`, id, "run", `run${bound(runMax)}`));
  if (goto !== null) edges.push(edge("goto", goto, "goto", `goto${bound(gotoMax)}`));
  return edges;
}

/** Retries and expressions cannot be drawn as arrows; they stand in the node. */
function labelOf(step: StepDefinition, isFinally: boolean): string {
  const notes: string[] = isFinally ? ["finally"] : [];
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
