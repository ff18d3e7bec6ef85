import { TABLES } from "../tables.js";
import type { Dialect } from "./dialect.js";
import { put, rows, type Verb } from "./query.js";

/** Returns those of these keys that are held. */
export function* heldClaims({ among }: Dialect, keys: readonly string[]): Verb<string[]> {
  const held = yield* rows<{ key: string }>(
    `SELECT key FROM claim WHERE ${among("key", "$1", "text")}`,
    keys,
  );
  return held.map(({ key }) => key);
}

/** Takes keys, in a transaction that has found them free. */
export function* takeClaims(dialect: Dialect, keys: readonly string[], holder: string): Verb<void> {
  const claims = keys.map((key) => ({ key, holder }));
  yield* put(dialect, TABLES.claim, claims);
}

export function* dropClaims(holder: string): Verb<void> {
  yield* rows("DELETE FROM claim WHERE holder = $1", holder);
}

/** A condition for rows of `shared` that hold claims. */
export const HOLDS_CLAIMS = "EXISTS (SELECT 1 FROM claim WHERE holder = shared.kind || '/' || shared.name)";

/** The holder's name for a row of `shared`. */
export function holderName({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind}/${name}`;
}
