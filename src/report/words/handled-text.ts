import { counted } from "../../core/text/amount-text.js";
import { nameOf, shownOf } from "../lookup/job-name.js";

interface Place {
  readonly step: string;
  readonly scope: string;
}

/** What a completed run tells of the failures that it did not mend. */
export interface HandledEnd {
  readonly handled_failures: readonly (Place & { readonly by?: string | null })[];
  readonly skipped_by_failure?: readonly Place[];
}

/** `1 failure handled: test, by fallback; skipped: publish`; null: there was none, or it was mended. */
export function handledText({
  handled_failures: handled,
  skipped_by_failure: skipped = [],
}: HandledEnd): string | null {
  if (handled.length === 0) return null;
  const failed = named(handled, ({ step, scope, by }) => handledName(nameOf(step, scope), by ?? null), "; ");
  const behind = named(skipped, ({ step, scope }) => nameOf(step, scope), ", ");
  return `${counted(handled.length, "failure")} handled: ${failed}${behind === "" ? "" : `; skipped: ${behind}`}`;
}

/** `test, by fallback`. */
export function handledName(name: string, by: string | null): string {
  return by === null ? name : `${name}, by ${by}`;
}

function named<T>(items: readonly T[], name: (item: T) => string, between: string): string {
  const shown = shownOf(items);
  const more = items.length - shown.length;
  return [...shown.map(name), ...(more > 0 ? [`${more} more`] : [])].join(between);
}
