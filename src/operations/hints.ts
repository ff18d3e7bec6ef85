import { DarumaError } from "../core/errors/errors.js";
import { plainText } from "../core/text/plain-text.js";
import type { TypedWords } from "./operator-words.js";

/**
 * The hint of a command as it is stored, without terminal controls. It is redacted again afterwards, because removing
 * these can reveal a secret.
 */
export function hintSaid(hint: string | undefined, words: TypedWords): { readonly hint?: string } {
  return hint === undefined ? {} : { hint: words.redactHint(plainText(words.redactHint(hint))) };
}

/** A hint is for attempts that follow; of what begins none it would be lost without a word. */
export function refuseHint(hint: string | undefined, action: string, takes: boolean): void {
  if (hint !== undefined && !takes)
    throw new DarumaError("HINT_REFUSED", `${action} takes no hint: it lets no step work again`);
}
