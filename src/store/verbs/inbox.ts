import type { InboxCommand, NewInboxCommand } from "../store.js";
import type { Dialect } from "./dialect.js";
import { row, rows, type Verb } from "./query.js";

/** Sends a command. Its key is looked up first, because an insert that meets an existing key still uses up an id. */
export function* sendCommand(_: Dialect, { runId, key, command, at }: NewInboxCommand): Verb<number> {
  const sql = "SELECT id FROM inbox WHERE run_id = $1 AND key = $2";
  const there = yield* row<{ id: number }>(sql, runId, key);
  if (there !== null) return there.id;
  const added = yield* row<{ id: number }>(
    "INSERT INTO inbox (run_id, key, command, at) VALUES ($1, $2, $3, $4) RETURNING id",
    ...[runId, key, command, at],
  );
  return added!.id;
}

export function* readInbox({ among }: Dialect, runIds: readonly number[]): Verb<InboxCommand[]> {
  const found = yield* rows<{ id: number; run_id: number; command: string }>(
    `SELECT id, run_id, command FROM inbox WHERE answer IS NULL AND ${among("run_id", "$1", "bigint")} ORDER BY id`,
    runIds,
  );
  return found.map(({ id, run_id, command }) => ({ id, runId: run_id, command }));
}

/** Returns the run of the command; null if there was no open command. */
export function* answerCommand(_: Dialect, id: number, answer: string): Verb<number | null> {
  const sql = "UPDATE inbox SET answer = $2 WHERE id = $1 AND answer IS NULL RETURNING run_id";
  return (yield* row<{ run_id: number }>(sql, id, answer))?.run_id ?? null;
}

export function* readAnswer(_: Dialect, id: number): Verb<string | null> {
  const entry = yield* row<{ answer: string | null }>("SELECT answer FROM inbox WHERE id = $1", id);
  return entry?.answer ?? null;
}

export function* forgetCommands(_: Dialect, runId: number, before: number): Verb<void> {
  yield* rows("DELETE FROM inbox WHERE run_id = $1 AND at < $2", runId, before);
}
