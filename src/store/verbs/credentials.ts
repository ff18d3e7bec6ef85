import { DarumaError } from "../../core/errors/errors.js";
import { TABLES } from "../tables.js";
import type { NewSession, NewToken, TokenRow } from "../token-rows.js";
import { type Dialect, row, rowOf, rows, rowsOf, type Verb } from "./dialect.js";

export function* putToken(dialect: Dialect, { name, role, hash, at, expiresAt }: NewToken): Verb<TokenRow> {
  // Two tokens with one hash could not be distinguished, so the second is a defect of the caller.
  if ((yield* findToken(dialect, hash)) !== null)
    throw new DarumaError("STORE_FAILED", "a token with this hash already exists");
  yield* rows(
    "INSERT INTO token (name, role, hash, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)",
    ...[name, role, hash, at, expiresAt],
  );
  return (yield* findToken(dialect, hash))!;
}

/** Returns false if the token does not exist or is already revoked. */
export function* revokeToken(_: Dialect, id: number, at: number): Verb<boolean> {
  const sql = "UPDATE token SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id";
  return (yield* rows(sql, id, at)).length === 1;
}

export function* findToken(_: Dialect, hash: string): Verb<TokenRow | null> {
  return yield* rowOf(TABLES.token, "WHERE hash = $1", hash);
}

export function* listTokens(): Verb<TokenRow[]> {
  return yield* rowsOf(TABLES.token, "ORDER BY id");
}

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
