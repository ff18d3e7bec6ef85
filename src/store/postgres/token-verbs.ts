import type { ChangeListeners } from "../change-listeners.js";
import type { NewToken, Store, TokenRow } from "../store.js";
import { COLUMNS } from "../tables.js";
import { tokenIsThere } from "../token-rules.js";
import { nameChange } from "./commit/commit-payload.js";
import type { Session } from "./connection-pool.js";
import type { Database } from "./database.js";

type TokenVerb = "putToken" | "findToken" | "listTokens" | "revokeToken";

export function createTokenVerbs(
  db: Database,
  listeners: ChangeListeners,
  sender: string,
): Pick<Store, TokenVerb> {
  return {
    putToken: (token) => db.work((session, isRepeated) => putToken(session, token, isRepeated)),
    findToken: (hash) => db.work((session) => findToken(session, hash)),
    async listTokens() {
      const tokens = await db.rows<TokenRow>(`SELECT ${COLUMNS.token} FROM token ORDER BY id`);
      return tokens.map((token) => ({ ...token }));
    },
    async revokeToken(id, at) {
      const isRevoked = await db.work(async (session, isRepeated) => {
        const revoked = await session.rows(
          `UPDATE token SET revoked_at = $2 WHERE id = $1 AND (revoked_at IS NULL OR ($3 AND revoked_at = $2))
           RETURNING pg_notify(current_schema(), $4)`,
          ...[id, at, isRepeated, `${nameChange("revoked", 0)}:${sender}`],
        );
        return revoked.length === 1;
      });
      if (isRevoked) listeners.tell("revoked", 0);
      return isRevoked;
    },
  };
}

async function putToken(session: Session, token: NewToken, isRepeated: boolean): Promise<TokenRow> {
  const { name, role, hash, at, expiresAt } = token;
  const [added] = await session.rows<TokenRow>(
    `INSERT INTO token (name, role, hash, created_at, expires_at)
     SELECT $1, $2, $3, $4, $5 WHERE NOT EXISTS (SELECT FROM token WHERE hash = $3)
     ON CONFLICT (hash) DO NOTHING RETURNING ${COLUMNS.token}`,
    ...[name, role, hash, at, expiresAt],
  );
  if (added !== undefined) return { ...added };
  const there = isRepeated ? await findToken(session, hash) : null;
  // The answer of the first try was lost, but not its writing: a hash is never given out twice.
  if (there !== null && there.created_at === at) return there;
  throw tokenIsThere();
}

async function findToken(session: Session, hash: string): Promise<TokenRow | null> {
  const [token] = await session.rows<TokenRow>(`SELECT ${COLUMNS.token} FROM token WHERE hash = $1`, hash);
  return token === undefined ? null : { ...token };
}
