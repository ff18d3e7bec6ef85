import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { WebhookDefinition } from "../../core/schedule/webhook.js";

/** A signed request may be so old, or so far ahead of this machine's clock. */
const TOLERANCE_MS = 5 * 60_000;
const MAX_SIGNATURES = 20;
/** The parts of what is signed are set apart by dots. */
const MESSAGE_ID = /^[!-\-/-~]{1,200}$/;
const TIMESTAMP = /^\d{1,12}$/;
const KEY = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

export type WebhookForm = WebhookDefinition["form"];
export type Headers = { readonly [name: string]: string | string[] | undefined };

export interface SignedRequest {
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly now: number;
}

/** Takes as long as any other to find out that it fits nothing. */
const NO_SECRET = randomBytes(32).toString("hex");

/**
 * What makes the request the one it is, if it is signed with the secret: its id, or the hash of its body where no id is
 * signed. Null: it is not. Without a secret the same work is done, so that nobody learns from the time whether there is one.
 */
export function signedId(
  form: WebhookForm | null,
  secret: string | null,
  request: SignedRequest,
): string | null {
  const by = form ?? (request.headers["x-hub-signature-256"] === undefined ? "standard" : "github");
  const id = (by === "github" ? githubId : standardId)(secret ?? NO_SECRET, request);
  return secret === null ? null : id;
}

/** https://www.standardwebhooks.com: several signatures while a secret is being replaced. */
function standardId(secret: string, { headers, bytes, now }: SignedRequest): string | null {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  const [, encoded] = KEY.exec(secret) ?? [];
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(bytes).digest();
  const given = String(signatures ?? "")
    .split(" ", MAX_SIGNATURES)
    .flatMap((each) => (each.startsWith("v1,") ? [Buffer.from(each.slice("v1,".length), "base64")] : []));
  // All of them, whichever fits.
  const fits = given.map((signature) => isSame(signature, expected)).includes(true);
  // `whsec_` and a letter is no key: anybody could sign with it.
  if (key.length === 0) return null;
  if (typeof id !== "string" || !MESSAGE_ID.test(id)) return null;
  if (typeof timestamp !== "string" || !TIMESTAMP.test(timestamp)) return null;
  return fits && Math.abs(now - Number(timestamp) * 1_000) <= TOLERANCE_MS ? id : null;
}

/** Its `X-GitHub-Delivery` is not signed. */
function githubId(secret: string, { headers, bytes }: SignedRequest): string | null {
  const expected = createHmac("sha256", secret).update(bytes).digest();
  const [, hex = ""] = /^sha256=([0-9a-f]{64})$/.exec(String(headers["x-hub-signature-256"] ?? "")) ?? [];
  return isSame(Buffer.from(hex, "hex"), expected) ? createHash("sha256").update(bytes).digest("hex") : null;
}

function isSame(given: Uint8Array, expected: Uint8Array): boolean {
  const isWhole = given.length === expected.length;
  return timingSafeEqual(isWhole ? given : new Uint8Array(expected.length), expected) && isWhole;
}
