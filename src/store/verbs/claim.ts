import { TABLES } from "../tables.js";
import type { Dialect } from "./dialect.js";
import { put, rows, type Verb } from "./query.js";

/** Those of these keys that somebody holds. */
export function* heldClaims({ among }: Dialect, keys: readonly string[]): Verb<string[]> {
  const held = yield* rows<{ key: string }>(
    `SELECT key FROM claim WHERE ${among("key", "$1", "text")}`,
    keys,
  );
  return held.map(({ key }) => key);
}

/** In a transaction that has found nobody to hold them. */
export function* takeClaims(dialect: Dialect, keys: readonly string[], holder: string): Verb<void> {
  const claims = keys.map((key) => ({ key, holder }));
  yield* put(dialect, TABLES.claim, claims);
}

export function* dropClaims(holder: string): Verb<void> {
  yield* rows("DELETE FROM claim WHERE holder = $1", holder);
}

/** As a condition for rows of `shared`. */
export const HOLDS_CLAIMS = "EXISTS (SELECT 1 FROM claim WHERE holder = shared.kind || '/' || shared.name)";

/** A row of `shared` as the holder of claims. */
export function holderName({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind}/${name}`;
}
