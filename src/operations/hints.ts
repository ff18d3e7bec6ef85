import { DarumaError } from "../core/errors/errors.js";
import type { Redactor } from "../core/redaction/redaction.js";

/** Of a command that lets a step work again: the hint as it is kept, or nothing. */
export function hintSaid(
  hint: string | undefined,
  redactor: Pick<Redactor, "redact">,
): { readonly hint?: string } {
  return hint === undefined ? {} : { hint: redactor.redact(hint) };
}

/** A hint is for attempts that follow; of what begins none it would be lost without a word. */
export function refuseHint(hint: string | undefined, action: string, takes: boolean): void {
  if (hint !== undefined && !takes)
    throw new DarumaError("HINT_REFUSED", `${action} takes no hint: it lets no step work again`);
}
