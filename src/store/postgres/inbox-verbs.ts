import type { ChangeListeners } from "../change-listeners.js";
import { toStorableText } from "../storable-text.js";
import type { NewInboxCommand, Store } from "../store.js";
import { nameChange } from "./commit/commit-payload.js";
import type { Session } from "./connection-pool.js";
import { type Database, toArrayLiteral } from "./database.js";

type InboxVerb = "sendCommand" | "readInbox" | "answerCommand" | "readAnswer" | "forgetCommands";

export function createInboxVerbs(
  db: Database,
  listeners: ChangeListeners,
  sender: string,
): Pick<Store, InboxVerb> {
  return {
    async sendCommand(command) {
      const id = await db.work((session) => sendCommand(session, command, sender));
      listeners.tell("inbox", command.runId);
      return id;
    },
    async readInbox(runIds) {
      const commands = await db.rows<{ id: number; run_id: number; command: string }>(
        `SELECT id, run_id, command FROM inbox WHERE answer IS NULL AND run_id = ANY ($1::bigint[]) ORDER BY id`,
        toArrayLiteral(runIds),
      );
      return commands.map(({ id, run_id, command }) => ({ id, runId: run_id, command }));
    },
    async answerCommand(id, answer) {
      const [answered] = await db.rows<{ run_id: number }>(
        `WITH answered AS (UPDATE inbox SET answer = $2 WHERE id = $1 AND answer IS NULL RETURNING run_id)
         SELECT run_id, pg_notify(current_schema(), 'answer:' || run_id || ':' || $3::text) FROM answered`,
        ...[id, toStorableText(answer), sender],
      );
      if (answered !== undefined) listeners.tell("answer", answered.run_id);
    },
    async readAnswer(id) {
      const [entry] = await db.rows<{ answer: string | null }>("SELECT answer FROM inbox WHERE id = $1", id);
      return entry?.answer ?? null;
    },
    async forgetCommands(runId, before) {
      await db.rows("DELETE FROM inbox WHERE run_id = $1 AND at < $2", runId, before);
    },
  };
}

/** Looked for first: an insert that meets its key uses up an id all the same. */
async function sendCommand(
  session: Session,
  { runId, key, command, at }: NewInboxCommand,
  sender: string,
): Promise<number> {
  for (;;) {
    const [entry] = await session.rows<{ id: number }>(
      `WITH there AS (SELECT id FROM inbox WHERE run_id = $1 AND key = $2),
         added AS (
           INSERT INTO inbox (run_id, key, command, at) SELECT $1, $2, $3, $4 WHERE NOT EXISTS (SELECT FROM there)
           ON CONFLICT (run_id, key) DO NOTHING RETURNING id)
       SELECT id, pg_notify(current_schema(), $5) FROM (SELECT id FROM there UNION ALL SELECT id FROM added) AS entry`,
      ...[runId, toStorableText(key), toStorableText(command), at, `${nameChange("inbox", runId)}:${sender}`],
    );
    // None: somebody else has just put the same key in, and it is there now.
    if (entry !== undefined) return entry.id;
  }
}
