import { ownerText } from "../lease-rules.js";
import type { BesideNotices } from "../outbox-rows.js";
import type { ServerRow } from "../server-rows.js";
import type { SharedRead, SharedRow } from "../shared-rows.js";
import type { LeaseOwner } from "../store.js";
import { parseStoredJson } from "../stored-text.js";
import { TABLES } from "../tables.js";
import { Conditions, type Dialect, instant, put, rows, rowsOf, type Value, type Verb } from "./dialect.js";
import { settle } from "./outbox.js";

/** Rows of one kind. `rest` follows that condition, and its first value is `$2`. */
export function* findShared(kind: string, rest: string, ...values: readonly Value[]): Verb<SharedRow[]> {
  return yield* rowsOf(TABLES.shared, `WHERE kind = $1 ${rest}`, kind, ...values);
}

/** The data of a row, for code that knows its kind. */
export function dataOf({ kind, name, data }: SharedRow): unknown {
  return parseStoredJson(data, () => `the ${kind} ${name} in the table shared`);
}

export function* readShared(
  dialect: Dialect,
  kind: string,
  names: readonly string[] | null,
  now: number,
): Verb<SharedRead> {
  const at = yield* instant(dialect, now);
  const { where, values } = new Conditions(dialect)
    .demand("kind = ?", kind)
    .demandOneOf("name", names ?? undefined, "text");
  return { rows: yield* rowsOf(TABLES.shared, `${where} ORDER BY name`, ...values), at };
}

export function* writeShared(
  dialect: Dialect,
  given: readonly SharedRow[],
  beside: BesideNotices = { now: 0 },
): Verb<boolean> {
  const asked = dialect.records("$1", { kind: "text", name: "text" });
  const found = yield* rows<SharedRow>(
    `SELECT kind, name, revision FROM shared WHERE (kind, name) IN (${asked})`,
    JSON.stringify(given.map(({ kind, name }) => ({ kind, name }))),
  );
  const present = (row: SharedRow) => found.find(({ kind, name }) => kind === row.kind && name === row.name);
  if (given.some((row) => (present(row)?.revision ?? 0) !== row.revision)) return false;
  if (!(yield* settle(dialect, beside))) return false;
  const next = given.map((row) => ({ ...row, revision: row.revision + 1 }));
  yield* put(dialect, TABLES.shared, next);
  return true;
}

export function* dropShared({ records }: Dialect, given: readonly Omit<SharedRow, "data">[]): Verb<void> {
  const dropped = records("$1", { kind: "text", name: "text", revision: "bigint" });
  yield* rows(
    `DELETE FROM shared WHERE (kind, name, revision) IN (${dropped})`,
    JSON.stringify(given.map(({ kind, name, revision }) => ({ kind, name, revision }))),
  );
}

const KIND = "server";

export function* keepServer(
  dialect: Dialect,
  { owner, expiresAt, ...rest }: Omit<ServerRow, "seenAt">,
  now: number,
): Verb<void> {
  const seenAt = yield* instant(dialect, now);
  const data = JSON.stringify({ ...rest, seenAt, expiresAt: seenAt + expiresAt - now });
  // Nobody else writes it, so nobody is overtaken.
  yield* put(dialect, TABLES.shared, [{ kind: KIND, name: ownerText(owner), revision: 1, data }]);
}

export function* listServers(dialect: Dialect, now: number): Verb<ServerRow[]> {
  const at = yield* instant(dialect, now);
  return (yield* findShared(KIND, "ORDER BY name")).map((row) => {
    const kept = dataOf(row) as Omit<ServerRow, "owner">;
    return { ...kept, owner: JSON.parse(row.name) as LeaseOwner, expiresAt: now + kept.expiresAt - at };
  });
}

export function* forgetServer(_: Dialect, owner: LeaseOwner): Verb<void> {
  yield* rows("DELETE FROM shared WHERE kind = $1 AND name = $2", KIND, ownerText(owner));
}
