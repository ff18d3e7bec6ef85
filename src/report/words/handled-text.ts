import type { Handling } from "../../core/model/rows.js";
import { counted } from "../../core/text/amount-text.js";
import { nameOf, shownOf } from "../lookup/job-name.js";

interface Place {
  readonly step: string;
  readonly scope: string;
}

type HandledBy = Pick<Handling, "how" | "by">;

/** A child run in which so many failures were handled. Spelled out: the page reads this file, and knows no store. */
interface ChildEnd {
  readonly run_id: number;
  readonly workflow: string;
  readonly failures: number;
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
}: Pick<HandledEnd, "handled_failures" | "handled_in_children">): number {
  return own.length + children.reduce((sum, { failures }) => sum + failures, 0);
}

/** `1 failure handled: test, by fallback; skipped: publish`; null: there was none, or it was mended. */
export function handledText(end: HandledEnd): string | null {
  const count = countHandled(end);
  if (count === 0) return null;
  const own = named(end.handled_failures, (each) => `${placeText(each)}, by ${handlerText(each)}`, "; ");
  const below = named(
    end.handled_in_children,
    ({ run_id, workflow, failures }) => `${failures} in run ${run_id} of ${workflow}`,
    "; ",
  );
  const skipped = named(end.skipped_by_failure, placeText, ", ");
  const told = [own, below, skipped === "" ? "" : `skipped: ${skipped}`].filter((each) => each !== "");
  return `${counted(count, "failure")} handled: ${told.join("; ")}`;
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
