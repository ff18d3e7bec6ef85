import { type CountDialect, countQuery, readCount } from "../count-queries.js";
import type { CountKind, CountStore, Counts } from "../counts.js";
import type { Caller } from "./caller.js";
import type { ReadVerbs } from "./protocol.js";
import { EVENT_JOB } from "./schema.js";
import { demandRuns } from "./search-queries.js";
import { Conditions, type Statements } from "./statements.js";

const DIALECT: CountDialect = {
  join: "CROSS JOIN",
  eventJob: EVENT_JOB,
  isHandled: "job.handled = 1",
  field: (...names) => `data ->> '$.${names.join(".")}'`,
  isNotOk: "data ->> '$.ok' = 0",
  decided: {
    from: "event INDEXED BY event_decision",
    jobs: "json_each(coalesce(data -> '$.jobs', json_array(data -> '$.job'))) AS decided",
    // Without a type, or the index by job would not be used.
    job: "decided.value",
    before: "event AS before INDEXED BY event_by_job",
  },
};

export function createCountReads({ rows }: Statements): Pick<ReadVerbs, "count"> {
  return {
    count: (kind, filter) => {
      const { bucketMs, runIds, steps } = filter;
      const { where, cells } = demandRuns(new Conditions(), filter)
        .demandIf(true, "json_extract(run.options, '$.imported') IS NULL")
        .demand("run.id IN (SELECT value FROM json_each(?))", runIds && JSON.stringify(runIds))
        .demand(
          "(run.definition_hash, job.step) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))",
          steps && JSON.stringify(steps.map(({ definition_hash, step }) => [definition_hash, step])),
        );
      return rows(countQuery(kind, { where, bucketMs, dialect: DIALECT }), ...cells);
    },
  };
}

export function createCountVerbs(thread: Caller): CountStore {
  return {
    count: async <Kind extends CountKind>(kind: Kind, filter: Parameters<CountStore["count"]>[1]) =>
      (await thread.call("count", kind, filter)).map((cells): Counts[Kind] =>
        readCount(kind, (_column, place) => cells[place]),
      ),
  };
}
