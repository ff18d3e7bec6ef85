import { COMMIT_FUNCTION } from "./commit/commit-function.js";

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

export const FUNCTIONS = [
  COMMIT_FUNCTION,
  DELETE_FUNCTION,
  TAKE_WAITING_FUNCTION,
  LABELS_TRIGGER,
  BOOK_TRIGGER,
].join("\n");
