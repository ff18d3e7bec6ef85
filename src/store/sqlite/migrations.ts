import { DarumaError } from "../../core/errors/errors.js";
import type { Database } from "./sqlite-driver.js";

interface Migration {
  readonly version: number;
  readonly sql: string;
  /** Asked once the earlier ones are in: files of the same number may differ. Without it, every file needs it. */
  readonly isNeeded?: (db: Database) => boolean;
}

/**
 * The job that an event is about; null where it is about none or several, or is damaged. An expression in an index
 * instead of a column: a process of the version before, which is still at work, fills it too. Never edit it: the
 * migration that makes the index has it.
 */
export const EVENT_JOB = "CASE WHEN json_valid(data) THEN json_extract(data, '$.job') END";

/**
 * Never edit one that landed; add the next: a test holds the checksum of each. `WITHOUT ROWID` where rows are found by their key alone and are
 * mostly small: one tree to write instead of two.
 *
 * A job's index leaves its status out on purpose: it would be rewritten at every change of every job.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    sql: `
      CREATE TABLE definition (hash TEXT PRIMARY KEY, json TEXT NOT NULL);
      CREATE TABLE workflow (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL,
        definition_hash TEXT NOT NULL REFERENCES definition (hash), file TEXT, created_at INTEGER NOT NULL,
        UNIQUE (name, version), UNIQUE (name, definition_hash));
      CREATE TABLE failure_handler (
        id INTEGER PRIMARY KEY AUTOINCREMENT, workflow_id INTEGER NOT NULL REFERENCES workflow (id) ON DELETE CASCADE,
        name TEXT NOT NULL, rules TEXT NOT NULL,
        UNIQUE (workflow_id, name));
      CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
      INSERT INTO counter (name, value) VALUES ('run', 0);

      CREATE TABLE run (
        id INTEGER PRIMARY KEY, workflow_id INTEGER NOT NULL, workflow TEXT NOT NULL, definition_hash TEXT NOT NULL,
        status TEXT NOT NULL, inputs TEXT NOT NULL, options TEXT NOT NULL, folder TEXT NOT NULL, file TEXT,
        parent_run_id INTEGER, parent_job_id INTEGER, error TEXT,
        created_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER);
      CREATE INDEX run_by_status ON run (status, id);
      CREATE INDEX run_by_workflow ON run (workflow, id);
      CREATE INDEX run_by_parent ON run (parent_job_id, id) WHERE parent_job_id IS NOT NULL;
      CREATE TABLE event (
        run_id INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL,
        PRIMARY KEY (run_id, seq)) WITHOUT ROWID;
      CREATE TABLE job (
        id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, step TEXT NOT NULL, scope TEXT NOT NULL, status TEXT NOT NULL,
        attempt_id INTEGER NOT NULL, visit INTEGER NOT NULL, handled INTEGER NOT NULL, due_at INTEGER, error TEXT,
        output TEXT, failure_handler_id INTEGER REFERENCES failure_handler (id) ON DELETE SET NULL);
      CREATE INDEX job_by_run ON job (run_id);
      CREATE TABLE attempt (
        job_id INTEGER NOT NULL, attempt INTEGER NOT NULL, run_id INTEGER NOT NULL, visit INTEGER NOT NULL,
        worker TEXT NOT NULL, token TEXT NOT NULL, status TEXT NOT NULL, started_at INTEGER NOT NULL,
        finished_at INTEGER, error TEXT,
        PRIMARY KEY (run_id, job_id, attempt)) WITHOUT ROWID;
      CREATE TABLE route (
        run_id INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, job_id INTEGER NOT NULL, step TEXT NOT NULL,
        scope TEXT NOT NULL, attempt INTEGER NOT NULL, rung TEXT NOT NULL, "to" TEXT NOT NULL, reason TEXT NOT NULL);
      CREATE INDEX route_by_run ON route (run_id, seq);

      CREATE TABLE lease (run_id INTEGER PRIMARY KEY, fence INTEGER NOT NULL, owner TEXT, expires_at INTEGER NOT NULL);
      CREATE TABLE inbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT, run_id INTEGER NOT NULL, key TEXT NOT NULL, command TEXT NOT NULL,
        at INTEGER NOT NULL, answer TEXT,
        UNIQUE (run_id, key));
      CREATE INDEX inbox_unanswered ON inbox (run_id) WHERE answer IS NULL;
    `,
  },
  {
    version: 2,
    sql: `
      ALTER TABLE run ADD COLUMN managed INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE run ADD COLUMN wanted INTEGER NOT NULL DEFAULT 0;
      CREATE INDEX run_wanted ON run (id) WHERE wanted = 1;
      ALTER TABLE workflow ADD COLUMN source TEXT;
      CREATE TABLE draft (
        name TEXT PRIMARY KEY, source TEXT NOT NULL, revision INTEGER NOT NULL, updated_at INTEGER NOT NULL);
      CREATE TABLE token (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, role TEXT NOT NULL, hash TEXT NOT NULL UNIQUE,
        created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER);
    `,
  },
  {
    version: 3,
    // Only dead letters stand in the index, and there are few.
    sql: `
      ALTER TABLE job ADD COLUMN dead_letter INTEGER NOT NULL DEFAULT 0;
      CREATE INDEX job_dead_letter ON job (id) WHERE dead_letter = 1;
    `,
  },
  {
    version: 4,
    // Version 1 was edited after it had landed: files of its first form lack this, whatever number they carry by now.
    isNeeded: (db) => !hasColumn(db, "run", "parent_run_id"),
    sql: `
      CREATE TABLE failure_handler (
        id INTEGER PRIMARY KEY AUTOINCREMENT, workflow_id INTEGER NOT NULL REFERENCES workflow (id) ON DELETE CASCADE,
        name TEXT NOT NULL, rules TEXT NOT NULL,
        UNIQUE (workflow_id, name));
      ALTER TABLE run ADD COLUMN parent_run_id INTEGER;
      ALTER TABLE run ADD COLUMN parent_job_id INTEGER;
      CREATE INDEX run_by_parent ON run (parent_job_id, id) WHERE parent_job_id IS NOT NULL;
      ALTER TABLE job ADD COLUMN failure_handler_id INTEGER REFERENCES failure_handler (id) ON DELETE SET NULL;
    `,
  },
  {
    version: 5,
    // A run's checkpoints and patches go with it. Those of older runs are in the log.
    sql: `
      ALTER TABLE run ADD COLUMN cause TEXT;
      CREATE UNIQUE INDEX run_by_cause ON run (cause) WHERE cause IS NOT NULL;
      CREATE TABLE checkpoint (
        run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, ordinal INTEGER NOT NULL,
        job_id INTEGER NOT NULL, step TEXT NOT NULL, scope TEXT NOT NULL, attempt INTEGER NOT NULL,
        visit INTEGER NOT NULL, commit_id TEXT NOT NULL, diff_hash TEXT, changed_files TEXT NOT NULL,
        patch TEXT NOT NULL, stored INTEGER NOT NULL, superseded INTEGER NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (run_id, ordinal)) WITHOUT ROWID;
      CREATE TABLE patch (
        run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, diff_hash TEXT NOT NULL, bytes BLOB NOT NULL,
        PRIMARY KEY (run_id, diff_hash));
      INSERT INTO checkpoint
        SELECT made.run_id, made.data ->> '$.checkpoint.ordinal', job.id, job.step, job.scope, made.data ->> '$.attempt',
          coalesce(attempt.visit, job.visit), made.data ->> '$.checkpoint.commit', made.data ->> '$.checkpoint.diffHash',
          made.data -> '$.checkpoint.changedFiles', made.data ->> '$.checkpoint.patch', 0,
          EXISTS (
            SELECT 1 FROM event AS closed, json_each(closed.data, '$.invalidated') AS taken
              WHERE closed.run_id = made.run_id AND closed.seq > made.seq AND closed.type = 'barrier.closed'
                AND taken.value = job.id
            UNION ALL
            SELECT 1 FROM event AS closed, json_each(closed.data, '$.retired') AS taken
              WHERE closed.run_id = made.run_id AND closed.seq > made.seq AND closed.type = 'barrier.closed'
                AND taken.value = job.id),
          made.at
        FROM event AS made
        JOIN job ON job.id = made.data ->> '$.job'
        JOIN run ON run.id = made.run_id
        LEFT JOIN attempt ON attempt.run_id = made.run_id AND attempt.job_id = job.id
          AND attempt.attempt = made.data ->> '$.attempt'
        WHERE made.type = 'attempt.succeeded' AND json_type(made.data, '$.checkpoint') = 'object';
    `,
  },
  {
    version: 6,
    sql: `
      CREATE TABLE waiting_run (
        run_id INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE, fence INTEGER NOT NULL, seq INTEGER NOT NULL,
        owner TEXT NOT NULL, asks TEXT NOT NULL);
    `,
  },
  {
    version: 7,
    sql: `
      CREATE TABLE cluster (
        name TEXT PRIMARY KEY, revision INTEGER NOT NULL, suspended TEXT, failures INTEGER NOT NULL, retry_at INTEGER,
        submitted_at INTEGER, excluded TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE allocation (
        key TEXT PRIMARY KEY, cluster TEXT NOT NULL, id TEXT, restart INTEGER NOT NULL, state TEXT NOT NULL,
        shape TEXT NOT NULL, tags TEXT NOT NULL, job_id INTEGER, reason TEXT NOT NULL, server TEXT NOT NULL,
        owner TEXT NOT NULL, token_id INTEGER, folder TEXT NOT NULL, nodes TEXT NOT NULL, cancel TEXT,
        created_at INTEGER NOT NULL, submitted_at INTEGER, started_at INTEGER, pilot_at INTEGER,
        unknown_since INTEGER, ended_at INTEGER, outcome TEXT);
      CREATE INDEX allocation_live ON allocation (cluster) WHERE state <> 'ended';
      CREATE INDEX allocation_by_age ON allocation (created_at, key);
      CREATE TABLE server (owner TEXT PRIMARY KEY, url TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
    `,
  },
  {
    version: 8,
    sql: `CREATE INDEX event_by_job ON event (run_id, ${EVENT_JOB}, seq);`,
  },
  {
    version: 9,
    sql: `
      ALTER TABLE attempt ADD COLUMN node TEXT;
      ALTER TABLE attempt ADD COLUMN allocation TEXT;
      ALTER TABLE attempt ADD COLUMN restart INTEGER;
    `,
  },
  {
    version: 10,
    sql: `
      CREATE TABLE snapshot (
        run_id INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE, seq INTEGER NOT NULL, version TEXT NOT NULL,
        sha256 TEXT NOT NULL, bytes BLOB NOT NULL);
    `,
  },
  {
    version: 11,
    // Runs that are there already are read one by one later, not while the file is opened.
    sql: `
      CREATE TABLE book_row (
        run_id INTEGER NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, workflow TEXT NOT NULL,
        step TEXT NOT NULL, signature TEXT NOT NULL, job_id INTEGER NOT NULL, attempt INTEGER NOT NULL, action TEXT,
        tried TEXT NOT NULL, first_in_run INTEGER NOT NULL, flake_ms INTEGER, code TEXT NOT NULL, class TEXT NOT NULL,
        sample TEXT NOT NULL, begun_at INTEGER NOT NULL, rolled INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (run_id, n)) WITHOUT ROWID;
      CREATE INDEX book_row_unrolled ON book_row (run_id, n) WHERE rolled = 0;
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
      CREATE TABLE book_backlog (run_id INTEGER PRIMARY KEY);
      INSERT INTO book_backlog SELECT id FROM run;
    `,
  },
  {
    version: 12,
    // A run keeps its labels, so that a trigger can enter them where they are looked for. Texts are read from the index
    // alone, whatever else the rows hold.
    sql: `
      ALTER TABLE run ADD COLUMN labels TEXT;
      CREATE TABLE run_label (
        key TEXT NOT NULL, value TEXT NOT NULL, run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        PRIMARY KEY (key, value, run_id)) WITHOUT ROWID;
      CREATE INDEX run_label_by_run ON run_label (run_id);
      CREATE TRIGGER enter_labels AFTER INSERT ON run WHEN new.labels IS NOT NULL BEGIN
        INSERT INTO run_label (key, value, run_id) SELECT key, value, new.id FROM json_each(new.labels);
      END;
      CREATE INDEX run_by_creation ON run (created_at, id);
      ALTER TABLE run ADD COLUMN search_text TEXT;
      UPDATE run SET search_text = substr(lower(workflow || CASE WHEN json_valid(error)
        THEN ' ' || (error ->> '$.code') || ': ' || (error ->> '$.message') ELSE '' END), 1, 500);
      CREATE INDEX run_text ON run (id, search_text);
      ALTER TABLE attempt ADD COLUMN signature TEXT;
      ALTER TABLE attempt ADD COLUMN search_text TEXT;
      UPDATE attempt SET signature = error ->> '$.signature',
          search_text = substr(lower((error ->> '$.code') || ': ' || (error ->> '$.message')), 1, 500)
        WHERE status = 'failed' AND json_valid(error);
      CREATE INDEX attempt_failed ON attempt (signature, run_id, job_id, search_text) WHERE signature IS NOT NULL;
    `,
  },
  {
    version: 13,
    // A job is in one unfinished campaign at a time.
    sql: `
      CREATE TABLE campaign (
        id INTEGER PRIMARY KEY AUTOINCREMENT, revision INTEGER NOT NULL, unfinished INTEGER NOT NULL, data TEXT NOT NULL);
      CREATE INDEX campaign_unfinished ON campaign (id) WHERE unfinished = 1;
      CREATE TABLE campaign_job (job_id INTEGER PRIMARY KEY, campaign_id INTEGER NOT NULL);
      CREATE INDEX campaign_job_by_campaign ON campaign_job (campaign_id);
    `,
  },
  {
    version: 14,
    sql: `
      CREATE TABLE shared (
        kind TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL, data TEXT NOT NULL,
        PRIMARY KEY (kind, name)) WITHOUT ROWID;
    `,
  },
  {
    version: 15,
    // Like dead letters: few stand in the index, and a change of status touches it only where one comes or goes. The rest of
    // what a list tells of an older run is counted when it is listed.
    sql: `
      ALTER TABLE job ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0;
      UPDATE job SET unanswered = 1 WHERE status = 'pending_failed' OR (status = 'failed' AND handled = 0)
        OR (status = 'waiting' AND EXISTS (SELECT 1 FROM attempt WHERE attempt.run_id = job.run_id
          AND attempt.job_id = job.id AND attempt.attempt = job.attempt_id AND attempt.worker = 'human'
          AND attempt.status = 'running'));
      CREATE INDEX job_unanswered ON job (id) WHERE unanswered = 1;
      ALTER TABLE run ADD COLUMN recoveries INTEGER;
      ALTER TABLE run ADD COLUMN waiting INTEGER;
      ALTER TABLE run ADD COLUMN tally TEXT;
      UPDATE run SET recoveries = 1 WHERE id IN (SELECT run_id FROM route WHERE rung NOT IN ('operator', 'on_success'));
      UPDATE run SET waiting = 1 WHERE status IN ('running', 'paused', 'held')
        AND id IN (SELECT run_id FROM job WHERE unanswered = 1 AND status <> 'failed');
      CREATE INDEX run_recovered ON run (id) WHERE recoveries > 0;
      CREATE INDEX run_waiting ON run (id) WHERE waiting > 0;
    `,
  },
  {
    version: 16,
    sql: `
      ALTER TABLE run ADD COLUMN wanted_at INTEGER;
      CREATE INDEX run_wanted_at ON run (wanted_at) WHERE wanted_at IS NOT NULL;
    `,
  },
  // The text that a definition was read from, so that somebody can look at it and go on from it.
  { version: 17, sql: "ALTER TABLE definition ADD COLUMN written TEXT;" },
  {
    version: 18,
    // What is done with stands in no index but that of its time. Whether a step works again is looked for among the runs
    // of its workflow that were not over at some time.
    sql: `
      CREATE TABLE outbox (
        id TEXT PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, channel TEXT NOT NULL, thing TEXT NOT NULL,
        run_id INTEGER, workflow TEXT, step TEXT, signature TEXT, condition TEXT, facts TEXT NOT NULL,
        state TEXT NOT NULL, told TEXT, tries INTEGER NOT NULL, error TEXT, next_at INTEGER NOT NULL,
        settled_at INTEGER, lease TEXT, leased_until INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
      CREATE INDEX outbox_open ON outbox (at, id) WHERE state IN ('new', 'due');
      CREATE INDEX outbox_by_time ON outbox (at, id);
      CREATE INDEX run_by_end ON run (workflow, finished_at);
    `,
  },
  {
    version: 19,
    // Few runs are in a group and not over. The number of a place is given once.
    sql: `
      ALTER TABLE run ADD COLUMN concurrency_group TEXT;
      ALTER TABLE run ADD COLUMN group_limit INTEGER;
      ALTER TABLE run ADD COLUMN group_policy TEXT;
      ALTER TABLE run ADD COLUMN priority INTEGER;
      ALTER TABLE run ADD COLUMN place INTEGER;
      CREATE INDEX run_in_group ON run (concurrency_group, id) WHERE concurrency_group IS NOT NULL AND finished_at IS NULL;
      CREATE UNIQUE INDEX run_place ON run (concurrency_group, place) WHERE place IS NOT NULL;
    `,
  },
  // Few events are decisions, and statistics look for them in the runs of weeks.
  {
    version: 20,
    sql: `CREATE INDEX event_decision ON event (run_id, seq) WHERE type IN ('hold.resolved', 'human.answered', 'jobs.retried');`,
  },
];

/** Bring the file to the newest version, in one transaction; safe when two processes open it at once. */
export function migrate(db: Database, file: string, migrations: readonly Migration[] = MIGRATIONS): void {
  const newest = migrations.at(-1)?.version ?? 0;
  if (readVersion(db, file, newest) === newest) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Read again under the lock: another process may have been faster.
    const version = readVersion(db, file, newest);
    if (version === 0) {
      db.exec(
        "CREATE TABLE schema_version (version INTEGER NOT NULL); INSERT INTO schema_version (version) VALUES (0)",
      );
    }
    for (const { version: next, sql, isNeeded } of migrations)
      if (next > version && (isNeeded?.(db) ?? true)) db.exec(sql);
    db.prepare("UPDATE schema_version SET version = ?").run(newest);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function hasColumn(db: Database, table: string, column: string): boolean {
  return db.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?").get(table, column) !== undefined;
}

/** 0: an empty file. Anything that is not Daruma's, or is of a newer Daruma, is refused before it is touched. */
export function readVersion(db: Database, file: string, newest: number): number {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
    name: string;
  }[];
  if (tables.length === 0) return 0;
  if (!tables.some(({ name }) => name === "schema_version")) {
    throw new DarumaError("STORE_FAILED", `${file}: this database belongs to another program`);
  }
  const row = db.prepare("SELECT version FROM schema_version").get() as { version: number } | undefined;
  const version = row?.version ?? 0;
  if (version > newest) {
    throw new DarumaError(
      "STORE_VERSION",
      `${file}: the database has version ${version}, this Daruma knows ${newest} and older`,
    );
  }
  return version;
}
