const SHORT_HEX = 10;

/** Enough of a signature to type: commands find a failure by the beginning of its hash. */
export function shortSignature(signature: string): string {
  return signature.slice(signature.indexOf(":") + 1).slice(0, SHORT_HEX);
}
