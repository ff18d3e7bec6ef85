import { TABLES } from "../tables.js";
import type { NewSession, TokenRow } from "../token-rows.js";
import type { Dialect } from "./dialect.js";
import { row, rowOf, rows, type Verb } from "./query.js";

/** Stores a session and deletes expired ones. */
export function* putSession(_: Dialect, { hash, tokenId, at, expiresAt }: NewSession): Verb<void> {
  yield* rows("DELETE FROM session WHERE expires_at <= $1", at);
  yield* rows(
    "INSERT INTO session (hash, token_id, expires_at) VALUES ($1, $2, $3)",
    ...[hash, tokenId, expiresAt],
  );
}

export function* findSession(_: Dialect, hash: string): Verb<TokenRow | null> {
  const session = yield* row<{ token_id: number; expires_at: number }>(
    "SELECT token_id, expires_at FROM session WHERE hash = $1",
    hash,
  );
  if (session === null) return null;
  const token = yield* rowOf(TABLES.token, "WHERE id = $1", session.token_id);
  if (token === null) return null;
  return { ...token, expires_at: Math.min(session.expires_at, token.expires_at ?? session.expires_at) };
}

export function* endSession(_: Dialect, hash: string): Verb<void> {
  yield* rows("DELETE FROM session WHERE hash = $1", hash);
}
