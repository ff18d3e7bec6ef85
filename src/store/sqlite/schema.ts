import { DarumaError } from "../../core/errors/errors.js";
import { otherVersion, SCHEMA_VERSION } from "../schema-version.js";
import type { Database } from "./sqlite-driver.js";

/**
 * The job of an event; null if it is about none or several, or is damaged. An index on this expression replaces a
 * column, and a query uses it only with exactly the same expression.
 */
export const EVENT_JOB = "CASE WHEN json_valid(data) THEN json_extract(data, '$.job') END";

/**
 * `WITHOUT ROWID` for tables whose small rows are only found by key: one tree to write instead of two. Partial indexes
 * contain only the few rows that are searched for, so a change of status rarely touches them.
 */
const SCHEMA = `
  CREATE TABLE definition (hash TEXT PRIMARY KEY, json TEXT NOT NULL, written TEXT);
  CREATE TABLE workflow (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL,
    definition_hash TEXT NOT NULL REFERENCES definition (hash), file TEXT, created_at INTEGER NOT NULL, source TEXT,
    UNIQUE (name, version),
    UNIQUE (name, definition_hash));
  CREATE TABLE failure_handler (
    id INTEGER PRIMARY KEY AUTOINCREMENT, workflow_id INTEGER NOT NULL REFERENCES workflow (id) ON DELETE CASCADE,
    name TEXT NOT NULL, rules TEXT NOT NULL,
    UNIQUE (workflow_id, name));
  CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE run (
    id INTEGER PRIMARY KEY, workflow_id INTEGER NOT NULL, workflow TEXT NOT NULL, definition_hash TEXT NOT NULL,
    status TEXT NOT NULL, inputs TEXT NOT NULL, options TEXT NOT NULL, folder TEXT NOT NULL, file TEXT,
    parent_run_id INTEGER, parent_job_id INTEGER, error TEXT, created_at INTEGER NOT NULL, started_at INTEGER,
    finished_at INTEGER, managed INTEGER NOT NULL DEFAULT 0, wanted INTEGER NOT NULL DEFAULT 0, cause TEXT,
    labels TEXT, search_text TEXT, recoveries INTEGER, waiting INTEGER, tally TEXT, wanted_at INTEGER,
    concurrency_group TEXT, group_limit INTEGER, group_policy TEXT, priority INTEGER, place INTEGER);
  CREATE INDEX run_by_status ON run (status, id);
  CREATE INDEX run_by_workflow ON run (workflow, id);
  CREATE INDEX run_by_parent ON run (parent_job_id, id) WHERE parent_job_id IS NOT NULL;
  CREATE INDEX run_wanted ON run (id) WHERE wanted = 1;
  CREATE UNIQUE INDEX run_by_cause ON run (cause) WHERE cause IS NOT NULL;
  CREATE INDEX run_by_creation ON run (created_at, id);
  -- Texts are read from the index alone, whatever else the rows hold.
  CREATE INDEX run_text ON run (id, search_text);
  CREATE INDEX run_recovered ON run (id) WHERE recoveries > 0;
  CREATE INDEX run_waiting ON run (id) WHERE waiting > 0;
  CREATE INDEX run_wanted_at ON run (wanted_at) WHERE wanted_at IS NOT NULL;
  -- Whether a step works again is looked for among the runs of its workflow that were not over at some time.
  CREATE INDEX run_by_end ON run (workflow, finished_at);
  CREATE INDEX run_in_group ON run (concurrency_group, id)
    WHERE concurrency_group IS NOT NULL AND finished_at IS NULL;
  -- The number of a place is given once.
  CREATE UNIQUE INDEX run_place ON run (concurrency_group, place) WHERE place IS NOT NULL;
  CREATE TABLE event (
    run_id INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)) WITHOUT ROWID;
  CREATE INDEX event_by_job ON event (run_id, ${EVENT_JOB}, seq);
  -- Few events are decisions, and statistics look for them in the runs of weeks.
  CREATE INDEX event_decision ON event (run_id, seq)
    WHERE type IN ('hold.resolved', 'human.answered', 'jobs.retried');
  CREATE TABLE job (
    id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, step TEXT NOT NULL, family TEXT, scope TEXT NOT NULL,
    status TEXT NOT NULL, attempt_id INTEGER NOT NULL, visit INTEGER NOT NULL, handled INTEGER NOT NULL, handling TEXT,
    stood_in_by TEXT, skipped_by INTEGER, decided TEXT, below TEXT, due_at INTEGER, error TEXT,
    output TEXT, failure_handler_id INTEGER REFERENCES failure_handler (id) ON DELETE SET NULL,
    dead_letter INTEGER NOT NULL DEFAULT 0, unanswered INTEGER NOT NULL DEFAULT 0);
  -- Without the status: the index would be rewritten at every change of every job.
  CREATE INDEX job_by_run ON job (run_id);
  -- Few jobs stand in these two.
  CREATE INDEX job_dead_letter ON job (id) WHERE dead_letter;
  CREATE INDEX job_unanswered ON job (id) WHERE unanswered;
  CREATE TABLE attempt (
    job_id INTEGER NOT NULL, attempt INTEGER NOT NULL, run_id INTEGER NOT NULL, visit INTEGER NOT NULL,
    worker TEXT NOT NULL, token TEXT NOT NULL, status TEXT NOT NULL, started_at INTEGER NOT NULL,
    finished_at INTEGER, error TEXT, node TEXT, allocation TEXT, restart INTEGER, signature TEXT, search_text TEXT,
    PRIMARY KEY (run_id, job_id, attempt)) WITHOUT ROWID;
  CREATE INDEX attempt_failed ON attempt (signature, run_id, job_id, search_text) WHERE signature IS NOT NULL;
  CREATE TABLE route (
    place INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, job_id INTEGER NOT NULL, step TEXT NOT NULL,
    scope TEXT NOT NULL, attempt INTEGER NOT NULL, rung TEXT NOT NULL, "to" TEXT NOT NULL, reason TEXT NOT NULL);
  CREATE INDEX route_by_run ON route (run_id, seq);
  CREATE TABLE lease (run_id INTEGER PRIMARY KEY, fence INTEGER NOT NULL, owner TEXT, expires_at INTEGER NOT NULL);
  CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, run_id INTEGER NOT NULL, key TEXT NOT NULL, command TEXT NOT NULL,
    at INTEGER NOT NULL, answer TEXT,
    UNIQUE (run_id, key));
  CREATE INDEX inbox_unanswered ON inbox (run_id) WHERE answer IS NULL;
  CREATE TABLE token (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, role TEXT NOT NULL, hash TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER);
  CREATE TABLE session (
    hash TEXT PRIMARY KEY, token_id INTEGER NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE checkpoint (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, ordinal INTEGER NOT NULL,
    job_id INTEGER NOT NULL, step TEXT NOT NULL, scope TEXT NOT NULL, attempt INTEGER NOT NULL,
    visit INTEGER NOT NULL, commit_id TEXT NOT NULL, diff_hash TEXT, changed_files TEXT NOT NULL,
    patch TEXT NOT NULL, stored INTEGER NOT NULL, superseded INTEGER NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (run_id, ordinal)) WITHOUT ROWID;
  CREATE TABLE patch (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, diff_hash TEXT NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (run_id, diff_hash));
  CREATE TABLE waiting_run (
    run_id INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE, fence INTEGER NOT NULL, seq INTEGER NOT NULL,
    owner TEXT NOT NULL, asks TEXT NOT NULL);
  CREATE TABLE allocation (
    key TEXT PRIMARY KEY, cluster TEXT NOT NULL, id TEXT, restart INTEGER NOT NULL, state TEXT NOT NULL,
    shape TEXT NOT NULL, tags TEXT NOT NULL, job_id INTEGER, reason TEXT NOT NULL, server TEXT NOT NULL,
    owner TEXT NOT NULL, token_id INTEGER, folder TEXT NOT NULL, nodes TEXT NOT NULL, cancel TEXT,
    created_at INTEGER NOT NULL, submitted_at INTEGER, started_at INTEGER, pilot_at INTEGER, unknown_since INTEGER,
    ended_at INTEGER, outcome TEXT);
  CREATE INDEX allocation_live ON allocation (cluster) WHERE state <> 'ended';
  CREATE INDEX allocation_by_age ON allocation (created_at, key);
  CREATE TABLE snapshot (
    run_id INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE, seq INTEGER NOT NULL, version TEXT NOT NULL,
    sha256 TEXT NOT NULL, bytes BLOB NOT NULL);
  CREATE TABLE book_row (
    run_id INTEGER NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, workflow TEXT NOT NULL,
    step TEXT NOT NULL, signature TEXT NOT NULL, job_id INTEGER NOT NULL, attempt INTEGER NOT NULL, action TEXT,
    tried TEXT NOT NULL, first_in_run INTEGER NOT NULL, flake_ms INTEGER, code TEXT NOT NULL, class TEXT NOT NULL,
    sample TEXT NOT NULL, begun_at INTEGER NOT NULL, rolled INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, n)) WITHOUT ROWID;
  CREATE INDEX book_row_unrolled ON book_row (run_id, n) WHERE NOT rolled;
  CREATE INDEX book_row_by_signature ON book_row (signature, at) WHERE kind = 'met';
  CREATE INDEX book_row_flake ON book_row (at) WHERE flake_ms IS NOT NULL;
  CREATE TABLE book (
    workflow TEXT NOT NULL, step TEXT NOT NULL, signature TEXT NOT NULL, code TEXT NOT NULL, class TEXT NOT NULL,
    sample TEXT NOT NULL, first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, occurrences INTEGER NOT NULL,
    runs INTEGER NOT NULL, rescues TEXT NOT NULL, last_run INTEGER NOT NULL, last_job INTEGER NOT NULL,
    begun_at INTEGER NOT NULL, triage TEXT NOT NULL, note TEXT, link TEXT, owner TEXT, muted_until INTEGER,
    triaged_at INTEGER, triaged_by TEXT, revision INTEGER NOT NULL,
    PRIMARY KEY (workflow, step, signature));
  CREATE INDEX book_by_time ON book (last_seen, workflow, step, signature);
  CREATE INDEX book_by_signature ON book (signature);
  CREATE TABLE run_label (
    key TEXT NOT NULL, value TEXT NOT NULL, run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    PRIMARY KEY (key, value, run_id)) WITHOUT ROWID;
  CREATE INDEX run_label_by_run ON run_label (run_id);
  -- A run keeps its labels, so that a trigger can enter them where they are looked for.
  CREATE TRIGGER enter_labels AFTER INSERT ON run WHEN new.labels IS NOT NULL BEGIN
    INSERT INTO run_label (key, value, run_id) SELECT key, value, new.id FROM json_each(new.labels);
  END;
  -- Rows of some kinds are long, so they are not kept within the tree of their keys.
  CREATE TABLE shared (
    kind TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (kind, name));
  CREATE TABLE claim (key TEXT PRIMARY KEY, holder TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX claim_by_holder ON claim (holder);
  CREATE TABLE outbox (
    id TEXT PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, channel TEXT NOT NULL, thing TEXT NOT NULL,
    run_id INTEGER, workflow TEXT, step TEXT, signature TEXT, condition TEXT, facts TEXT NOT NULL,
    state TEXT NOT NULL, told TEXT, tries INTEGER NOT NULL, error TEXT, next_at INTEGER NOT NULL,
    settled_at INTEGER, lease TEXT, leased_until INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
  CREATE INDEX outbox_open ON outbox (at, id) WHERE state IN ('new', 'due');
  CREATE INDEX outbox_by_time ON outbox (at, id);
  INSERT INTO counter VALUES ('run', 0);
  CREATE TABLE schema_version (version INTEGER NOT NULL);
  INSERT INTO schema_version (version) VALUES (${SCHEMA_VERSION});`;

/** Creates the tables in an empty file, in one transaction. Safe if two processes open it at once. */
export function prepareSchema(db: Database, file: string): void {
  if (hasSchema(db, file)) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Checked again under the lock, because another process may have been faster.
    if (!hasSchema(db, file)) db.exec(SCHEMA);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Whether the file has our tables. Throws, before anything is changed, if it has other tables or another version. */
export function hasSchema(db: Database, file: string): boolean {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
    name: string;
  }[];
  if (tables.length === 0) return false;
  if (!tables.some(({ name }) => name === "schema_version")) {
    throw new DarumaError("STORE_FAILED", `${file}: this database belongs to another program`);
  }
  const row = db.prepare("SELECT version FROM schema_version").get() as { version: number } | undefined;
  if (row?.version !== SCHEMA_VERSION) throw otherVersion(file, row?.version ?? 0);
  return true;
}
