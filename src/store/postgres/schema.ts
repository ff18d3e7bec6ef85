import { DarumaError } from "../../core/errors/errors.js";
import { otherVersion, SCHEMA_VERSION } from "../schema-version.js";
import { COMMIT_FUNCTION } from "./commit/commit-function.js";
import type { Session } from "./connection-pool.js";
import type { Database, WorkLimits } from "./database.js";
import type { PostgresAddress } from "./postgres-address.js";
import { CAUSE_INDEX, codeOf } from "./postgres-errors.js";
import { PLACE_INDEX } from "./slots/slot-functions.js";

/** Returns null if the run does not exist. The lock keeps others from taking or writing it meanwhile. */
const DELETE_FUNCTION = `
  CREATE FUNCTION delete_run(doomed bigint, unfinished text[]) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    holder text;
    found_status text;
  BEGIN
    SELECT owner INTO holder FROM lease WHERE run_id = doomed FOR UPDATE;
    SELECT status INTO found_status FROM run WHERE id = doomed;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    IF holder IS NOT NULL OR found_status = ANY (unfinished) THEN
      RETURN false;
    END IF;
    DELETE FROM event WHERE run_id = doomed;
    DELETE FROM job WHERE run_id = doomed;
    DELETE FROM attempt WHERE run_id = doomed;
    DELETE FROM route WHERE run_id = doomed;
    DELETE FROM inbox WHERE run_id = doomed;
    DELETE FROM run WHERE id = doomed;
    DELETE FROM lease WHERE run_id = doomed;
    RETURN true;
  END $$;`;

/**
 * Two statements, so that the log is read after the lock is taken: a commit that held the lock has extended it. A
 * repeated call, whose answer may have been lost, returns the same token.
 */
const TAKE_WAITING_FUNCTION = `
  CREATE FUNCTION take_waiting_run(
    wanted_run bigint, old_fence bigint, last_seq bigint, new_owner text, lasts bigint, asked_at bigint)
    RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    new_fence bigint;
  BEGIN
    PERFORM FROM lease WHERE run_id = wanted_run FOR UPDATE;
    UPDATE lease SET fence = old_fence + 1, owner = new_owner, claim = NULL,
        expires_at = coalesce(asked_at, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint) + lasts
      WHERE run_id = wanted_run
        AND (fence = old_fence AND owner IS NOT NULL OR fence = old_fence + 1 AND owner = new_owner)
        AND (SELECT coalesce(max(seq), 0) FROM event WHERE run_id = wanted_run) = last_seq
      RETURNING fence INTO new_fence;
    IF new_fence IS NOT NULL THEN
      DELETE FROM waiting_run WHERE run_id = wanted_run;
    END IF;
    RETURN new_fence;
  END $$;`;

/** A trigger copies labels into the table for searches, since a run's labels never change. */
const LABELS_TRIGGER = `
  CREATE FUNCTION enter_labels() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO run_label (key, value, run_id) SELECT key, value, new.id FROM json_each_text(new.labels::json);
    RETURN NULL;
  END $$;
  CREATE TRIGGER enter_labels AFTER INSERT ON run FOR EACH ROW WHEN (new.labels IS NOT NULL)
    EXECUTE FUNCTION enter_labels();`;

const BOOK_TRIGGER = `
  CREATE FUNCTION forget_book_rows() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    -- What no entry contains yet stays until it is rolled up.
    DELETE FROM book_row WHERE run_id = OLD.id AND rolled;
    RETURN NULL;
  END $$;
  CREATE TRIGGER forget_book_rows AFTER DELETE ON run FOR EACH ROW EXECUTE FUNCTION forget_book_rows();`;

const FUNCTIONS = [
  COMMIT_FUNCTION,
  DELETE_FUNCTION,
  TAKE_WAITING_FUNCTION,
  LABELS_TRIGGER,
  BOOK_TRIGGER,
].join("\n");

/** Tables of workflows and permissions. Names are compared by their bytes, as in SQLite. */
const WORKFLOWS = `
  CREATE TABLE definition (hash text COLLATE "C" PRIMARY KEY, json text NOT NULL, written text);
  CREATE TABLE workflow (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL, version integer NOT NULL,
    definition_hash text COLLATE "C" NOT NULL REFERENCES definition (hash), file text, created_at bigint NOT NULL,
    source text,
    UNIQUE (name, version), UNIQUE (name, definition_hash));
  CREATE TABLE failure_handler (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workflow_id bigint NOT NULL REFERENCES workflow (id) ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL, rules text NOT NULL,
    UNIQUE (workflow_id, name));
  CREATE TABLE token (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, role text NOT NULL,
    hash text COLLATE "C" NOT NULL UNIQUE, created_at bigint NOT NULL, expires_at bigint, revoked_at bigint);
  CREATE TABLE session (hash text COLLATE "C" PRIMARY KEY, token_id bigint NOT NULL, expires_at bigint NOT NULL);`;

/**
 * Partial indexes hold the few rows that are looked for. Texts of runs are read from the index alone where it can be, whatever
 * else the rows hold. Whether a step works again is looked for among the runs of its workflow that were not over at some time.
 */
const RUNS = `
  CREATE SEQUENCE run_id AS bigint;
  CREATE TABLE run (
    id bigint PRIMARY KEY, workflow_id bigint NOT NULL, workflow text COLLATE "C" NOT NULL,
    definition_hash text NOT NULL, status text COLLATE "C" NOT NULL, inputs text NOT NULL, options text NOT NULL,
    folder text NOT NULL, file text, parent_run_id bigint, parent_job_id bigint, managed boolean NOT NULL,
    wanted boolean NOT NULL, error text, created_at bigint NOT NULL, started_at bigint, finished_at bigint,
    cause text COLLATE "C", labels text, search_text text COLLATE "C", recoveries integer, waiting integer, tally text,
    wanted_at bigint, concurrency_group text COLLATE "C", group_limit integer, group_policy text COLLATE "C",
    priority integer, place bigint);
  CREATE INDEX run_by_status ON run (status, id);
  CREATE INDEX run_by_workflow ON run (workflow, id);
  CREATE INDEX run_by_workflow_id ON run (workflow_id);
  CREATE INDEX run_by_parent ON run (parent_job_id, id) WHERE parent_job_id IS NOT NULL;
  CREATE UNIQUE INDEX ${CAUSE_INDEX} ON run (cause) WHERE cause IS NOT NULL;
  CREATE INDEX run_by_creation ON run (created_at, id);
  CREATE INDEX run_by_end ON run (workflow, finished_at);
  CREATE INDEX run_text ON run (id, search_text);
  CREATE INDEX run_wanted ON run (id) WHERE wanted;
  CREATE INDEX run_wanted_at ON run (wanted_at) WHERE wanted_at IS NOT NULL;
  CREATE INDEX run_recovered ON run (id) WHERE recoveries > 0;
  CREATE INDEX run_waiting ON run (id) WHERE waiting > 0;
  CREATE INDEX run_in_group ON run (concurrency_group, id) WHERE concurrency_group IS NOT NULL AND finished_at IS NULL;
  CREATE UNIQUE INDEX ${PLACE_INDEX} ON run (concurrency_group, place) WHERE place IS NOT NULL;
  CREATE TABLE run_label (
    key text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL,
    run_id bigint NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    PRIMARY KEY (key, value, run_id));
  CREATE INDEX run_label_by_run ON run_label (run_id);
  CREATE TABLE waiting_run (
    run_id bigint PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE, fence bigint NOT NULL, seq bigint NOT NULL,
    owner text COLLATE "C" NOT NULL, asks text NOT NULL);
  CREATE TABLE snapshot (
    run_id bigint PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE, seq bigint NOT NULL, version text NOT NULL,
    sha256 text NOT NULL, bytes bytea NOT NULL);`;

/**
 * Text where a value comes back exactly as it was given: an event's JSON is kept byte for byte, and `jsonb` would
 * refuse the NUL that JSON may hold. `about_job` is in no text that PostgreSQL would have to look into: that was a third of
 * what a commit of many steps cost the database. 0: the event is about none or several.
 *
 * A job's index leaves its status out on purpose: so a change of status touches no index, and room in the page
 * (`fillfactor`) lets the new version of a row stay beside the old one. Few jobs stand in its partial indexes, and few
 * events are decisions, which statistics look for in the runs of weeks. A run's checkpoints and patches go with it.
 */
const LOG = `
  CREATE TABLE event (
    run_id bigint NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, type text NOT NULL, data text NOT NULL,
    about_job bigint NOT NULL,
    PRIMARY KEY (run_id, seq));
  CREATE INDEX event_by_job ON event (run_id, about_job, seq);
  CREATE INDEX event_decision ON event (run_id, seq) WHERE type IN ('hold.resolved', 'human.answered', 'jobs.retried');
  CREATE TABLE job (
    id bigint PRIMARY KEY, run_id bigint NOT NULL, step text NOT NULL, family text, scope text NOT NULL,
    status text COLLATE "C" NOT NULL, attempt_id integer NOT NULL, visit integer NOT NULL, handled boolean NOT NULL,
    handling text, stood_in_by text, skipped_by bigint, decided text, below text,
    due_at bigint, error text, output text,
    failure_handler_id bigint REFERENCES failure_handler (id) ON DELETE SET NULL,
    dead_letter boolean NOT NULL DEFAULT false, unanswered boolean NOT NULL DEFAULT false) WITH (fillfactor = 70);
  CREATE INDEX job_by_run ON job (run_id, id);
  CREATE INDEX job_dead_letter ON job (id) WHERE dead_letter;
  CREATE INDEX job_unanswered ON job (id) WHERE unanswered;
  CREATE TABLE attempt (
    job_id bigint NOT NULL, attempt integer NOT NULL, run_id bigint NOT NULL, visit integer NOT NULL,
    worker text NOT NULL, token text NOT NULL, status text NOT NULL, started_at bigint NOT NULL, finished_at bigint,
    error text, node text, allocation text, restart integer, signature text COLLATE "C", search_text text COLLATE "C",
    PRIMARY KEY (run_id, job_id, attempt)) WITH (fillfactor = 70);
  CREATE INDEX attempt_failed ON attempt (signature, run_id, job_id, search_text) WHERE signature IS NOT NULL;
  CREATE TABLE route (
    place bigint GENERATED ALWAYS AS IDENTITY, run_id bigint NOT NULL, seq bigint NOT NULL, at bigint NOT NULL,
    job_id bigint NOT NULL, step text NOT NULL, scope text NOT NULL, attempt integer NOT NULL, rung text NOT NULL,
    "to" text NOT NULL, reason text NOT NULL,
    PRIMARY KEY (run_id, seq, place));
  CREATE TABLE checkpoint (
    run_id bigint NOT NULL REFERENCES run (id) ON DELETE CASCADE, ordinal integer NOT NULL, job_id bigint NOT NULL,
    step text NOT NULL, scope text NOT NULL, attempt integer NOT NULL, visit integer NOT NULL, commit_id text NOT NULL,
    diff_hash text, changed_files text NOT NULL, patch text NOT NULL, stored boolean NOT NULL,
    superseded boolean NOT NULL, at bigint NOT NULL,
    PRIMARY KEY (run_id, ordinal));
  CREATE TABLE patch (
    run_id bigint NOT NULL REFERENCES run (id) ON DELETE CASCADE, diff_hash text COLLATE "C" NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (run_id, diff_hash));
  ALTER TABLE patch ALTER COLUMN bytes SET STORAGE EXTERNAL;`;

/**
 * `claim` identifies the call of `claimRuns` that got the lease, so that a repeated call finds it after its answer was
 * lost.
 */
const LEASES = `
  CREATE TABLE lease (
    run_id bigint PRIMARY KEY, fence bigint NOT NULL, owner text COLLATE "C", expires_at bigint NOT NULL, claim text)
    WITH (fillfactor = 70);
  CREATE TABLE inbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run_id bigint NOT NULL, key text COLLATE "C" NOT NULL,
    command text NOT NULL, at bigint NOT NULL, answer text,
    UNIQUE (run_id, key));
  CREATE INDEX inbox_unanswered ON inbox (run_id) WHERE answer IS NULL;`;

const BOOK = `
  CREATE TABLE book_row (
    run_id bigint NOT NULL, n integer NOT NULL, at bigint NOT NULL, kind text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL, step text COLLATE "C" NOT NULL, signature text COLLATE "C" NOT NULL,
    job_id bigint NOT NULL, attempt integer NOT NULL, action text, tried text NOT NULL, first_in_run boolean NOT NULL,
    flake_ms bigint, code text NOT NULL, class text COLLATE "C" NOT NULL, sample text NOT NULL,
    begun_at bigint NOT NULL, rolled boolean NOT NULL DEFAULT false,
    PRIMARY KEY (run_id, n)) WITH (fillfactor = 90);
  CREATE INDEX book_row_unrolled ON book_row (run_id, n) WHERE NOT rolled;
  CREATE INDEX book_row_by_signature ON book_row (signature, at) WHERE kind = 'met';
  CREATE INDEX book_row_flake ON book_row (at) WHERE flake_ms IS NOT NULL;
  CREATE TABLE book (
    workflow text COLLATE "C" NOT NULL, step text COLLATE "C" NOT NULL, signature text COLLATE "C" NOT NULL,
    code text NOT NULL, class text COLLATE "C" NOT NULL, sample text NOT NULL, first_seen bigint NOT NULL,
    last_seen bigint NOT NULL, occurrences bigint NOT NULL, runs bigint NOT NULL, rescues text NOT NULL,
    last_run bigint NOT NULL, last_job bigint NOT NULL, begun_at bigint NOT NULL, triage text COLLATE "C" NOT NULL,
    note text, link text, owner text, muted_until bigint, triaged_at bigint, triaged_by text, revision integer NOT NULL,
    PRIMARY KEY (workflow, step, signature));
  CREATE INDEX book_by_time ON book (last_seen, workflow, step, signature);
  CREATE INDEX book_by_signature ON book (signature);`;

/** `call` keeps the answer of a transaction for a call that is repeated because its answer was lost. */
const CALLS = `
  CREATE TABLE call (id text COLLATE "C" PRIMARY KEY, answer text NOT NULL, at timestamptz NOT NULL DEFAULT now());`;

/** What servers share. */
const SERVERS = `
  CREATE TABLE allocation (
    key text COLLATE "C" PRIMARY KEY, cluster text COLLATE "C" NOT NULL, id text, restart integer NOT NULL,
    state text COLLATE "C" NOT NULL, shape text NOT NULL, tags text NOT NULL, job_id bigint, reason text NOT NULL,
    server text NOT NULL, owner text NOT NULL, token_id bigint, folder text NOT NULL, nodes text NOT NULL, cancel text,
    created_at bigint NOT NULL, submitted_at bigint, started_at bigint, pilot_at bigint, unknown_since bigint,
    ended_at bigint, outcome text);
  CREATE INDEX allocation_live ON allocation (cluster) WHERE state <> 'ended';
  CREATE INDEX allocation_by_age ON allocation (created_at, key);
  CREATE TABLE shared (
    kind text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, revision bigint NOT NULL, data text NOT NULL,
    PRIMARY KEY (kind, name));
  CREATE TABLE claim (key text COLLATE "C" PRIMARY KEY, holder text COLLATE "C" NOT NULL);
  CREATE INDEX claim_by_holder ON claim (holder);
  CREATE TABLE outbox (
    id text COLLATE "C" PRIMARY KEY, at bigint NOT NULL, kind text NOT NULL, channel text COLLATE "C" NOT NULL,
    thing text COLLATE "C" NOT NULL, run_id bigint, workflow text, step text, signature text, condition text,
    facts text NOT NULL, state text COLLATE "C" NOT NULL, told text, tries integer NOT NULL, error text,
    next_at bigint NOT NULL, settled_at bigint, lease text COLLATE "C", leased_until bigint NOT NULL DEFAULT 0);
  CREATE INDEX outbox_open ON outbox (at, id) WHERE state IN ('new', 'due');
  CREATE INDEX outbox_by_time ON outbox (at, id);`;

const TABLES = [WORKFLOWS, RUNS, LOG, LEASES, BOOK, CALLS, SERVERS].join("\n");

/** Limits for opening: a server that is just starting is waited for, but a wrong address is reported soon. */
const OPENING_LIMITS: WorkLimits = { patienceMs: 3_000 };
/** Raised if another process has created the schema meanwhile. */
const OVERTAKEN_STATE = "DR002";

/** Creates missing tables in one transaction. If many processes open the store at once, one of them does it. */
export async function prepareSchema(db: Database): Promise<void> {
  const { address } = db;
  await db.work(async (session) => {
    while (!(await hasSchema(session, address))) {
      const script = await makeSchema(session, address.schema);
      try {
        await session.script(script);
      } catch (error) {
        if (codeOf(error) !== OVERTAKEN_STATE) throw error;
      }
    }
  }, OPENING_LIMITS);
}

/**
 * Creates the schema if it is missing. It is looked up first, because creating one takes a privilege that the user of
 * an existing one need not have.
 */
async function makeSchema(session: Session, schema: string): Promise<string> {
  const [encoding] = await session.rows<{ server_encoding: string }>("SHOW server_encoding");
  if (encoding?.server_encoding !== "UTF8") {
    throw new DarumaError("STORE_FAILED", `the database has the encoding ${encoding?.server_encoding}`, {
      hint: "Make a database with the encoding UTF8.",
    });
  }
  const there = await session.rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", schema);
  return `
    SELECT pg_advisory_xact_lock(hashtextextended('daruma schema ${schema}', 0));
    DO $$ BEGIN
      IF to_regclass('${schema}.schema_version') IS NOT NULL THEN
        RAISE EXCEPTION 'overtaken' USING ERRCODE = '${OVERTAKEN_STATE}';
      END IF;
    END $$;
    ${there.length === 0 ? `CREATE SCHEMA IF NOT EXISTS ${schema};` : ""}
    ${TABLES} ${FUNCTIONS}
    CREATE TABLE schema_version (version integer NOT NULL);
    INSERT INTO schema_version (version) VALUES (${SCHEMA_VERSION});`;
}

/** Whether the schema has our tables. Throws, before anything is changed, if it has other tables or another version. */
async function hasSchema(session: Session, address: PostgresAddress): Promise<boolean> {
  const tables = await session.rows<{ tablename: string }>(
    "SELECT tablename FROM pg_tables WHERE schemaname = $1",
    address.schema,
  );
  if (tables.length === 0) return false;
  if (!tables.some(({ tablename }) => tablename === "schema_version")) {
    throw new DarumaError("STORE_FAILED", `${address.label}: the schema belongs to another program`, {
      hint: "Give Daruma a schema of its own: add ?schema=NAME to the URL.",
    });
  }
  const [row] = await session.rows<{ version: number }>("SELECT version FROM schema_version");
  if (row?.version !== SCHEMA_VERSION) throw otherVersion(address.label, row?.version ?? 0);
  return true;
}
