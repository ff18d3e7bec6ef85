import { DarumaError } from "../../core/errors/errors.js";
import { TABLES } from "../tables.js";
import type { NewToken, TokenRow } from "../token-rows.js";
import type { Dialect } from "./dialect.js";
import { rowOf, rows, rowsOf, type Verb } from "./query.js";

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
