import { toStorableText } from "../storable-text.js";
import { COLUMNS } from "../tables.js";
import type { NewToken, TokenRow } from "../token-rows.js";
import { tokenIsThere } from "../token-rules.js";
import { type Dialect, row, rows, type Verb } from "./query.js";

export function* putToken(_: Dialect, { name, role, hash, at, expiresAt }: NewToken): Verb<TokenRow> {
  if ((yield* row("SELECT 1 AS one FROM token WHERE hash = $1", hash)) !== null) throw tokenIsThere();
  const added = yield* row<TokenRow>(
    `INSERT INTO token (name, role, hash, created_at, expires_at) VALUES ($1, $2, $3, $4, $5) RETURNING ${COLUMNS.token}`,
    ...[toStorableText(name), role, hash, at, expiresAt],
  );
  return added!;
}

export function* findToken(_: Dialect, hash: string): Verb<TokenRow | null> {
  return yield* row<TokenRow>(`SELECT ${COLUMNS.token} FROM token WHERE hash = $1`, hash);
}

export function* listTokens(): Verb<TokenRow[]> {
  return [...(yield* rows<TokenRow>(`SELECT ${COLUMNS.token} FROM token ORDER BY id`))];
}
