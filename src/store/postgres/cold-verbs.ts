import { randomUUID } from "node:crypto";
import { namesOf } from "../tables.js";
import { answerLater, type Dialect, type Value, type Verb } from "../verbs/dialect.js";
import { type AnyVerb, type ColdVerbs, changeOf, each, LISTS, PUTS, READS, WRITES } from "../verbs/verbs.js";
import { nameChange } from "./commit/commit-queue.js";
import type { Parameter, Session } from "./connection-pool.js";
import { type Database, LONG_DEADLINE_MS, toArrayLiteral, type WorkLimits } from "./database.js";
import type { LeaseClock } from "./lease-verbs.js";
import { isConnectionLoss, isOutsideOfTransaction, isOvertaken, TransactionLost } from "./postgres-errors.js";

const DIALECT: Omit<Dialect, "clock"> = {
  among: (column, list, of) => `${column} = ANY (${list}::${of}[])`,
  records: (json, columns) => {
    const typed = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
    return `SELECT * FROM json_to_recordset(${json}::text::json) AS given (${typed.join(", ")})`;
  },
  lock: "FOR UPDATE",
  join: "JOIN",
  eventJob: "about_job",
  field: (...names) => `(data::json #>> '{${names.join(",")}}')`,
  isNotOk: "data::json ->> 'ok' = 'false'",
  decided: {
    jobs: `LATERAL json_array_elements_text(
      coalesce(data::json -> 'jobs', json_build_array(data::json -> 'job'))) AS decided (value)`,
    job: "decided.value::bigint",
  },
  position: (text, sought) => `strpos(${text}, ${sought})`,
  lower: (text) => `lower(${text} COLLATE "C")`,
  indexed: () => "",
  bytes: { write: (value) => `decode(${value}, 'base64')`, read: (column) => `encode(${column}, 'base64')` },
  given: (table, json) =>
    `SELECT ${namesOf(table).join(", ")} FROM json_populate_recordset(NULL::${table.name}, ${json}::text::json)`,
};
const CLOCK = "SELECT floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint AS at";

export function dialectOf(clock: LeaseClock): Dialect {
  return { ...DIALECT, clock: clock === "caller" ? null : CLOCK };
}

const KEEP = "INSERT INTO call (id, answer) VALUES ($1, $2)";

/** Tries without a pause. After that the store waits a moment between tries. */
const TRIES_AT_ONCE = 20;
/** How long answers of calls are kept. No call is repeated for so long. */
const CALLS_KEPT_MS = 3_600_000;

/** The verbs that are written once for all databases. Writing ones run in serializable transactions. */
export function createColdVerbs(db: Database, dialect: Dialect, sender: string): ColdVerbs {
  let sweptAt = Number.NEGATIVE_INFINITY;
  const sweep = async (): Promise<void> => {
    if (performance.now() - sweptAt < CALLS_KEPT_MS) return;
    sweptAt = performance.now();
    await db.rows(`DELETE FROM call WHERE at < now() - interval '${CALLS_KEPT_MS} ms'`);
  };
  const asking =
    (limits: WorkLimits) =>
    (verb: AnyVerb) =>
    (...args: unknown[]) =>
      db.work((session) => answer(session, verb(dialect, ...args)), limits);
  const writing =
    (verb: AnyVerb, name: string) =>
    async (...args: unknown[]) => {
      await sweep();
      const change = (answered: unknown) => {
        const told = changeOf(name, answered, args);
        return told === null ? null : `${nameChange(told.kind, told.runId)}:${sender}`;
      };
      const call = { id: randomUUID(), ask: () => verb(dialect, ...args), change };
      return db.transact((session, isRepeated) => writeOnce(session, call, isRepeated));
    };
  return {
    ...each({ ...READS, ...PUTS }, asking({})),
    ...each(LISTS, asking({ deadlineMs: LONG_DEADLINE_MS })),
    ...each(WRITES, writing),
  } as ColdVerbs;
}

/** Answers a verb's queries. Rows are copied, because the driver's are of its own class. */
function answer<T>(session: Session, verb: Verb<T>): Promise<T> {
  return answerLater(verb, async ({ text, values }) =>
    (await session.rows<object>(text, ...values.map(toParameter))).map((row) => ({ ...row })),
  );
}

export function toParameter(value: Value): Parameter {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return typeof value === "object" && value !== null ? toArrayLiteral(value) : value;
}

interface Call {
  readonly id: string;
  readonly ask: () => Verb<unknown>;
  /** The change to notify with the commit; null if there is none. */
  readonly change: (answered: unknown) => string | null;
}

/** Executes a writing verb once, however often it is tried: its answer is stored in the same transaction. */
async function writeOnce(session: Session, { id, ask, change }: Call, isRepeated: boolean): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    await session.rows("BEGIN READ WRITE");
    try {
      const before = tries > 1 || isRepeated ? await answerBefore(session, id) : null;
      const answered = before === null ? await answer(session, ask()) : JSON.parse(before);
      if (before === null) {
        const kept = [id, JSON.stringify(answered ?? null)];
        const told = change(answered);
        if (told === null) await session.rows(KEEP, ...kept);
        else await session.rows(`${KEEP} RETURNING pg_notify(current_schema(), $3)`, ...kept, told);
      }
      // A COMMIT outside of a transaction is no error, but a savepoint is.
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
