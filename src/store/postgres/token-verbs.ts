import type { ChangeListeners } from "../change-listeners.js";
import type { Store } from "../store.js";
import { nameChange } from "./commit/commit-payload.js";
import type { Database } from "./database.js";

export function createTokenVerbs(
  db: Database,
  listeners: ChangeListeners,
  sender: string,
): Pick<Store, "revokeToken"> {
  return {
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
