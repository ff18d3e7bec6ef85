import type { Handling } from "../../core/model/rows.js";
import { counted } from "../../core/text/amount-text.js";
import { nameOf, shownOf } from "../lookup/job-name.js";

interface Place {
  readonly step: string;
  readonly scope: string;
}

type HandledBy = Pick<Handling, "how" | "by">;

/** A child run in which failures were handled, or that is open. Spelled out: the page reads this file, and knows no store. */
export interface ChildEnd {
  readonly run_id: number;
  readonly workflow: string;
  readonly status: string;
  readonly failures: number;
  readonly steps: string;
}

/** What a completed run tells of the failures that it did not mend. */
export interface HandledEnd {
  readonly handled_failures: readonly (Place & HandledBy)[];
  readonly skipped_by_failure: readonly Place[];
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

/** `1 failure handled: test, by fallback; skipped: publish`; null: there was none, or it was mended. */
export function handledText(end: HandledEnd): string | null {
  const count = countHandled(end);
  const children = end.handled_in_children;
  const open = named(children.filter(isOpenChild), openChildText, "; ");
  if (count === 0) return open === "" ? null : open;
  const own = named(end.handled_failures, (each) => `${placeText(each)}, by ${handlerText(each)}`, "; ");
  const below = named(
    children.filter((child) => !isOpenChild(child)),
    ({ run_id, workflow, steps }) => `${steps} in run ${run_id} of ${workflow}`,
    "; ",
  );
  const skipped = named(end.skipped_by_failure, placeText, ", ");
  const told = [own, below, skipped === "" ? "" : `skipped: ${skipped}`, open].filter((each) => each !== "");
  return `${counted(count, "failure")} handled: ${told.join("; ")}`;
}

/** What failed in it, or what it waits for. */
export function childText(child: ChildEnd): string {
  return isOpenChild(child)
    ? openChildText(child)
    : `${counted(child.failures, "failure")} handled in run ${child.run_id}: ${child.steps}`;
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
