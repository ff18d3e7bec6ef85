import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import postgres from "postgres";
import { expect, test } from "vitest";
import type { Event } from "../../src/core/model/events.js";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import type { SerialisedEvent, Store } from "../../src/store/store.js";
import { openInFreshSchema } from "../support/embedded-postgres.js";
import { makeFolder } from "./sqlite-folder.js";
import { appendTo, attemptRow, jobRow, takeRun } from "./store-fixtures.js";

const RUN = 1;
const job = (n: number): number => jobRow(RUN, n).id;

function succeeded(n: number, attempt: number, checkpoint: object | null): SerialisedEvent {
  const output = { kind: "value", value: "a\0b" };
  return logged({ type: "attempt.succeeded", job: job(n), attempt, output, checkpoint } as never, n);
}

function logged(event: Event, at: number): SerialisedEvent {
  return { at, type: event.type, data: JSON.stringify(event) };
}

function made(ordinal: number, diffHash: string | null): object {
  const patch = `patches/steps/step-000${ordinal}.patch`;
  return { ordinal, commit: `c${ordinal}`, diffHash, changedFiles: [`f${ordinal} "x"`], patch };
}

/** The log of a run that went back from its second step; the third worked in an item's scope. */
async function writeLog(store: Store): Promise<void> {
  const run = await takeRun(store);
  expect(run.runId).toBe(RUN);
  const closed = { type: "barrier.closed", barrier: 1, invalidated: [job(2)], retired: [job(3)] };
  await store.commit([
    appendTo(run, 1, {
      events: [
        succeeded(1, 1, made(1, "d1")),
        succeeded(2, 1, made(2, "d2")),
        succeeded(3, 1, made(3, null)),
        logged(closed as never, 4),
        succeeded(2, 2, made(4, "d2")),
        succeeded(4, 1, null),
        succeeded(5, 1, undefined as never),
      ],
      jobs: [1, 2, 3, 4, 5].map((n) => jobRow(RUN, n, n === 3 ? { scope: "root/list[0]" } : { visit: n })),
      attempts: [
        attemptRow(RUN, 1, 1),
        attemptRow(RUN, 2, 1, { visit: 1 }),
        attemptRow(RUN, 2, 2, { visit: 2 }),
      ],
    }),
  ]);
}

const EXPECTED = [
  [1, job(1), "step-1", "root", 1, 1, "c1", "d1", ['f1 "x"'], false, 1],
  [2, job(2), "step-2", "root", 1, 1, "c2", "d2", ['f2 "x"'], true, 2],
  [3, job(3), "step-3", "root/list[0]", 1, 1, "c3", null, ['f3 "x"'], true, 3],
  [4, job(2), "step-2", "root", 2, 2, "c4", "d2", ['f4 "x"'], false, 2],
];

async function rowsOf(store: Store): Promise<unknown[]> {
  const rows = await store.readCheckpoints(RUN);
  expect(rows.every(({ run_id, stored }) => run_id === RUN && !stored)).toBe(true);
  return rows.map((row) => [
    ...[row.ordinal, row.job_id, row.step, row.scope, row.attempt, row.visit, row.commit_id, row.diff_hash],
    ...[row.changed_files, row.superseded, row.at],
  ]);
}

test("a SQLite file of version 4 gets the checkpoints that its logs tell of", async () => {
  const folder = makeFolder();
  const file = join(folder, "daruma.db");
  try {
    const store = await openSqliteStore({ file });
    await writeLog(store);
    await store.close();
    const db = new DatabaseSync(file);
    db.exec(`
      DROP TABLE shared; DROP TABLE snapshot; DROP TABLE waiting_run; DROP TABLE checkpoint; DROP TABLE patch; DROP INDEX run_by_cause; ALTER TABLE run DROP COLUMN cause;
      DROP TABLE cluster; DROP TABLE allocation; DROP TABLE server; DROP INDEX event_by_job; DROP INDEX event_decision;
      ALTER TABLE attempt DROP COLUMN node; ALTER TABLE attempt DROP COLUMN allocation; ALTER TABLE attempt DROP COLUMN restart;
      DROP TABLE book; DROP TABLE book_row; DROP TABLE book_backlog; DROP TABLE campaign; DROP TABLE campaign_job;
      DROP TRIGGER enter_labels; DROP TABLE run_label; DROP INDEX run_by_creation; DROP INDEX run_text; DROP INDEX attempt_failed;
      ALTER TABLE run DROP COLUMN labels; ALTER TABLE run DROP COLUMN search_text;
      ALTER TABLE attempt DROP COLUMN signature; ALTER TABLE attempt DROP COLUMN search_text;
      DROP INDEX job_unanswered; ALTER TABLE job DROP COLUMN unanswered; DROP INDEX run_recovered; DROP INDEX run_waiting;
      ALTER TABLE run DROP COLUMN recoveries; ALTER TABLE run DROP COLUMN waiting; ALTER TABLE run DROP COLUMN tally;
      DROP INDEX run_wanted_at; ALTER TABLE run DROP COLUMN wanted_at;
      ALTER TABLE definition DROP COLUMN written; DROP TABLE outbox; DROP INDEX run_by_end; DROP INDEX run_in_group; DROP INDEX run_place;
      ALTER TABLE run DROP COLUMN concurrency_group; ALTER TABLE run DROP COLUMN group_limit; ALTER TABLE run DROP COLUMN group_policy;
      ALTER TABLE run DROP COLUMN priority; ALTER TABLE run DROP COLUMN place;
      UPDATE schema_version SET version = 4`);
    db.close();
    const again = await openSqliteStore({ file });
    expect(await rowsOf(again)).toEqual(EXPECTED);
    await again.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a PostgreSQL schema of version 3 gets the checkpoints that its logs tell of", async () => {
  const opened = await openInFreshSchema();
  try {
    await writeLog(opened.store);
    await opened.store.close();
    const sql = postgres(opened.url, { max: 1, onnotice: () => {} });
    await sql.unsafe(`
      SET search_path TO ${opened.schema};
      DROP TABLE shared; DROP TABLE snapshot; DROP TABLE waiting_run; DROP TABLE checkpoint; DROP TABLE patch; ALTER TABLE run DROP COLUMN cause;
      DROP TABLE cluster; DROP TABLE allocation; DROP TABLE server; DROP INDEX event_decision;
      ALTER TABLE event DROP COLUMN about_job;
      ALTER TABLE attempt DROP COLUMN node, DROP COLUMN allocation, DROP COLUMN restart,
        DROP COLUMN signature, DROP COLUMN search_text;
      DROP TRIGGER enter_labels ON run; DROP FUNCTION enter_labels; DROP TABLE run_label;
      ALTER TABLE run DROP COLUMN labels, DROP COLUMN search_text; DROP INDEX run_by_creation;
      DROP TABLE book; DROP TABLE book_row; DROP TABLE book_backlog; DROP TABLE campaign; DROP TABLE campaign_job; DROP FUNCTION forget_book_rows CASCADE;
      DROP FUNCTION commit_appends(bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], text[], text[],
        json, json, json, json, json, json, text[]);
      DROP FUNCTION take_waiting_run;
      DROP FUNCTION commit_appends(bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], text[], text[],
        json, json, json, json, json, text[]);
      ALTER TABLE job DROP COLUMN unanswered; ALTER TABLE run DROP COLUMN recoveries, DROP COLUMN waiting, DROP COLUMN tally;
      DROP INDEX run_wanted_at; ALTER TABLE run DROP COLUMN wanted_at;
      ALTER TABLE definition DROP COLUMN written; DROP TABLE outbox; DROP INDEX run_by_end; DROP INDEX IF EXISTS run_in_group, run_place;
      ALTER TABLE run DROP COLUMN concurrency_group, DROP COLUMN group_limit, DROP COLUMN group_policy, DROP COLUMN priority, DROP COLUMN place;
      UPDATE schema_version SET version = 3`);
    await sql.end();
    expect(await rowsOf(await opened.reopen())).toEqual(EXPECTED);
  } finally {
    await opened.dispose();
  }
});
