import postgres from "postgres";
import { toStorableText } from "../stored-text.js";
import type { PostgresAddress } from "./postgres-address.js";
import { AnswerOverdue, isConnectionLoss } from "./postgres-errors.js";

const CONNECT_TIMEOUT_SECONDS = 10;
const RECONNECT_DELAY_SECONDS = 0.1;
const IDLE_CONNECTION_SECONDS = 60;
/** How long work on a pool's sound connections may take to finish after one of them broke. */
const END_TIMEOUT_SECONDS = 1;
/** The same if an answer is overdue: perhaps only that one is, and the other answers are on their way. */
const RETIREMENT_MS = 60_000;
/** A process that stood still sees the deadline pass before it reads an answer that has long arrived. */
const LATE_READING_MS = 250;
/** A large request gets this much more time. */
const CHARS_PER_MS = 1_024;
/** A script makes all tables, or waits for another process that does. */
const SCRIPT_DEADLINE_MS = 60_000;
const OID_INT8 = 20;

type Sql = postgres.Sql<{ bigint: number }>;
export type Parameter = string | number | boolean | null;
/** Settings of PostgreSQL for each connection. */
export type ServerSettings = { readonly [name: string]: string };

/** What work may ask the database. Each answer has a deadline, because a dead connection may never report an error. */
export interface Session {
  /** Executes one statement, prepared once per connection. */
  rows<Row>(text: string, ...parameters: readonly Parameter[]): Promise<Row[]>;
  /** Executes several statements without parameters in one transaction. */
  script(text: string): Promise<void>;
}

/**
 * Connections that are all replaced when one of them breaks. The driver (3.4) reconnects by itself but keeps unsent
 * data, and the next connection then hangs. It also ends the whole process if the connection of a transaction or a
 * reservation breaks, so neither is used: what belongs together is one statement, one script or one function in the
 * database.
 */
export class ConnectionPool {
  #sql: Sql;
  #listening: { readonly channel: string; call(payload: string): void } | null = null;
  readonly #retired = new Map<Sql, NodeJS.Timeout>();

  constructor(
    private readonly address: PostgresAddress,
    private readonly maxConnections: number,
    /** Called when an answer is overdue, since the network may be cut for all connections. */
    private readonly onOverdue: () => void = () => {},
    private readonly settings: ServerSettings = {},
  ) {
    this.#sql = connect(address, maxConnections, settings);
  }

  async use<T>(work: (session: Session) => Promise<T>, deadlineMs: number): Promise<T> {
    const sql = this.#sql;
    try {
      return await work(toSession(sql, deadlineMs));
    } catch (error) {
      // If many callers find it broken, the first one replaces it.
      if (this.#sql === sql && error instanceof AnswerOverdue) this.onOverdue();
      else if (this.#sql === sql && isConnectionLoss(error)) this.#replace(0);
      throw error;
    }
  }

  /** Listens on one more connection, which reconnects by itself. The pool of a listener has no other use. */
  listen(channel: string, call: (payload: string) => void): void {
    this.#listening = { channel, call };
    // The driver itself retries after a failure.
    this.#sql.listen(channel, call).catch(() => {});
  }

  /** Replaces the connections. Work in progress on the old ones may still finish. */
  replace(): void {
    this.#replace(RETIREMENT_MS);
  }

  async end(): Promise<void> {
    const all = [this.#sql, ...this.#retired.keys()];
    for (const timer of this.#retired.values()) clearTimeout(timer);
    this.#retired.clear();
    await Promise.all(all.map((sql) => sql.end({ timeout: END_TIMEOUT_SECONDS })));
  }

  #replace(afterMs: number): void {
    const old = this.#sql;
    this.#sql = connect(this.address, this.maxConnections, this.settings);
    const listening = this.#listening;
    if (listening !== null) this.listen(listening.channel, listening.call);
    const end = (): void => {
      this.#retired.delete(old);
      old.end({ timeout: END_TIMEOUT_SECONDS }).catch(() => {});
    };
    if (afterMs === 0 || listening !== null) end();
    else this.#retired.set(old, setTimeout(end, afterMs).unref());
  }
}

function connect({ url, schema }: PostgresAddress, max: number, settings: ServerSettings): Sql {
  return postgres(url, {
    max,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    idle_timeout: IDLE_CONNECTION_SECONDS,
    backoff: () => RECONNECT_DELAY_SECONDS,
    // `toArrayLiteral` writes arrays, so connections need not first query the database's types.
    fetch_types: false,
    onnotice: () => {},
    connection: { ...settings, application_name: "daruma", search_path: schema, synchronous_commit: "on" },
    // Numbers are safe, because ids and times stay below 2^53.
    types: { bigint: { to: OID_INT8, from: [OID_INT8], parse: Number, serialize: String } },
  });
}

function toSession(sql: Sql, deadlineMs: number): Session {
  return {
    rows: async <Row>(text: string, ...parameters: readonly Parameter[]) => {
      const storable = parameters.map((each) => (typeof each === "string" ? withoutNul(each) : each));
      const question = sql.unsafe(text, storable, { prepare: true });
      return (await within(deadlineMs + sizeOf(storable) / CHARS_PER_MS, question)) as unknown as Row[];
    },
    script: async (text) => {
      await within(SCRIPT_DEADLINE_MS, sql.unsafe(text).simple());
    },
  };
}

async function within<T>(deadlineMs: number, answer: PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(new AnswerOverdue(deadlineMs));
    timer = setTimeout(() => {
      timer = setTimeout(giveUp, LATE_READING_MS);
    }, deadlineMs);
  });
  try {
    return await Promise.race([answer, overdue]);
  } finally {
    clearTimeout(timer);
  }
}

function sizeOf(parameters: readonly Parameter[]): number {
  return parameters.reduce<number>((sum, each) => sum + (typeof each === "string" ? each.length : 0), 0);
}

/** Replaces a NUL, as UTF-8 encoding replaces what it cannot represent. */
function withoutNul(text: string): string {
  return text.includes("\0") ? toStorableText(text) : text;
}
