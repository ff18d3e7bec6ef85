import { itemsOf, tooManyItems } from "../../core/decide/item-limit.js";
import type { HoldExpiry } from "../../core/model/time-used.js";
import { checkJson } from "../../core/text/json-schema-check.js";
import type { RawStep } from "../fields/read-step.js";
import type { Located, ReadContext } from "../read/schema.js";
import { quote } from "../read/suggest.js";

export interface HoldSurroundings {
  /** The workflow's. */
  readonly hold: Located<HoldExpiry> | undefined;
  readonly maxItems: number;
  readonly context: ReadContext;
}

/** A step's own way out of a hold. What a hold completes with must be what the step could have given. */
export function stepHold(
  id: string,
  { keys }: RawStep,
  { hold: ofWorkflow, maxItems, context }: HoldSurroundings,
): HoldExpiry | undefined {
  const hold = keys.hold ?? ofWorkflow;
  if (hold?.value.action === "complete") {
    const { at, path } = hold;
    const flaw = flawOf(hold.value.output ?? null, keys, maxItems);
    if (flaw !== null)
      context.findings.error({
        code: "INVALID_VALUE",
        message: `a hold of ${quote(id)} cannot be completed so: ${flaw}`,
        hint: "Give an output that the step could have, or give the step its own `hold`.",
        at,
        path,
      });
  }
  return keys.hold?.value;
}

function flawOf(
  value: NonNullable<HoldExpiry["output"]> | null,
  { outputs, forEach }: RawStep["keys"],
  maxItems: number,
): string | null {
  const [mismatch] = outputs == null ? [] : checkJson(outputs, value);
  if (mismatch !== undefined)
    return `the output does not fit its schema: ${mismatch.path}: ${mismatch.message}`;
  if (forEach !== true) return null;
  const items = itemsOf(value);
  return items === null
    ? "the output of a forEach step is a list"
    : (tooManyItems(items.length, maxItems)?.message ?? null);
}
