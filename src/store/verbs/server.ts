import { ownerText } from "../lease-rules.js";
import type { ServerRow } from "../server-rows.js";
import type { LeaseOwner } from "../store.js";
import { TABLES } from "../tables.js";
import type { Dialect } from "./dialect.js";
import { instant, put, rows, type Verb } from "./query.js";
import { dataOf, findShared } from "./shared.js";

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
