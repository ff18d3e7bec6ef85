import { DECIDED_ENDS } from "../../core/book/book.js";
import type { CountColumns, CountFilter, CountKind, Counts } from "../counts.js";
import {
  Conditions,
  type Dialect,
  demandRuns,
  NOT_IMPORTED,
  rows,
  type Verb,
  WRITTEN_STEP,
} from "./dialect.js";

const COLUMNS: { readonly [Kind in CountKind]: CountColumns<Counts[Kind]> } = {
  runs: {
    ...{ bucket: "plain", workflow: "plain", status: "plain" },
    ...{ fell: "mark", handled: "mark", decided: "mark", runs: "plain" },
  },
  attempts: {
    ...{ workflow: "plain", definition_hash: "plain", step: "plain", worker: "plain", status: "plain" },
    ...{ completed: "mark", attempts: "plain", ms: "plain" },
  },
  failures: {
    ...{ workflow: "plain", definition_hash: "plain", step: "plain", code: "plain", class: "plain" },
    ...{ action: "plain", worker: "plain", failures: "plain", lost_ms: "plain", again: "plain" },
    waited_ms: "plain",
  },
  ends: { action: "plain", tried: "json", jobs: "plain" },
  usage: {
    ...{ workflow: "plain", step: "plain", model: "plain", calls: "plain", input_tokens: "plain" },
    output_tokens: "plain",
  },
  scripts: { run: "plain", failed: "plain" },
  decisions: { kind: "plain", after_ms: "plain", decisions: "plain" },
};

/** Events that decide a hold or a question. An index requires exactly this list. */
export const DECISION_TYPES = ["hold.resolved", "human.answered", "jobs.retried"];
/** Before a decision, the last of these events shows what it decided. Only the first two ask for a decision. */
export const TURNS = ["job.held", "human.asked", "hold.resolved", "human.answered", "attempt.started"];
const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(", ");

const sum = (expression: string): string => `CAST(coalesce(sum(${expression}), 0) AS bigint)`;
const groupBy = (columns: number): string =>
  `GROUP BY ${Array.from({ length: columns }, (_, index) => index + 1).join(", ")}`;

/** Reads runs first, by the index that fits the filter, then only their rows. */
function countQuery(kind: CountKind, where: string, bucketMs: number, dialect: Dialect): string {
  const { join, eventJob, field, decided, indexed } = dialect;
  const jobs = `run ${join} job ON job.run_id = run.id`;
  const book = (of: "met" | "ended"): string =>
    `run ${join} book_row ON book_row.run_id = run.id AND book_row.kind = '${of}'`;
  const events = (type: string): string =>
    `${jobs} ${join} event ON event.run_id = run.id AND ${eventJob} = job.id AND event.type = '${type}' ${where}`;
  const attempt = (name: string, number: string): string =>
    `LEFT JOIN attempt AS ${name} ON ${name}.run_id = run.id AND ${name}.job_id = book_row.job_id
       AND ${name}.attempt = ${number}`;
  switch (kind) {
    case "runs":
      return `SELECT run.created_at / ${Math.trunc(bucketMs)} AS bucket, run.workflow, run.status,
          EXISTS (SELECT 1 FROM book_row WHERE book_row.run_id = run.id) AS fell,
          EXISTS (SELECT 1 FROM job WHERE job.run_id = run.id AND (job.handled OR job.below IS NOT NULL)) AS handled,
          EXISTS (SELECT 1 FROM book_row WHERE book_row.run_id = run.id AND book_row.action IN (${quoted(DECIDED_ENDS)}))
            AS decided, count(*) AS runs
        FROM run ${where} ${groupBy(6)}`;
    case "attempts":
      return `SELECT run.workflow, run.definition_hash, ${WRITTEN_STEP} AS step, attempt.worker, attempt.status,
          job.status = 'completed' AS completed, count(*) AS attempts,
          ${sum("attempt.finished_at - attempt.started_at")} AS ms
        FROM ${jobs} ${join} attempt ON attempt.run_id = run.id AND attempt.job_id = job.id ${where} ${groupBy(6)}`;
    case "failures":
      return `SELECT run.workflow, run.definition_hash, book_row.step, book_row.code, book_row.class, book_row.action,
          tried.worker, count(*) AS failures, ${sum("tried.finished_at - tried.started_at")} AS lost_ms,
          count(next.attempt) AS again, ${sum("next.started_at - tried.finished_at")} AS waited_ms
        FROM ${book("met")} ${attempt("tried", "book_row.attempt")} ${attempt("next", "book_row.attempt + 1")}
        ${where} ${groupBy(7)}`;
    case "ends":
      return `SELECT book_row.action, book_row.tried, count(*) AS jobs FROM ${book("ended")} ${where} ${groupBy(2)}`;
    case "usage":
      return `SELECT run.workflow, ${WRITTEN_STEP} AS step, ${field("usage", "model")} AS model, count(*) AS calls,
          ${sum(`CAST(${field("usage", "input_tokens")} AS bigint)`)} AS input_tokens,
          ${sum(`CAST(${field("usage", "output_tokens")} AS bigint)`)} AS output_tokens
        FROM ${events("attempt.succeeded")} AND ${field("usage", "model")} IS NOT NULL ${groupBy(3)}`;
    case "scripts":
      return `SELECT count(*) AS run, count(CASE WHEN ${dialect.isNotOk} THEN 1 END) AS failed
        FROM ${events("recovery.finished")}`;
    case "decisions":
      return `SELECT CASE asked.type WHEN 'job.held' THEN 'hold' ELSE 'question' END AS kind,
          decided.at - asked.at AS after_ms, count(*) AS decisions
        FROM (SELECT event.run_id, event.seq, event.at, ${decided.job} AS job
          FROM run ${join} event ${indexed("event_decision")} ON event.run_id = run.id AND event.type IN (${quoted(DECISION_TYPES)})
          ${join} ${decided.jobs} ON true ${where}
          AND ${field("expired")} IS NULL AND coalesce(${field("action")}, '') <> 'resolve') AS decided
        ${join} event AS asked ON asked.run_id = decided.run_id AND asked.type IN ('job.held', 'human.asked')
          AND asked.seq = (SELECT before.seq FROM event AS before ${indexed("event_by_job")}
            WHERE before.run_id = decided.run_id AND ${eventJob} = decided.job AND before.seq < decided.seq
              AND before.type IN (${quoted(TURNS)}) ORDER BY before.seq DESC LIMIT 1)
        ${groupBy(2)}`;
  }
}

export function* count<Kind extends CountKind>(
  dialect: Dialect,
  kind: Kind,
  filter: CountFilter,
): Verb<Counts[Kind][]> {
  const { bucketMs, runIds, steps } = filter;
  const { where, values } = demandRuns(new Conditions(dialect), filter)
    .demandIf(true, NOT_IMPORTED)
    .demandOneOf("run.id", runIds, "bigint")
    .demand(
      `(run.definition_hash, ${WRITTEN_STEP}) IN (${dialect.records("?", { definition_hash: "text", step: "text" })})`,
      steps && JSON.stringify(steps),
    );
  const found = yield* rows(countQuery(kind, where, bucketMs, dialect), ...values);
  return found.map((row) => readCount(kind, row as { readonly [column: string]: unknown }));
}

function readCount<Kind extends CountKind>(
  kind: Kind,
  found: { readonly [column: string]: unknown },
): Counts[Kind] {
  const counts: { [field: string]: unknown } = {};
  for (const [column, how] of Object.entries(COLUMNS[kind])) {
    const value = found[column];
    counts[column] = how === "mark" ? Boolean(value) : how === "json" ? JSON.parse(String(value)) : value;
  }
  return counts as unknown as Counts[Kind];
}
