import { type CountDialect, countQuery, readCount } from "../count-queries.js";
import type { CountStore } from "../counts.js";
import { Conditions } from "./conditions.js";
import { type Database, toArrayLiteral } from "./database.js";
import { demandRuns } from "./search-queries.js";

const DIALECT: CountDialect = {
  join: "JOIN",
  eventJob: "about_job",
  isHandled: "job.handled",
  field: (...names) => `(data::json #>> '{${names.join(",")}}')`,
  isNotOk: "data::json ->> 'ok' = 'false'",
  decided: {
    from: "event",
    jobs: `LATERAL json_array_elements_text(
      coalesce(data::json -> 'jobs', json_build_array(data::json -> 'job'))) AS decided (value)`,
    job: "decided.value::bigint",
    before: "event AS before",
  },
};

export function createCountVerbs(db: Database): CountStore {
  return {
    async count(kind, filter) {
      const { bucketMs, runIds, steps } = filter;
      const { where, parameters } = demandRuns(new Conditions(), filter)
        .require("run.options NOT LIKE '%\"imported\":true%'")
        .demand("run.id = ANY (?::bigint[])", runIds && toArrayLiteral(runIds))
        .demand(
          `(run.definition_hash, job.step) IN (
             SELECT pair ->> 0, pair ->> 1 FROM json_array_elements(?::text::json) AS pair)`,
          steps && JSON.stringify(steps.map(({ definition_hash, step }) => [definition_hash, step])),
        );
      const sql = countQuery(kind, { where, bucketMs, dialect: DIALECT });
      const found = await db.list<{ readonly [column: string]: unknown }>(sql, ...parameters);
      return found.map((row) => readCount(kind, (column) => row[column]));
    },
  };
}
