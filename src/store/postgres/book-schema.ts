/** Runs that are there already are read one by one later, not while the store is opened. */
export const BOOK = `
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
    stamp text,
    PRIMARY KEY (workflow, step, signature));
  CREATE INDEX book_by_time ON book (last_seen, workflow, step, signature);
  CREATE INDEX book_by_signature ON book (signature);
  CREATE TABLE book_backlog (run_id bigint PRIMARY KEY);
  INSERT INTO book_backlog SELECT id FROM run;
  CREATE FUNCTION forget_book_rows() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    -- What no entry contains yet stays until it is rolled up.
    DELETE FROM book_row WHERE run_id = OLD.id AND rolled;
    DELETE FROM book_backlog WHERE run_id = OLD.id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER forget_book_rows AFTER DELETE ON run FOR EACH ROW EXECUTE FUNCTION forget_book_rows();`;
