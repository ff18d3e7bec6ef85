import { DarumaError } from "../core/errors/errors.js";
import { plainText } from "../core/text/plain-text.js";
import type { TypedWords } from "./operator-words.js";

/**
 * Of a command that lets a step work again: the hint as it is kept, or nothing. What a terminal would obey is taken
 * out, and a secret that only shows then is hidden, too.
 */
export function hintSaid(hint: string | undefined, words: TypedWords): { readonly hint?: string } {
  return hint === undefined ? {} : { hint: words.redactHint(plainText(words.redactHint(hint))) };
}

/** A hint is for attempts that follow; of what begins none it would be lost without a word. */
export function refuseHint(hint: string | undefined, action: string, takes: boolean): void {
  if (hint !== undefined && !takes)
    throw new DarumaError("HINT_REFUSED", `${action} takes no hint: it lets no step work again`);
}
