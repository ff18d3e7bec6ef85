import { REFUSED_PLACE_STATE } from "../postgres-errors.js";

/**
 * The index that keeps two runs from getting the same place of a group. Places need no lock: each taker writes the
 * number after the last one it has seen, and of two concurrent takers the index refuses one, which then tries again.
 */
export const PLACE_INDEX = "run_place";

/**
 * The rules of `isUnderWay` and `seeksSlot`: finds the runs of a commit that need a place before it is written. Most commits have no run
 * of a group.
 */
export const FIND_SEEKERS = `
    IF strpos(runs::text, '"concurrency_group":"') > 0 THEN
      SELECT array_agg(given.id ORDER BY given.concurrency_group, given.id) INTO seekers
        FROM json_populate_recordset(NULL::run, runs) AS given LEFT JOIN run ON run.id = given.id
        WHERE given.concurrency_group IS NOT NULL AND given.started_at IS NOT NULL AND given.finished_at IS NULL
          AND (run.id IS NULL OR run.finished_at IS NOT NULL OR run.place IS NULL);
    END IF;`;

/**
 * The rule of `hasRoomFor`. Holders and the last place are read together: a place taken after that has the number
 * written here, so the index refuses it and everything is repeated.
 */
export const TAKE_PLACES = `
    FOREACH seeker IN ARRAY coalesce(seekers, '{}') LOOP
      SELECT * INTO own FROM run WHERE id = seeker;
      SELECT coalesce(array_agg(id ORDER BY id), '{}'), min(group_limit),
          (SELECT coalesce(max(place), 0) FROM run WHERE concurrency_group = own.concurrency_group AND place IS NOT NULL)
        INTO holders, smallest, last_place FROM run
        WHERE concurrency_group = own.concurrency_group AND finished_at IS NULL AND place IS NOT NULL AND id <> seeker;
      IF cardinality(holders) >= least(own.group_limit, smallest) THEN
        RAISE EXCEPTION 'no place is free' USING ERRCODE = '${REFUSED_PLACE_STATE}',
          DETAIL = json_build_object('runId', seeker, 'group', own.concurrency_group, 'holders', holders);
      END IF;
      BEGIN
        UPDATE run SET place = last_place + 1 WHERE id = seeker;
      EXCEPTION WHEN unique_violation THEN
        RAISE EXCEPTION 'somebody else took a place' USING ERRCODE = 'serialization_failure';
      END;
    END LOOP;`;

export const PLACE_VARIABLES = `
    seekers bigint[];
    seeker bigint;
    holders bigint[];
    smallest integer;
    last_place bigint;
    own run;`;
