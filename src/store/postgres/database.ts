import { setTimeout as delay } from "node:timers/promises";
import { DarumaError } from "../../core/errors/errors.js";
import { ConnectionPool, type Parameter, type ServerSettings, type Session } from "./connection-pool.js";
import type { PostgresAddress } from "./postgres-address.js";
import { isPassing, toStoreError } from "./postgres-errors.js";

/** How long a call waits for an unavailable server, and how often it retries. */
const PATIENCE_MS = 10_000;
const RETRY_DELAY_MS = 100;
/** How long an answer may take before its connection counts as dead. */
const ANSWER_DEADLINE_MS = 10_000;
/** A lost renewal must be noticed before somebody else may take the run. */
export const LEASE_DEADLINE_MS = 5_000;
/** For calls that read, write or delete very many rows. */
export const LONG_DEADLINE_MS = 60_000;

/**
 * Settings of connections that write only in explicit transactions. The driver reconnects by itself and would then send
 * statements outside of the transaction, which the server refuses. A transaction whose client has vanished ends, so
 * that nobody waits for its locks.
 */
const TRANSACTION_SETTINGS: ServerSettings = {
  default_transaction_isolation: "serializable",
  default_transaction_read_only: "on",
  idle_in_transaction_session_timeout: "5000",
};

/**
 * A commit always finds rows by their keys, so plans are reused. Planning each statement again took a tenth of its
 * time.
 */
const WRITER_SETTINGS: ServerSettings = { plan_cache_mode: "force_generic_plan" };

export interface WorkLimits {
  readonly patienceMs?: number;
  readonly deadlineMs?: number;
}

/** `isRepeated`: a connection broke before, so the work may already have been done. */
export type Work<T> = (session: Session, isRepeated: boolean) => Promise<T>;

/** Connections to one schema. Work is repeated after a broken connection until the server is back, or patience ends. */
export class Database implements Pick<Session, "rows"> {
  readonly #pool: ConnectionPool;
  readonly #writer: ConnectionPool;
  readonly #transactions: ConnectionPool;
  readonly #listener: ConnectionPool;
  readonly #pending = new Set<Promise<unknown>>();
  #lastTransaction: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | null = null;

  constructor(
    readonly address: PostgresAddress,
    maxConnections: number,
    /** Limit for all deadlines, for tests. */
    private readonly maxDeadlineMs = Number.POSITIVE_INFINITY,
  ) {
    const replaceAll = (): void => {
      for (const pool of this.#pools()) pool.replace();
    };
    this.#pool = new ConnectionPool(address, maxConnections, replaceAll);
    // Has its own connection, so that a commit never waits behind a long query.
    this.#writer = new ConnectionPool(address, 1, replaceAll, WRITER_SETTINGS);
    this.#transactions = new ConnectionPool(address, 1, replaceAll, TRANSACTION_SETTINGS);
    this.#listener = new ConnectionPool(address, 1);
  }

  #pools(): readonly ConnectionPool[] {
    return [this.#pool, this.#writer, this.#transactions, this.#listener];
  }

  rows<Row>(text: string, ...parameters: readonly Parameter[]): Promise<Row[]> {
    return this.work((session) => session.rows<Row>(text, ...parameters));
  }

  /** Like `rows`, for very many rows. */
  list<Row>(text: string, ...parameters: readonly Parameter[]): Promise<Row[]> {
    return this.work((session) => session.rows<Row>(text, ...parameters), { deadlineMs: LONG_DEADLINE_MS });
  }

  work<T>(work: Work<T>, limits: WorkLimits = {}): Promise<T> {
    return this.hold(() => this.#repeat(this.#pool, work, limits));
  }

  /** Like `work`, on the connection reserved for commits. Must be called within `hold`. */
  write<T>(work: Work<T>): Promise<T> {
    return this.#repeat(this.#writer, work, {});
  }

  /** Like `work`, one call after the other, on the connection reserved for transactions. */
  transact<T>(work: Work<T>): Promise<T> {
    return this.hold(() => {
      const turn = this.#lastTransaction.then(() => this.#repeat(this.#transactions, work, {}));
      this.#lastTransaction = turn.catch(() => {});
      return turn;
    });
  }

  /** Keeps the connections open until the work is done. Refused once they are closing. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed !== null) throw new DarumaError("STORE_FAILED", "the store is closed");
    const outcome = work();
    this.#pending.add(outcome);
    try {
      return await outcome;
    } finally {
      this.#pending.delete(outcome);
    }
  }

  /** Calls `call` for each notification of this schema. */
  listen(call: (payload: string) => void): void {
    this.#listener.listen(this.address.schema, call);
  }

  /** Refuses new work. Closes the connections after earlier work is done, and `last` after it. */
  close(last: Work<void> = async () => {}): Promise<void> {
    this.#closed ??= this.#end(last);
    return this.#closed;
  }

  async #end(last: Work<void>): Promise<void> {
    await Promise.allSettled([...this.#pending]);
    await this.#repeat(this.#pool, last, { patienceMs: 0, deadlineMs: LEASE_DEADLINE_MS }).catch(() => {});
    await Promise.all(this.#pools().map((pool) => pool.end()));
  }

  async #repeat<T>(pool: ConnectionPool, work: Work<T>, limits: WorkLimits): Promise<T> {
    const { patienceMs = PATIENCE_MS, deadlineMs = ANSWER_DEADLINE_MS } = limits;
    let until: number | null = null;
    for (;;) {
      const isRepeated = until !== null;
      try {
        return await pool.use(
          (session) => work(session, isRepeated),
          Math.min(deadlineMs, this.maxDeadlineMs),
        );
      } catch (error) {
        const now = performance.now();
        until ??= now + patienceMs;
        if (!isPassing(error) || now >= until) throw toStoreError(error, this.address);
      }
      await delay(RETRY_DELAY_MS);
    }
  }
}

/** A list in PostgreSQL's array notation. */
export function toArrayLiteral(values: readonly (string | number)[]): string {
  const items = values.map((value) => (typeof value === "number" ? value : quoteItem(value)));
  return `{${items.join(",")}}`;
}

function quoteItem(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
