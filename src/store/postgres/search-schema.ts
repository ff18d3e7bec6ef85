/** A text of JSON, as it is escaped there: PostgreSQL reads no JSON with a NUL in it. */
const written = (field: string): string => `substring(error FROM '"${field}":"((?:[^"\\\\]|\\\\.)*)"')`;

/**
 * What runs are found by. A run keeps its labels, so that a trigger can enter them where they are looked for. Texts are read
 * from the index alone where it can be, whatever else the rows hold.
 */
export const SEARCH = `
  ALTER TABLE run ADD COLUMN labels text, ADD COLUMN search_text text COLLATE "C";
  CREATE TABLE run_label (
    key text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL,
    run_id bigint NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    PRIMARY KEY (key, value, run_id));
  CREATE INDEX run_label_by_run ON run_label (run_id);
  CREATE FUNCTION enter_labels() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO run_label (key, value, run_id) SELECT key, value, new.id FROM json_each_text(new.labels::json);
    RETURN NULL;
  END $$;
  CREATE TRIGGER enter_labels AFTER INSERT ON run FOR EACH ROW WHEN (new.labels IS NOT NULL)
    EXECUTE FUNCTION enter_labels();
  CREATE INDEX run_by_creation ON run (created_at, id);
  UPDATE run SET search_text =
    left(lower(workflow || coalesce(' ' || ${written("code")} || ': ' || ${written("message")}, '')), 500);
  CREATE INDEX run_text ON run (id, search_text);
  ALTER TABLE attempt ADD COLUMN signature text COLLATE "C", ADD COLUMN search_text text COLLATE "C";
  UPDATE attempt SET signature = ${written("signature")},
      search_text = left(lower(${written("code")} || ': ' || ${written("message")}), 500)
    WHERE status = 'failed' AND error IS NOT NULL;
  CREATE INDEX attempt_failed ON attempt (signature, run_id, job_id, search_text) WHERE signature IS NOT NULL;`;

/**
 * What waits for a person, and what a list tells of a run. Like dead letters: few stand in the index, and a change of status
 * touches it only where one comes or goes. The rest of what a list tells of an older run is counted when it is listed.
 */
export const UNANSWERED = `
  ALTER TABLE job ADD COLUMN unanswered boolean NOT NULL DEFAULT false;
  UPDATE job SET unanswered = true WHERE status = 'pending_failed' OR (status = 'failed' AND NOT handled)
    OR (status = 'waiting' AND EXISTS (SELECT 1 FROM attempt WHERE attempt.run_id = job.run_id
      AND attempt.job_id = job.id AND attempt.attempt = job.attempt_id AND attempt.worker = 'human'
      AND attempt.status = 'running'));
  CREATE INDEX job_unanswered ON job (id) WHERE unanswered;
  ALTER TABLE run ADD COLUMN recoveries integer, ADD COLUMN waiting integer, ADD COLUMN tally text;
  UPDATE run SET recoveries = 1 WHERE id IN (SELECT run_id FROM route WHERE rung NOT IN ('operator', 'on_success'));
  UPDATE run SET waiting = 1 WHERE status IN ('running', 'paused', 'held')
    AND id IN (SELECT run_id FROM job WHERE unanswered AND status <> 'failed');
  CREATE INDEX run_recovered ON run (id) WHERE recoveries > 0;
  CREATE INDEX run_waiting ON run (id) WHERE waiting > 0;`;
