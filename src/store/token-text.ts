import { createHash, randomBytes } from "node:crypto";

const TOKEN_BYTES = 32;
const TOKEN_MARK = "drm_";

export function newToken(): string {
  return TOKEN_MARK + randomBytes(TOKEN_BYTES).toString("base64url");
}

/** The hash that is stored for a token, and by which it is found. */
export function hashOfToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
