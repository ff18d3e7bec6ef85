import { REFUSED_STATE } from "../postgres-errors.js";

/** What a commit replaces in rows that are there (`SET` of an upsert), and the columns of routes, which are only added. */
interface CommitColumns {
  readonly run: string;
  readonly job: string;
  readonly attempt: string;
  readonly route: string;
}

/** As migrations made it. Never edit it: their checksums hold it. What is in use is in `commit-function.ts`. */
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

/** The same, of a later migration. */
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
