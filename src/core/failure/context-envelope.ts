import { firstChars } from "../text/head-tail.js";
import { sha256Hex } from "../text/sha256.js";

export const CONTEXT_POLICY_VERSION = 2;

/** What a context was made of, stored with the attempt that got it. */
export interface ContextManifest {
  readonly policy_version: number;
  /** Length of the whole text, headers and fences counted. */
  readonly total_chars: number;
  readonly parts: readonly ContextPart[];
}

export interface ContextPart {
  readonly name: string;
  readonly status: "included" | "cut" | "dropped";
  readonly original_chars: number;
  readonly included_chars: number;
  readonly dropped_chars: number;
}

export interface Context {
  readonly text: string;
  readonly manifest: ContextManifest;
}

export interface Counts {
  readonly originalChars: number;
  readonly includedChars: number;
}

export interface Envelope {
  readonly title: string;
  readonly fields: readonly (readonly [name: string, value: string | number | boolean | null])[];
}

const NONCE_HEX_DIGITS = 16;

/** The envelope with its content between two lines that nothing in the content can imitate. */
export function renderEnvelope({ title, fields }: Envelope, counts: Counts, content: string): string {
  const applied = counts.includedChars < counts.originalChars;
  return [
    title,
    ...fields.map(([name, value]) => `${name}: ${value}`),
    "truncation:",
    `  applied: ${applied}`,
    `  method: ${applied ? "head_tail" : "none"}`,
    `  original_chars: ${counts.originalChars}`,
    `  included_chars: ${counts.includedChars}`,
    `  dropped_chars: ${counts.originalChars - counts.includedChars}`,
    "content:",
    fenceContent(content),
    "",
  ].join("\n");
}

/** The most that an envelope can take beside its content when something of `originalChars` is cut. */
export function cutEnvelopeChars(envelope: Envelope, originalChars: number): number {
  const digits = String(originalChars).length;
  return renderEnvelope(envelope, { originalChars: 1, includedChars: 0 }, "").length + 3 * (digits - 1);
}

export function fenceContent(content: string): string {
  const nonce = chooseNonce(content);
  return `<<<BEGIN ${nonce}>>>\n${content}\n<<<END ${nonce}>>>`;
}

/** Follows from the content alone and does not occur in it, not even in other letters. */
function chooseNonce(content: string): string {
  const lowerCase = content.toLowerCase();
  for (let salt = 0; ; salt++) {
    const nonce = sha256Hex(`${salt}\n${content}`).slice(0, NONCE_HEX_DIGITS);
    if (!lowerCase.includes(nonce)) return nonce;
  }
}

export function partOf(name: string, { originalChars, includedChars }: Counts): ContextPart {
  const dropped = originalChars - includedChars;
  const status = dropped === 0 ? "included" : includedChars === 0 ? "dropped" : "cut";
  return {
    name,
    status,
    original_chars: originalChars,
    included_chars: includedChars,
    dropped_chars: dropped,
  };
}

/** A header's value: one line without control characters, so that it cannot pose as another header. */
export function headerValue(text: string, maxChars: number): string {
  return firstChars(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "), maxChars);
}
