import { createHash, randomBytes } from "node:crypto";
import { DarumaError } from "../core/errors/errors.js";
import { parseDuration } from "../definition/read/duration.js";
import { iso } from "../report/run-report.js";
import type { TokenRow } from "../store/store.js";
import type { Context } from "./context.js";
import type { Role } from "./roles.js";

const TOKEN_BYTES = 32;
const TOKEN_MARK = "drm_";

/** Its text is shown once, here; only its hash is kept. */
export async function createToken(
  { store, now }: Context,
  { name, role, expires_in }: { name: string; role: Role; expires_in?: string | undefined },
) {
  const token = TOKEN_MARK + randomBytes(TOKEN_BYTES).toString("base64url");
  const lifeMs = expires_in === undefined ? null : durationOf(expires_in);
  const row = await store.putToken({
    name,
    role,
    hash: hashOfToken(token),
    at: now(),
    expiresAt: lifeMs === null ? null : now() + lifeMs,
  });
  return { ...tokenItem(row), token };
}

/** What is kept of a token, and what it is found by. */
export function hashOfToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function durationOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms <= 0) {
    const why = ms === null ? "is no duration" : "is over at once: such a token could never be used";
    throw new DarumaError("INVALID_INPUT", `expires_in: ${text} ${why}`, { hint: "Write 12h, 30d or PT1H." });
  }
  return ms;
}

export function tokenItem({ id, name, role, created_at, expires_at, revoked_at }: TokenRow) {
  const time = (at: number | null): string | null => (at === null ? null : iso(at));
  return {
    id,
    name,
    role,
    created_at: iso(created_at),
    expires_at: time(expires_at),
    revoked_at: time(revoked_at),
  };
}

export async function revokeToken(
  { store, now }: Context,
  id: number,
): Promise<{ id: number; revoked: boolean }> {
  const revoked = await store.revokeToken(id, now());
  if (!revoked && !(await store.listTokens()).some((row) => row.id === id))
    throw new DarumaError("TOKEN_NOT_FOUND", `there is no token ${id}`);
  return { id, revoked };
}
