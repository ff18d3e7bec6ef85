import { EVENT_JOB_PATTERN } from "../event-job.js";
import { setEach } from "./commit/commit-function.js";
import { commitFunction } from "./commit/first-commit-functions.js";
import { CAUSE_INDEX } from "./postgres-errors.js";

/**
 * Text where a value comes back exactly as it was given: an event's JSON is kept byte for byte, and `jsonb` would
 * refuse the NUL that JSON may hold. Names are compared by their bytes, as the other stores do it.
 *
 * A job's index leaves its status out on purpose: so a change of status touches no index, and room in the page
 * (`fillfactor`) lets the new version of a row stay beside the old one.
 */
export const TABLES = `
  CREATE TABLE definition (hash text COLLATE "C" PRIMARY KEY, json text NOT NULL);
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
  CREATE TABLE draft (
    name text COLLATE "C" PRIMARY KEY, source text NOT NULL, revision integer NOT NULL, updated_at bigint NOT NULL);
  CREATE TABLE token (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, role text NOT NULL,
    hash text COLLATE "C" NOT NULL UNIQUE, created_at bigint NOT NULL, expires_at bigint, revoked_at bigint);

  CREATE SEQUENCE run_id AS bigint;
  CREATE TABLE run (
    id bigint PRIMARY KEY, workflow_id bigint NOT NULL, workflow text COLLATE "C" NOT NULL,
    definition_hash text NOT NULL, status text COLLATE "C" NOT NULL, inputs text NOT NULL, options text NOT NULL,
    folder text NOT NULL, file text, parent_run_id bigint, parent_job_id bigint, managed boolean NOT NULL,
    wanted boolean NOT NULL, error text, created_at bigint NOT NULL, started_at bigint, finished_at bigint);
  CREATE INDEX run_by_status ON run (status, id);
  CREATE INDEX run_by_workflow ON run (workflow, id);
  CREATE INDEX run_by_workflow_id ON run (workflow_id);
  CREATE INDEX run_by_parent ON run (parent_job_id, id) WHERE parent_job_id IS NOT NULL;
  CREATE INDEX run_wanted ON run (id) WHERE wanted;
  CREATE TABLE event (
    run_id bigint NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, type text NOT NULL, data text NOT NULL,
    PRIMARY KEY (run_id, seq));
  CREATE TABLE job (
    id bigint PRIMARY KEY, run_id bigint NOT NULL, step text NOT NULL, scope text NOT NULL,
    status text COLLATE "C" NOT NULL, attempt_id integer NOT NULL, visit integer NOT NULL, handled boolean NOT NULL,
    due_at bigint, error text, output text,
    failure_handler_id bigint REFERENCES failure_handler (id) ON DELETE SET NULL) WITH (fillfactor = 70);
  CREATE INDEX job_by_run ON job (run_id, id);
  CREATE TABLE attempt (
    job_id bigint NOT NULL, attempt integer NOT NULL, run_id bigint NOT NULL, visit integer NOT NULL,
    worker text NOT NULL, token text NOT NULL, status text NOT NULL, started_at bigint NOT NULL, finished_at bigint,
    error text,
    PRIMARY KEY (run_id, job_id, attempt)) WITH (fillfactor = 70);
  CREATE TABLE route (
    place bigint GENERATED ALWAYS AS IDENTITY, run_id bigint NOT NULL, seq bigint NOT NULL, at bigint NOT NULL,
    job_id bigint NOT NULL, step text NOT NULL, scope text NOT NULL, attempt integer NOT NULL, rung text NOT NULL,
    "to" text NOT NULL, reason text NOT NULL,
    PRIMARY KEY (run_id, seq, place));

  CREATE TABLE lease (
    run_id bigint PRIMARY KEY, fence bigint NOT NULL, owner text COLLATE "C", expires_at bigint NOT NULL)
    WITH (fillfactor = 70);
  CREATE TABLE inbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run_id bigint NOT NULL, key text COLLATE "C" NOT NULL,
    command text NOT NULL, at bigint NOT NULL, answer text,
    UNIQUE (run_id, key));
  CREATE INDEX inbox_unanswered ON inbox (run_id) WHERE answer IS NULL;`;

/** The columns of the first version. Never edit them: the checksums of the migrations hold them. */
const FIRST_COLUMNS = {
  run: setEach([
    ...["workflow_id", "workflow", "definition_hash", "status", "inputs", "options", "folder", "file"],
    ...[
      "parent_run_id",
      "parent_job_id",
      "managed",
      "wanted",
      "error",
      "created_at",
      "started_at",
      "finished_at",
    ],
  ]),
  job: setEach([
    ...["run_id", "step", "scope", "status", "attempt_id", "visit", "handled", "due_at", "error", "output"],
    "failure_handler_id",
  ]),
  attempt: setEach(["visit", "worker", "token", "status", "started_at", "finished_at", "error"]),
  route: 'run_id, seq, at, job_id, step, scope, attempt, rung, "to", reason',
};

export const COMMIT_FUNCTION = commitFunction("CREATE FUNCTION", FIRST_COLUMNS);

/** Only dead letters stand in the index, and there are few. */
export const DEAD_LETTERS = `
  ALTER TABLE job ADD COLUMN dead_letter boolean NOT NULL DEFAULT false;
  CREATE INDEX job_dead_letter ON job (id) WHERE dead_letter;
  ${commitFunction("CREATE OR REPLACE FUNCTION", {
    ...FIRST_COLUMNS,
    job: `${FIRST_COLUMNS.job}, ${setEach(["dead_letter"])}`,
  })}`;

/** A run keeps its cause, so that the rest of `commit_appends` need not know of it. */
export const CAUSES = `
  ALTER TABLE run ADD COLUMN cause text COLLATE "C";
  CREATE UNIQUE INDEX ${CAUSE_INDEX} ON run (cause) WHERE cause IS NOT NULL;`;

/** The job that an event is about, from its text: PostgreSQL reads no JSON with a NUL in it, and none that is very deep. */
const JOB_IN_TEXT = `(substring(left(data, 200) FROM '${EVENT_JOB_PATTERN}')::bigint)`;

export const EVENTS_BY_JOB = `CREATE INDEX event_by_job ON event (run_id, ${JOB_IN_TEXT}, seq);`;

/**
 * The same from the column, where there is one: to look into each text was a third of what a commit of many steps cost the
 * database. An expression in the index, because of rows that are older than the column and of those that a server of the
 * version before, which is still at work, writes without it.
 */
export const EVENT_JOB = `coalesce(about_job, ${JOB_IN_TEXT})`;

export const EVENTS_ABOUT_JOBS = `
  ALTER TABLE event ADD COLUMN about_job bigint;
  DROP INDEX event_by_job;
  CREATE INDEX event_by_job ON event (run_id, ${EVENT_JOB}, seq);`;

/** The row that is there, or a new version; failure handlers get their ids in the order in which they are given. */
export const REGISTER_FUNCTION = `
  CREATE FUNCTION register_workflow(
    new_name text, new_hash text, new_json text, new_file text, new_at bigint, new_source text,
    handler_names text[], handler_rules text[]) RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    found_id bigint;
  BEGIN
    -- Without the lock first: nearly always it is there.
    FOR round IN 1..2 LOOP
      SELECT id INTO found_id FROM workflow WHERE name = new_name AND definition_hash = new_hash;
      IF FOUND THEN
        IF new_source IS NOT NULL THEN
          UPDATE workflow SET source = new_source WHERE id = found_id AND source IS NULL;
        END IF;
        RETURN found_id;
      END IF;
      IF round = 1 THEN
        LOCK TABLE workflow IN SHARE ROW EXCLUSIVE MODE;
      END IF;
    END LOOP;
    INSERT INTO definition (hash, json) VALUES (new_hash, new_json) ON CONFLICT DO NOTHING;
    INSERT INTO workflow (name, version, definition_hash, file, created_at, source)
      SELECT new_name, coalesce(max(version), 0) + 1, new_hash, new_file, new_at, new_source
      FROM workflow WHERE name = new_name
      RETURNING id INTO found_id;
    INSERT INTO failure_handler (workflow_id, name, rules)
      SELECT found_id, name, rules FROM unnest(handler_names, handler_rules) WITH ORDINALITY AS given (name, rules, place)
      ORDER BY place;
    RETURN found_id;
  END $$;`;

/** Null: there is no such run. The lock keeps everybody from taking or writing it meanwhile. */
export const DELETE_FUNCTION = `
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
