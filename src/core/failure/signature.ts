import type { Failure } from "../model/failure.js";
import { plainLines } from "../text/plain-text.js";
import { sha256Hex } from "../text/sha256.js";
import { maskItems, maskVolatile } from "./mask-volatile.js";

/** Signatures of different versions never compare equal; any change to what is masked is a new one. */
export const SIGNATURE_VERSION = "v2";
const MAX_SIGNED_CHARS = 2_048;
const MAX_SIGNED_MESSAGE_CHARS = 1_024;
const MAX_SIGNED_LINES = 20;
/** Beyond this nothing is read: the masks leave more than enough of it. */
const MAX_READ_CHARS = 16_384;
const MASK = /<\w+>/g;
const LETTER = /\p{L}/u;

export type Signed = Pick<Failure, "code" | "class" | "message" | "stderr_tail" | "stdout_tail">;
type Mask = (line: string) => string;

/**
 * Names a failure, so that the same one is known again in a later attempt, another item of a fan-out and another run. Code
 * and class stand in it as they are. The texts are redacted already, as everything in a `Failure` is: a secret must not
 * even reach a hash.
 */
export function failureSignature(failure: Signed): string {
  return `${SIGNATURE_VERSION}:${sha256Hex(signedText(failure, maskItems))}`;
}

/** Tells failures of one job apart by what they count too: with 5 problems left of 8 an agent is not stuck. */
export function progressSignature(failure: Omit<Signed, "class">): string {
  return sha256Hex(signedText({ ...failure, class: null }, maskVolatile));
}

/** What a signature is taken over. The last lines of stderr, or of stdout where stderr has none. */
export function signedText(
  failure: Omit<Signed, "class"> & { readonly class: Failure["class"] | null },
  mask: Mask,
): string {
  const message = plainLines(failure.message.slice(0, MAX_READ_CHARS))
    .map(mask)
    .join("\n")
    .slice(0, MAX_SIGNED_MESSAGE_CHARS);
  const named = failure.class === null ? failure.code : `${failure.code} ${failure.class}`;
  const head = `${named}\n${message}\n`.slice(0, MAX_SIGNED_CHARS);
  const stderr = lastMeaningful(failure.stderr_tail, mask);
  const lines = (stderr.length > 0 ? stderr : lastMeaningful(failure.stdout_tail, mask)).join("\n");
  const room = MAX_SIGNED_CHARS - head.length;
  return head + lines.slice(Math.max(0, lines.length - room));
}

/** A line of nothing but numbers, bars or masks tells nothing; how often one was repeated depends on the clock. */
function lastMeaningful(tail: string, mask: Mask): string[] {
  const kept: string[] = [];
  for (const line of plainLines(tail.slice(-MAX_READ_CHARS)).toReversed()) {
    const masked = mask(line);
    if (masked === kept[0] || !LETTER.test(masked.replace(MASK, ""))) continue;
    kept.unshift(masked);
    if (kept.length === MAX_SIGNED_LINES) break;
  }
  return kept;
}
