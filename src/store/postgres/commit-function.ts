import { COLUMNS, TABLES } from "../tables.js";
import { writeSharedFunction } from "./outbox/outbox-verbs.js";
import { FIND_SEEKERS, PLACE_VARIABLES, TAKE_PLACES } from "./places/place-schema.js";
import { REFUSED_STATE } from "./postgres-errors.js";

/** What a commit replaces in rows that are there (`SET` of an upsert), and the columns of routes, which are only added. */
interface CommitColumns {
  readonly run: string;
  readonly job: string;
  readonly attempt: string;
  readonly route: string;
}

export function setEach(columns: readonly string[]): string {
  return columns.map((column) => `${column} = excluded.${column}`).join(", ");
}

/** As the tables are now. Made anew after every migration, so that a migration need only add its columns. */
export function commitFunctions(): string {
  const define = "CREATE OR REPLACE FUNCTION";
  const { run, job, attempt, checkpoint } = TABLES;
  const columns = {
    run: setEach(run.replaced),
    job: setEach(job.replaced),
    attempt: setEach(attempt.replaced),
    route: COLUMNS.route,
  };
  return [
    commitFunction(define, columns),
    commitFunctionWithCheckpoints(define, setEach(checkpoint.replaced)),
    commitFunctionWithBook(define),
    commitFunctionWithOutbox(define),
    writeSharedFunction(define),
  ].join("\n");
}

/**
 * A whole commit in one call, so in one round trip and one transaction. The leases are locked in the order of their
 * runs, so two commits never wait for each other in a circle; a lock also keeps an owner from being replaced between
 * the check and the end of the transaction. `append_known` is where an earlier append of the same call ends.
 *
 * Milliseconds for 100 events and 100 jobs: all in arrays 2.9, events in arrays and rows in JSON 3.1, all in JSON 3.1.
 * So only events, whose text is long, go in arrays. Notifications cost 5 % of the database's CPU in a chain of steps and
 * make the commits of all servers on one database follow each other, as PostgreSQL does with all that notify; so
 * `changes` is often empty (`announcements.ts`).
 */
export function commitFunction(define: string, columns: CommitColumns): string {
  return `
  ${define} commit_appends(
    append_run bigint[], append_fence bigint[], append_first bigint[], append_known bigint[],
    event_run bigint[], event_seq bigint[], event_at bigint[], event_type text[], event_data text[],
    runs json, jobs json, attempts json, routes json, changes text[]) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    refusal text;
  BEGIN
    PERFORM FROM lease WHERE run_id = ANY (append_run) ORDER BY run_id FOR UPDATE;
    SELECT json_build_object('place', given.place, 'fence', CASE WHEN lease.owner IS NULL THEN NULL ELSE lease.fence END,
        'lastSeq', coalesce(given.known, log.seq, 0))
      INTO refusal
      FROM unnest(append_run, append_fence, append_first, append_known)
        WITH ORDINALITY AS given (run_id, fence, first, known, place)
      LEFT JOIN lease ON lease.run_id = given.run_id
      LEFT JOIN LATERAL (SELECT max(seq) AS seq FROM event WHERE event.run_id = given.run_id) AS log ON true
      WHERE lease.owner IS NULL OR lease.fence <> given.fence OR coalesce(given.known, log.seq, 0) <> given.first - 1
      ORDER BY given.place LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'the append is stale' USING ERRCODE = '${REFUSED_STATE}', DETAIL = refusal;
    END IF;
    INSERT INTO event (run_id, seq, at, type, data)
      SELECT * FROM unnest(event_run, event_seq, event_at, event_type, event_data);
    IF runs IS NOT NULL THEN
      INSERT INTO run SELECT * FROM json_populate_recordset(NULL::run, runs)
        ON CONFLICT (id) DO UPDATE SET ${columns.run};
    END IF;
    IF jobs IS NOT NULL THEN
      INSERT INTO job SELECT * FROM json_populate_recordset(NULL::job, jobs)
        ON CONFLICT (id) DO UPDATE SET ${columns.job};
    END IF;
    IF attempts IS NOT NULL THEN
      INSERT INTO attempt SELECT * FROM json_populate_recordset(NULL::attempt, attempts)
        ON CONFLICT (run_id, job_id, attempt) DO UPDATE SET ${columns.attempt};
    END IF;
    IF routes IS NOT NULL THEN
      INSERT INTO route (${columns.route})
        SELECT ${columns.route}
        FROM json_populate_recordset(NULL::route, routes);
    END IF;
    PERFORM pg_notify(current_schema(), change) FROM unnest(changes) AS change;
  END $$;`;
}

/** Writes checkpoints after all that the form without them does, which stays for servers that have not been restarted yet. */
export function commitFunctionWithCheckpoints(define: string, replaced: string): string {
  return `
  ${define} commit_appends(
    append_run bigint[], append_fence bigint[], append_first bigint[], append_known bigint[],
    event_run bigint[], event_seq bigint[], event_at bigint[], event_type text[], event_data text[],
    runs json, jobs json, attempts json, routes json, checkpoints json, changes text[])
    RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM commit_appends(append_run, append_fence, append_first, append_known, event_run, event_seq, event_at,
      event_type, event_data, runs, jobs, attempts, routes, changes);
    IF checkpoints IS NOT NULL THEN
      INSERT INTO checkpoint SELECT * FROM json_populate_recordset(NULL::checkpoint, checkpoints)
        ON CONFLICT (run_id, ordinal) DO UPDATE SET ${replaced};
    END IF;
  END $$;`;
}

/**
 * Takes the places that runs of groups need, and writes what the failure book learns after all that. A row of it that is
 * there already says the same.
 */
function commitFunctionWithBook(define: string): string {
  return `
  ${define} commit_appends(
    append_run bigint[], append_fence bigint[], append_first bigint[], append_known bigint[],
    event_run bigint[], event_seq bigint[], event_at bigint[], event_type text[], event_data text[],
    runs json, jobs json, attempts json, routes json, checkpoints json, book json, changes text[])
    RETURNS void LANGUAGE plpgsql AS $$
  DECLARE${PLACE_VARIABLES}
  BEGIN${FIND_SEEKERS}
    PERFORM commit_appends(append_run, append_fence, append_first, append_known, event_run, event_seq, event_at,
      event_type, event_data, runs, jobs, attempts, routes, checkpoints, changes);${TAKE_PLACES}
    IF book IS NOT NULL THEN
      INSERT INTO book_row (${COLUMNS.book_row})
        SELECT ${COLUMNS.book_row} FROM json_populate_recordset(NULL::book_row, book) ON CONFLICT DO NOTHING;
    END IF;
  END $$;`;
}

/** Writes what people may have to hear after all that. What became of one that is there already is left as it is. */
function commitFunctionWithOutbox(define: string): string {
  return `
  ${define} commit_appends(
    append_run bigint[], append_fence bigint[], append_first bigint[], append_known bigint[],
    event_run bigint[], event_seq bigint[], event_at bigint[], event_type text[], event_data text[],
    runs json, jobs json, attempts json, routes json, checkpoints json, book json, notices json, changes text[])
    RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM commit_appends(append_run, append_fence, append_first, append_known, event_run, event_seq, event_at,
      event_type, event_data, runs, jobs, attempts, routes, checkpoints, book, changes);
    IF notices IS NOT NULL THEN
      INSERT INTO outbox (${COLUMNS.outbox})
        SELECT ${COLUMNS.outbox} FROM json_populate_recordset(NULL::outbox, notices) ON CONFLICT DO NOTHING;
    END IF;
  END $$;`;
}
