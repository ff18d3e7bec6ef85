import { randomUUID } from "node:crypto";
import { answerLater, type Dialect, type Verb } from "../verbs/query.js";
import { type AnyVerb, each, type Later, READS, WRITES } from "../verbs/verbs.js";
import type { Session } from "./connection-pool.js";
import type { Database } from "./database.js";
import { isConnectionLoss, isOutsideOfTransaction, isOvertaken, TransactionLost } from "./postgres-errors.js";

const DIALECT: Dialect = {
  each: (list) => `SELECT value::bigint AS value FROM json_array_elements_text(${list}::text::json)`,
};

/** Tries without a pause; after them the store waits a moment between two. */
const TRIES_AT_ONCE = 20;
/** No call is repeated that long: patience ends before. */
const CALLS_KEPT_MS = 3_600_000;

/** The verbs that are written once for all databases. Two that write do so as if one came after the other. */
export function createColdVerbs(db: Database): Later<typeof READS & typeof WRITES> {
  let sweptAt = Number.NEGATIVE_INFINITY;
  const sweep = async (): Promise<void> => {
    if (performance.now() - sweptAt < CALLS_KEPT_MS) return;
    sweptAt = performance.now();
    await db.rows(`DELETE FROM call WHERE at < now() - interval '${CALLS_KEPT_MS} ms'`);
  };
  const reading =
    (verb: AnyVerb) =>
    (...args: unknown[]) =>
      db.work((session) => answer(session, verb(DIALECT, ...args)));
  const writing =
    (verb: AnyVerb) =>
    async (...args: unknown[]) => {
      await sweep();
      const call = { id: randomUUID(), ask: () => verb(DIALECT, ...args) };
      return db.transact((session, isRepeated) => writeOnce(session, call, isRepeated));
    };
  return {
    ...each<typeof READS, Later<typeof READS>>(READS, reading),
    ...each<typeof WRITES, Later<typeof WRITES>>(WRITES, writing),
  };
}

/** The driver's rows are of a class of their own. */
function answer<T>(session: Session, verb: Verb<T>): Promise<T> {
  return answerLater(verb, async ({ text, values }) =>
    (await session.rows<object>(text, ...values)).map((row) => ({ ...row })),
  );
}

interface Call {
  readonly id: string;
  readonly ask: () => Verb<unknown>;
}

/** Its answer is written with what it writes, so that it is done once however often it is tried. */
async function writeOnce(session: Session, { id, ask }: Call, isRepeated: boolean): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    await session.rows("BEGIN READ WRITE");
    try {
      const before = tries > 1 || isRepeated ? await answerBefore(session, id) : null;
      const answered = before === null ? await answer(session, ask()) : JSON.parse(before);
      if (before === null) {
        const kept = JSON.stringify(answered ?? null);
        await session.rows("INSERT INTO call (id, answer) VALUES ($1, $2)", id, kept);
      }
      // A COMMIT outside of a transaction is no error, a savepoint is.
      await session.script("SAVEPOINT all_is_written; COMMIT");
      return answered;
    } catch (error) {
      if (isOutsideOfTransaction(error))
        throw new TransactionLost("the connection broke within a transaction");
      if (isConnectionLoss(error)) throw error;
      await session.rows("ROLLBACK");
      if (!isOvertaken(error) || tries >= TRIES_AT_ONCE) throw error;
    }
  }
}

async function answerBefore(session: Session, id: string): Promise<string | null> {
  const [before] = await session.rows<{ answer: string }>("SELECT answer FROM call WHERE id = $1", id);
  return before?.answer ?? null;
}
