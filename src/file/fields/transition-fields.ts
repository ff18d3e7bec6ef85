import type { Transition } from "../../core/model/definition.js";
import type { FilesPolicy } from "../../core/model/files-policy.js";
import type { RouteEnd } from "../../core/model/route.js";
import type { Mending } from "../read/fix.js";
import { childPath, type Path } from "../read/path.js";
import type { NameFinder } from "../read/placed-text.js";
import {
  type Located,
  listOf,
  located,
  named,
  object,
  type ReadContext,
  type Schema,
  type Written,
} from "../read/schema.js";
import { number, oneOf, text } from "../read/schema-scalars.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";
import { type ReadCondition, when } from "./condition-fields.js";
import { filesPolicy } from "./file-fields.js";
import { MAX_COUNT } from "./retry-fields.js";
import { ROUTE_END_DOC, routeEnd } from "./route-end.js";
import type { StepEntry } from "./step-entries.js";

const LAST_ERROR = "_last_error";

/** Whether a condition looks at a failure: `error`, or `state._last_error`. */
function readsError({ fields, codes }: ReadCondition, findNames: NameFinder | null): boolean {
  return (
    codes.some((code) =>
      findNames
        ?.inExpression(code)
        ?.reads.some(({ path: [root, member] }) => isOfError(root?.name, member?.name)),
    ) ||
    fields.some(({ value }) => {
      const [root, member] = value.split(/[.[]/, 2);
      return isOfError(root, member);
    })
  );
}

function isOfError(root: string | undefined, member: string | undefined): boolean {
  return root === "error" || (root === "state" && member === LAST_ERROR);
}

const MAX_NAME_CHARS = 200;
const OUTCOMES = ["success", "failure", "any"] as const satisfies readonly Transition["on"][];
/** Keys of the form in which a transition without `on` is tried whatever the outcome. */
const NODE_FORM_KEYS = ["from_node_id", "to_node_id", "condition"] as const;

/** A transition as its file gives it, before its names are looked up. */
export interface TransitionDraft {
  readonly from: Located<string> | undefined;
  readonly to: Located<string> | undefined;
  readonly on: Transition["on"];
  readonly priority: Located<number> | undefined;
  readonly when: ReadCondition | undefined;
  readonly files: Located<FilesPolicy> | undefined;
  readonly then: RouteEnd | undefined;
  /** It is written in its step. */
  readonly inStep: boolean;
  readonly at: number;
  readonly path: Path | null;
}

const stepName = located(text({ expected: "a step's id", asWritten: true, maxChars: MAX_NAME_CHARS }));

const transitionMap = object({
  from: {
    schema: stepName,
    doc: "The step whose end is watched.",
    required: true,
    aliases: ["from_node_id", "sourceNodeKey"],
  },
  to: {
    schema: stepName,
    doc: "The step that runs then.",
    required: true,
    aliases: ["to_node_id", "targetNodeKey"],
  },
  on: {
    schema: oneOf(OUTCOMES),
    doc: "The outcome of `from` that the transition is tried for.",
    aliases: ["routeOn", "route_on"],
    default: "success",
  },
  priority: {
    schema: located(number({ min: 0, max: MAX_COUNT, whole: true })),
    doc: "Lower numbers are tried first; the default is the position in the list.",
  },
  when: {
    schema: when,
    doc: "A condition, or JavaScript; the transition is taken only if it is true.",
    aliases: ["condition"],
  },
  files: {
    schema: filesPolicy,
    doc: "In a workspace, where `to` has run before: `keep` leaves its files as they are, `restore` takes back what `to` and all after it changed.",
    default: "keep",
  },
  then: { schema: routeEnd, doc: ROUTE_END_DOC },
});

const transition: Schema<TransitionDraft, Written<typeof transitionMap>> = named("transition", {
  ...transitionMap,
  read(node, path, context) {
    const given = transitionMap.read(node, path, context);
    if (given === undefined || node.kind !== "map") return undefined;
    const usesNodeForm = NODE_FORM_KEYS.some((key) => findEntry(node, key) !== undefined);
    const saysOn = ["on", "routeOn", "route_on"].some((key) => findEntry(node, key) !== undefined);
    const on = given.on ?? (usesNodeForm ? "any" : "success");
    if (!saysOn && on === "success" && given.when !== undefined && readsError(given.when, context.findNames))
      reportBlindCondition(node, path, context);
    if (on === "success" && given.then !== undefined) reportIdleEnd(node, path, context);
    return {
      from: given.from,
      to: given.to,
      on,
      priority: given.priority,
      when: given.when,
      files: given.files,
      then: given.then,
      inStep: false,
      at: node.at,
      path,
    };
  },
});

const ADD_ON: Mending = { words: "Add on: failure", adds: "on: failure" };

/** After a success there is no error: a condition on one would never hold. */
function reportBlindCondition(node: SourceMap, path: Path | null, context: ReadContext): void {
  const message =
    "`when` reads the error, but the transition is tried only after a success, which is the default of `on`";
  const hint = "Add `on: failure` or `on: any`.";
  const at = findEntry(node, "when")?.keyAt ?? node.at;
  context.findings.error({ code: "INVALID_VALUE", message, hint, at, path, mending: ADD_ON });
}

/** Only a failure leaves dependents behind about which something must be said. */
function reportIdleEnd(node: SourceMap, path: Path | null, context: ReadContext): void {
  const message = "`then` says what becomes of a failure, but the transition is tried only after a success";
  const hint = "Add `on: failure` or `on: any`, or remove `then`.";
  const at = findEntry(node, "then")?.keyAt ?? node.at;
  context.findings.error({
    code: "INVALID_VALUE",
    message,
    hint,
    at,
    path: childPath(path, "then"),
    mending: ADD_ON,
  });
}

export const transitions = listOf(transition, { items: "transitions" });

/** The transitions that steps give themselves, in the order of the steps. */
export function transitionsInSteps(entries: readonly StepEntry[]): TransitionDraft[] {
  return entries.flatMap(({ id, at: stepAt, path: stepPath, raw }) => {
    const edge = raw?.keys.on_fail?.edge;
    if (edge === undefined) return [];
    const { value, at, path } = edge;
    return [
      {
        from: { value: id, at: stepAt, path: stepPath },
        to: value.to,
        on: "failure",
        priority: undefined,
        when: undefined,
        files: undefined,
        then: value.then,
        inStep: true,
        at,
        path,
      },
    ];
  });
}
