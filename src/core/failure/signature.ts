import type { Failure } from "../model/failure.js";
import { plainLines } from "../text/plain-text.js";
import { sha256Hex } from "../text/sha256.js";
import { maskVolatile } from "./mask-volatile.js";

/** Signatures of different versions never compare equal; any change to what is masked is a new one. */
export const SIGNATURE_VERSION = "v1";
const MAX_SIGNED_CHARS = 2_048;
const MAX_SIGNED_MESSAGE_CHARS = 1_024;
const MAX_SIGNED_LINES = 20;
/** Beyond this nothing is read: the masks leave more than enough of it. */
const MAX_READ_CHARS = 16_384;
const MASK = /<\w+>/g;
const LETTER = /\p{L}/u;

/**
 * Names a failure, so that the same one is known again in a later attempt although times, ids and paths differ. The
 * texts are redacted already, as everything in a `Failure` is: a secret must not even reach a hash.
 */
export function failureSignature(
  failure: Pick<Failure, "code" | "message" | "stderr_tail" | "stdout_tail">,
): string {
  return `${SIGNATURE_VERSION}:${sha256Hex(signedText(failure))}`;
}

/** What a signature is taken over. The last lines of stderr, or of stdout where stderr has none. */
export function signedText(
  failure: Pick<Failure, "code" | "message" | "stderr_tail" | "stdout_tail">,
): string {
  const message = plainLines(failure.message.slice(0, MAX_READ_CHARS))
    .map(maskVolatile)
    .join("\n")
    .slice(0, MAX_SIGNED_MESSAGE_CHARS);
  const head = `${failure.code}\n${message}\n`.slice(0, MAX_SIGNED_CHARS);
  const stderr = lastMeaningful(failure.stderr_tail);
  const lines = (stderr.length > 0 ? stderr : lastMeaningful(failure.stdout_tail)).join("\n");
  const room = MAX_SIGNED_CHARS - head.length;
  return head + lines.slice(Math.max(0, lines.length - room));
}

/** A line of nothing but numbers, bars or masks tells nothing; how often one was repeated depends on the clock. */
function lastMeaningful(tail: string): string[] {
  const kept: string[] = [];
  for (const line of plainLines(tail.slice(-MAX_READ_CHARS)).toReversed()) {
    const masked = maskVolatile(line);
    if (masked === kept[0] || !LETTER.test(masked.replace(MASK, ""))) continue;
    kept.unshift(masked);
    if (kept.length === MAX_SIGNED_LINES) break;
  }
  return kept;
}
