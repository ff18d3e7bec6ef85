import { setTimeout as delay } from "node:timers/promises";
import { DarumaError } from "../../core/errors/errors.js";
import { ConnectionPool, type Parameter, type ServerSettings, type Session } from "./connection-pool.js";
import type { PostgresAddress } from "./postgres-address.js";
import { isPassing, toStoreError } from "./postgres-errors.js";

/** How long a call outlasts a server that is away, and how often it asks again. */
const PATIENCE_MS = 10_000;
const RETRY_DELAY_MS = 100;
/** How long one answer may take before its connection counts as dead. */
const ANSWER_DEADLINE_MS = 10_000;
/** A lease that cannot be renewed must be known to be lost before somebody else may take the run. */
export const LEASE_DEADLINE_MS = 5_000;
/** For what reads, writes or deletes as much as there is. */
export const LONG_DEADLINE_MS = 60_000;

/**
 * On a connection that writes only within a transaction that was begun to write. The driver brings a broken connection back
 * by itself, and what it then sends would stand outside of the transaction: the server refuses it. A transaction whose client
 * is not heard from any more ends, so that nobody waits for its locks.
 */
const TRANSACTION_SETTINGS: ServerSettings = {
  default_transaction_isolation: "serializable",
  default_transaction_read_only: "on",
  idle_in_transaction_session_timeout: "5000",
};

/** The statements of a commit find rows by their keys, whatever they are given: planning each anew was a tenth of its time. */
const WRITER_SETTINGS: ServerSettings = { plan_cache_mode: "force_generic_plan" };

export interface WorkLimits {
  readonly patienceMs?: number;
  readonly deadlineMs?: number;
}

/** `isRepeated`: a connection broke before, so it may have been done already. */
export type Work<T> = (session: Session, isRepeated: boolean) => Promise<T>;

/** Connections to one schema. Work whose connection breaks is done again until the server is back, or patience ends. */
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
    /** No answer is waited for longer: for tests. */
    private readonly maxDeadlineMs = Number.POSITIVE_INFINITY,
  ) {
    const replaceAll = (): void => {
      for (const pool of this.#pools()) pool.replace();
    };
    this.#pool = new ConnectionPool(address, maxConnections, replaceAll);
    // Of its own, so that a commit never waits behind somebody's long list.
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

  /** As `rows`, where they may be very many. */
  list<Row>(text: string, ...parameters: readonly Parameter[]): Promise<Row[]> {
    return this.work((session) => session.rows<Row>(text, ...parameters), { deadlineMs: LONG_DEADLINE_MS });
  }

  work<T>(work: Work<T>, limits: WorkLimits = {}): Promise<T> {
    return this.hold(() => this.#repeat(this.#pool, work, limits));
  }

  /** As `work`, on the one connection that is kept for commits, and within something that is held. */
  write<T>(work: Work<T>): Promise<T> {
    return this.#repeat(this.#writer, work, {});
  }

  /** As `work`, one after the other on the one connection that is kept for transactions. */
  transact<T>(work: Work<T>): Promise<T> {
    return this.hold(() => {
      const turn = this.#lastTransaction.then(() => this.#repeat(this.#transactions, work, {}));
      this.#lastTransaction = turn.catch(() => {});
      return turn;
    });
  }

  /** Keeps the connections until it is over; refused once they are to end. */
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

  /** Call for each notification of this schema. */
  listen(call: (payload: string) => void): void {
    this.#listener.listen(this.address.schema, call);
  }

  /** Refuses new work now; ends the connections once the work that was called before is done, and `last` after it. */
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

/** A list as PostgreSQL reads it from a text. */
export function toArrayLiteral(values: readonly (string | number)[]): string {
  const items = values.map((value) => (typeof value === "number" ? value : quoteItem(value)));
  return `{${items.join(",")}}`;
}

function quoteItem(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
