import { setEach } from "../../json-rows.js";
import { COLUMNS, TABLES } from "../../tables.js";
import { REFUSED_STATE } from "../postgres-errors.js";
import { FIND_SEEKERS, PLACE_VARIABLES, TAKE_PLACES } from "../slots/slot-functions.js";

/** The parameters of a commit, in the order of the call. */
const PARAMETERS = {
  append_run: "bigint[]",
  append_fence: "bigint[]",
  append_first: "bigint[]",
  append_known: "bigint[]",
  event_run: "bigint[]",
  event_seq: "bigint[]",
  event_at: "bigint[]",
  event_type: "text[]",
  event_data: "text[]",
  event_about: "bigint[]",
  runs: "json",
  jobs: "json",
  attempts: "json",
  routes: "json",
  checkpoints: "json",
  book: "json",
  notices: "json",
  changes: "text[]",
};
type Parameter = keyof typeof PARAMETERS;

/** JSON is passed as `text`, because the driver would encode a JSON parameter once more. */
export const COMMIT_CALL = `SELECT commit_appends(${Object.values(PARAMETERS)
  .map((type, index) => (type === "json" ? `$${index + 1}::text::json` : `$${index + 1}`))
  .join(", ")})`;

/** Writes rows of a table. A new version replaces an existing one. */
function writeRows({
  name,
  key,
  replaced,
}: (typeof TABLES)["run" | "job" | "attempt" | "checkpoint"]): string {
  return `
    IF ${name}s IS NOT NULL THEN
      INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, ${name}s)
        ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${setEach(replaced)};
    END IF;`;
}

/** Adds rows. For the failure book and notices, an existing row already says the same, or more. */
function addRows(table: "route" | "book_row" | "outbox", given: Parameter): string {
  return `
    IF ${given} IS NOT NULL THEN
      INSERT INTO ${table} (${COLUMNS[table]})
        SELECT ${COLUMNS[table]} FROM json_populate_recordset(NULL::${table}, ${given})${table === "route" ? "" : " ON CONFLICT DO NOTHING"};
    END IF;`;
}

/**
 * A whole commit in one call, so in one round trip and one transaction. The leases are locked in the order of their
 * runs, so two commits never wait for each other in a circle; a lock also keeps an owner from being replaced between
 * the check and the end of the transaction. `append_known` is where an earlier append of the same call ends.
 *
 * Milliseconds for the 128 events, 128 jobs and 128 attempts of 64 steps: rows in JSON 3.0, in JSON without what is null
 * 2.8, in an array for each column 2.3, in an array of rows 2.1. JSON was kept: a column more is nothing to be done here.
 * Notifications cost 5 % of the database's CPU in a chain of steps and make the commits of
 * all servers on one database follow each other, as PostgreSQL does with all that notify; so `changes` is often empty
 * (`announcements.ts`).
 */
export const COMMIT_FUNCTION = `
  CREATE FUNCTION commit_appends(${Object.entries(PARAMETERS)
    .map(([name, type]) => `${name} ${type}`)
    .join(", ")}) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE${PLACE_VARIABLES}
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
    END IF;${FIND_SEEKERS}
    INSERT INTO event (run_id, seq, at, type, data, about_job)
      SELECT * FROM unnest(event_run, event_seq, event_at, event_type, event_data, event_about);${[
        ...[TABLES.run, TABLES.job, TABLES.attempt].map(writeRows),
        addRows("route", "routes"),
        writeRows(TABLES.checkpoint),
        TAKE_PLACES,
        addRows("book_row", "book"),
        addRows("outbox", "notices"),
      ].join("")}
    IF changes <> '{}' THEN
      PERFORM pg_notify(current_schema(), change) FROM unnest(changes) AS change;
    END IF;
  END $$;`;
