import type { Decision, Handling } from "../../core/model/rows.js";
import { counted } from "../../core/text/amount-text.js";
import { nameOf, shownOf } from "../lookup/job-name.js";
import { decidedText } from "./decided-text.js";

interface Place {
  readonly step: string;
  readonly scope: string;
}

type HandledBy = Pick<Handling, "how" | "by">;

interface Decided extends Place, Decision {}

/** A child run in which failures were handled or somebody decided, or that is open. Spelled out: the page reads this file, and knows no store. */
export interface ChildEnd {
  readonly run_id: number;
  /** Empty: the run is no longer stored. */
  readonly workflow: string;
  readonly status: string;
  readonly failures: number;
  readonly steps: string;
  readonly decided: readonly Decided[];
}

/** What a completed run tells of the failures that it did not mend. */
export interface HandledEnd {
  readonly handled_failures: readonly (Place & HandledBy)[];
  readonly skipped_by_failure: readonly Place[];
  readonly decided: readonly Decided[];
  readonly handled_in_children: readonly ChildEnd[];
}

/** How many failures were handled, in its child runs, too. */
export function countHandled({
  handled_failures: own,
  handled_in_children: children,
}: {
  readonly handled_failures: readonly unknown[];
  readonly handled_in_children: readonly Pick<ChildEnd, "failures">[];
}): number {
  return own.length + children.reduce((sum, { failures }) => sum + failures, 0);
}

/** What of the end of a completed run counts as a failure with `--strict`; null: nothing. Somebody who decided has looked at it. */
export function strictReason(end: {
  readonly handled_failures: readonly unknown[];
  readonly decided: readonly Pick<Decision, "expired">[];
  readonly handled_in_children: readonly Pick<ChildEnd, "failures" | "status" | "decided">[];
}): string | null {
  if (countHandled(end) > 0) return "a failure was handled";
  const decided = [...end.decided, ...end.handled_in_children.flatMap((child) => child.decided)];
  if (decided.some(({ expired }) => expired)) return "a hold expired";
  return end.handled_in_children.some(isOpenChild) ? "a child run is open" : null;
}

/** For the report of a completed run: that `--strict` makes a failure of its end; null: it does not. */
export function strictText(
  end: Parameters<typeof strictReason>[0] & { readonly strict: boolean },
): string | null {
  return end.strict && strictReason(end) !== null ? "Strict: this counts as a failure." : null;
}

/**
 * `1 failure handled: test, by fallback; skipped: publish; train skipped by ann`; null: there was none, or it was mended.
 */
export function handledText(end: HandledEnd): string | null {
  const count = countHandled(end);
  const children = end.handled_in_children;
  const own = named(end.handled_failures, (each) => `${placeText(each)}, by ${handlerText(each)}`, "; ");
  const below = named(
    children.filter(({ failures }) => failures > 0),
    ({ run_id, workflow, steps }) => `${steps} in run ${run_id}${workflow === "" ? "" : ` of ${workflow}`}`,
    "; ",
  );
  const skipped = named(end.skipped_by_failure, placeText, ", ");
  const handled = [own, below, skipped === "" ? "" : `skipped: ${skipped}`].filter((each) => each !== "");
  const told = [
    count === 0 ? "" : `${counted(count, "failure")} handled: ${handled.join("; ")}`,
    named(end.decided, decidedText, ", "),
    named(
      children.filter(({ decided }) => decided.length > 0),
      decidedBelowText,
      "; ",
    ),
    named(children.filter(isOpenChild), openChildText, "; "),
  ].filter((each) => each !== "");
  return told.length === 0 ? null : told.join("; ");
}

/** What failed in it, what was decided in it, or what it waits for. */
export function childText(child: ChildEnd): string {
  if (isOpenChild(child)) return openChildText(child);
  const { failures, run_id, steps, decided } = child;
  const handled =
    failures === 0 ? [] : [`${counted(failures, "failure")} handled in run ${run_id}: ${steps}`];
  return [...handled, ...(decided.length === 0 ? [] : [decidedBelowText(child)])].join("; ");
}

function decidedBelowText({ run_id, decided }: ChildEnd): string {
  return `in run ${run_id} ${named(decided, decidedText, ", ")}`;
}

export function isOpenChild({ status }: Pick<ChildEnd, "status">): boolean {
  return status !== "completed";
}

/** A child run that is not over, though the run that it is for is: somebody has reopened it. */
function openChildText({ run_id: id, status }: ChildEnd): string {
  return status === "held"
    ? `its run ${id} is held: daruma explain ${id}`
    : `its run ${id} is open: daruma resume ${id}`;
}

function placeText({ step, scope }: Place): string {
  return nameOf(step, scope);
}

const HANDLERS: Readonly<Record<Handling["how"], string>> = {
  edge: "a transition",
  continue_on_failure: "continue_on_failure",
  join: "its join",
  repair: "the step that it was to repair",
  program: "its program",
};

/** What handled it: the step where its route completed, or what the file says instead. */
export function handlerText({ how, by }: HandledBy): string {
  return by ?? HANDLERS[how];
}

function named<T>(items: readonly T[], name: (item: T) => string, between: string): string {
  const shown = shownOf(items);
  const more = items.length - shown.length;
  return [...shown.map(name), ...(more > 0 ? [`${more} more`] : [])].join(between);
}
