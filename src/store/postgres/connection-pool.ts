import postgres from "postgres";
import { toStorableText } from "../storable-text.js";
import type { PostgresAddress } from "./postgres-address.js";
import { isConnectionLoss } from "./postgres-errors.js";

const CONNECT_TIMEOUT_SECONDS = 10;
const RECONNECT_DELAY_SECONDS = 0.1;
const IDLE_CONNECTION_SECONDS = 60;
/** What runs on the sound connections of a pool that is replaced may end within this. */
const END_TIMEOUT_SECONDS = 1;
const OID_INT8 = 20;

type Sql = postgres.Sql<{ bigint: number }>;
export type Parameter = string | number | boolean | null;

/** What a piece of work may ask the database. */
export interface Session {
  /** One statement, prepared once for each connection. */
  rows<Row>(text: string, ...parameters: readonly Parameter[]): Promise<Row[]>;
  /** Several statements without parameters, in one transaction. */
  script(text: string): Promise<void>;
}

/**
 * Connections that are all replaced when one of them breaks. The driver (3.4) brings a broken one back by itself, but
 * keeps what it had not sent yet, and the next connection then hangs. It also ends the whole process when the
 * connection of a transaction or a reservation breaks (its issue 1208), so neither is ever used: what belongs
 * together is one statement, one script or one function in the database.
 */
export class ConnectionPool {
  #sql: Sql;
  #hasListened = false;

  constructor(
    private readonly address: PostgresAddress,
    private readonly maxConnections: number,
  ) {
    this.#sql = connect(address, maxConnections);
  }

  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const sql = this.#sql;
    try {
      return await work(toSession(sql));
    } catch (error) {
      if (isConnectionLoss(error)) this.#replace(sql);
      throw error;
    }
  }

  /** On one more connection, which comes back by itself. The pool of a listener is for nothing else. */
  listen(channel: string, call: (payload: string) => void): void {
    this.#hasListened = true;
    // A failure leads to another try within the driver.
    this.#sql.listen(channel, call).catch(() => {});
  }

  async end(): Promise<void> {
    await this.#sql.end({ timeout: END_TIMEOUT_SECONDS });
  }

  /** Of many who find it broken, the first does it. */
  #replace(broken: Sql): void {
    if (this.#sql !== broken || this.#hasListened) return;
    this.#sql = connect(this.address, this.maxConnections);
    broken.end({ timeout: END_TIMEOUT_SECONDS }).catch(() => {});
  }
}

function connect({ url, schema }: PostgresAddress, max: number): Sql {
  return postgres(url, {
    max,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    idle_timeout: IDLE_CONNECTION_SECONDS,
    backoff: () => RECONNECT_DELAY_SECONDS,
    // Arrays are written by `toArrayLiteral`, so no connection need ask for the types of the database first.
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: "daruma", search_path: schema, synchronous_commit: "on" },
    // Ids and times stay below 2^53.
    types: { bigint: { to: OID_INT8, from: [OID_INT8], parse: Number, serialize: String } },
  });
}

function toSession(sql: Sql): Session {
  return {
    rows: async <Row>(text: string, ...parameters: readonly Parameter[]) => {
      const storable = parameters.map((each) => (typeof each === "string" ? withoutNul(each) : each));
      return (await sql.unsafe(text, storable, { prepare: true })) as unknown as Row[];
    },
    script: async (text) => {
      await sql.unsafe(text).simple();
    },
  };
}

/** What UTF-8 cannot hold is replaced on the way, by the same sign. */
function withoutNul(text: string): string {
  return text.includes("\0") ? toStorableText(text) : text;
}
