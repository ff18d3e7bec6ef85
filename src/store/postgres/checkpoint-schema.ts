import { setEach } from "./commit/commit-function.js";
import { commitFunctionWithCheckpoints } from "./commit/first-commit-functions.js";

/** Never edit them: the checksums of the migrations hold them. */
const FIRST_COLUMNS = setEach([
  ...["job_id", "step", "scope", "attempt", "visit", "commit_id", "diff_hash", "changed_files", "patch"],
  ...["stored", "superseded", "at"],
]);

/** A NUL or half a character, for which PostgreSQL refuses to look into JSON; not one after an escaped backslash. */
const UNREADABLE_ESCAPE = String.raw`(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})`;

/**
 * A run's checkpoints and patches go with it. Those of older runs are in the log. The new form of the commit writes them
 * after all that the old one does; the old one stays for servers that have not been restarted yet.
 */
export const CHECKPOINTS = `
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
  ALTER TABLE patch ALTER COLUMN bytes SET STORAGE EXTERNAL;

  INSERT INTO checkpoint
    SELECT made.run_id, (made.checkpoint ->> 'ordinal')::integer, job.id, job.step, job.scope, made.attempt,
      coalesce(attempt.visit, job.visit), made.checkpoint ->> 'commit', made.checkpoint ->> 'diffHash',
      (made.checkpoint -> 'changedFiles')::text, made.checkpoint ->> 'patch', false,
      EXISTS (
        SELECT 1 FROM event AS closed,
          LATERAL (
            SELECT value FROM json_array_elements_text(closed.data::json -> 'invalidated')
            UNION ALL SELECT value FROM json_array_elements_text(closed.data::json -> 'retired')) AS taken (job_id)
        WHERE closed.run_id = made.run_id AND closed.seq > made.seq AND closed.type = 'barrier.closed'
          AND taken.job_id::bigint = job.id),
      made.at
    FROM (
      SELECT run_id, seq, at, (event ->> 'job')::bigint AS job_id, (event ->> 'attempt')::integer AS attempt,
        event -> 'checkpoint' AS checkpoint
      FROM (
        SELECT run_id, seq, at, regexp_replace(data, '${UNREADABLE_ESCAPE}', '\\1\\\\ufffd', 'gi')::json AS event
        FROM event WHERE type = 'attempt.succeeded' AND data LIKE '%"checkpoint":{%') AS read) AS made
    JOIN job ON job.id = made.job_id
    JOIN run ON run.id = made.run_id
    LEFT JOIN attempt ON attempt.run_id = made.run_id AND attempt.job_id = job.id AND attempt.attempt = made.attempt
    WHERE json_typeof(made.checkpoint) = 'object';

  ${commitFunctionWithCheckpoints("CREATE FUNCTION", FIRST_COLUMNS)}`;
