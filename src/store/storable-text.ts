const REPLACEMENT = "\uFFFD";
/** In a unicode pattern only a surrogate without its other half is one. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * Free text as every store can keep it: SQLite's drivers cut text at a NUL when they read it, and UTF-8 has no lone
 * surrogates. JSON needs none of this, it escapes both.
 */
export function toStorableText(text: string): string {
  return text.replaceAll("\0", REPLACEMENT).replace(LONE_SURROGATE, REPLACEMENT);
}
