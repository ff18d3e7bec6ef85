import { isUtf8 } from "node:buffer";

/** Bytes without secrets. */
export type HideSecrets = (bytes: Uint8Array) => Uint8Array;

/**
 * What was printed or received, as text. Where decoding loses bytes, as it does of UTF-16, secrets are hidden before:
 * nobody would find them in what is left. Other text is searched later, once it is known to be JSON or not.
 */
export function printedText(bytes: Uint8Array, hide: HideSecrets | undefined, isCut = false): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const shown = hide === undefined || isUtf8(bytes) ? bytes : hide(bytes);
  return decoder.decode(shown, { stream: isCut });
}
