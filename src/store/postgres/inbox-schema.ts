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
