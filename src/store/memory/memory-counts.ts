import type { BookRow } from "../../core/book/book-row.js";
import type { AttemptRow, JobRow, RunRow } from "../../core/model/rows.js";
import { DECISION_TYPES, TURNS } from "../count-queries.js";
import type { CountFilter, CountKind, CountStore, Counts } from "../counts.js";
import type { SerialisedEvent } from "../store.js";
import { isSought } from "./memory-search.js";
import { type MemoryTables, type OpenTables, parseRow } from "./memory-tables.js";

/** All of one run that is counted. */
interface CountedRun {
  readonly run: RunRow;
  readonly jobs: readonly JobRow[];
  readonly attempts: readonly AttemptRow[];
  readonly book: readonly BookRow[];
  /** All of its log. */
  readonly log: readonly SerialisedEvent[];
  /** Of jobs that are asked for. */
  events(type: string): { readonly job: JobRow; readonly data: EventData }[];
}

interface EventData {
  readonly ok?: boolean;
  readonly usage?: {
    readonly model: string;
    readonly input_tokens: number | null;
    readonly output_tokens: number | null;
  };
}

export function createCountVerbs(open: OpenTables): CountStore {
  return {
    async count<Kind extends CountKind>(kind: Kind, filter: CountFilter): Promise<Counts[Kind][]> {
      const single: { readonly [kind in CountKind]: (of: CountedRun) => Counts[kind][] } = {
        runs: (of) => [runOf(of, filter.bucketMs)],
        attempts: attemptsOf,
        failures: failuresOf,
        ends: endsOf,
        usage: usageOf,
        scripts: scriptsOf,
        decisions: decisionsOf,
      };
      const found = countedRuns(open(), filter).flatMap(single[kind]);
      return kind === "scripts" && found.length === 0
        ? [{ run: 0, failed: 0 } as Counts[Kind]]
        : summed(found);
    },
  };
}

function countedRuns(tables: MemoryTables, filter: CountFilter): CountedRun[] {
  const { runIds, steps } = filter;
  const rows = Array.from(tables.bookRows.values(), ({ text }) => parseRow<BookRow>(text));
  return [...tables.runs.values()]
    .map((each) => ({ each, run: parseRow<RunRow>(each.run) }))
    .filter(({ run }) => isSought(run, filter) && run.options.imported !== true)
    .filter(({ run }) => runIds === undefined || runIds.includes(run.id))
    .map(({ each, run }) => {
      const jobs = Array.from(each.jobs.values(), (text) => parseRow<JobRow>(text));
      const isAsked = ({ step }: JobRow): boolean =>
        steps?.some((one) => one.definition_hash === run.definition_hash && one.step === step) !== false;
      return {
        run,
        jobs,
        log: each.events,
        attempts: Array.from(each.attempts.values(), (text) => parseRow<AttemptRow>(text)),
        book: rows.filter(({ run_id }) => run_id === run.id),
        events: (type) =>
          jobs.filter(isAsked).flatMap((job) =>
            each
              .seqsOf(job.id)
              .map((seq) => each.events[seq - 1]!)
              .filter((event) => event.type === type)
              .map(({ data }) => ({ job, data: JSON.parse(data) as EventData })),
          ),
      };
    });
}

function runOf({ run, book, jobs }: CountedRun, bucketMs: number): Counts["runs"] {
  return {
    bucket: Math.floor(run.created_at / bucketMs),
    workflow: run.workflow,
    status: run.status,
    fell: book.length > 0,
    handled: jobs.some(({ handled }) => handled),
    runs: 1,
  };
}

function attemptsOf({ run, jobs, attempts }: CountedRun): Counts["attempts"][] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  return attempts.flatMap(({ job_id, worker, status, started_at, finished_at }) => {
    const job = byId.get(job_id);
    if (job === undefined) return [];
    const { workflow, definition_hash } = run;
    const completed = job.status === "completed";
    const ms = finished_at === null ? 0 : finished_at - started_at;
    return [{ workflow, definition_hash, step: job.step, worker, status, completed, attempts: 1, ms }];
  });
}

function failuresOf({ run, attempts, book }: CountedRun): Counts["failures"][] {
  const find = (job: number, number: number): AttemptRow | undefined =>
    attempts.find(({ job_id, attempt }) => job_id === job && attempt === number);
  return book
    .filter(({ kind }) => kind === "met")
    .map(({ step, code, class: failureClass, action, job_id, attempt }) => {
      const tried = find(job_id, attempt);
      const next = find(job_id, attempt + 1);
      const endedAt = tried?.finished_at ?? null;
      return {
        ...{ workflow: run.workflow, definition_hash: run.definition_hash, step, code, class: failureClass },
        ...{ action: action ?? "", worker: tried?.worker ?? null, failures: 1 },
        lost_ms: tried === undefined || endedAt === null ? 0 : endedAt - tried.started_at,
        again: next === undefined ? 0 : 1,
        waited_ms: next === undefined || endedAt === null ? 0 : next.started_at - endedAt,
      };
    });
}

function endsOf({ book }: CountedRun): Counts["ends"][] {
  return book.filter(({ kind }) => kind === "ended").map(({ action, tried }) => ({ action, tried, jobs: 1 }));
}

function usageOf({ run, events }: CountedRun): Counts["usage"][] {
  return events("attempt.succeeded").flatMap(({ job, data: { usage } }) =>
    usage === undefined
      ? []
      : [
          {
            ...{ workflow: run.workflow, step: job.step, model: usage.model, calls: 1 },
            input_tokens: usage.input_tokens ?? 0,
            output_tokens: usage.output_tokens ?? 0,
          },
        ],
  );
}

function scriptsOf({ events }: CountedRun): Counts["scripts"][] {
  const all = events("recovery.finished");
  return [{ run: all.length, failed: all.filter(({ data }) => data.ok === false).length }];
}

function decisionsOf({ log }: CountedRun): Counts["decisions"][] {
  const found: Counts["decisions"][] = [];
  /** By job: when it was asked for a decision; null: it waits for none. */
  const asked = new Map<number, { readonly kind: "hold" | "question"; readonly at: number } | null>();
  for (const { type, at, data } of log) {
    const isDecision = DECISION_TYPES.includes(type);
    if (!isDecision && !TURNS.includes(type)) continue;
    const { job, jobs, expired, action } = JSON.parse(data) as DecidedData;
    for (const id of jobs ?? [job!]) {
      const since = asked.get(id) ?? null;
      if (isDecision && since !== null && expired !== true && action !== "resolve")
        found.push({ kind: since.kind, after_ms: at - since.at, decisions: 1 });
      if (type === "job.held") asked.set(id, { kind: "hold", at });
      else if (type === "human.asked") asked.set(id, { kind: "question", at });
      else if (type !== "jobs.retried") asked.set(id, null);
    }
  }
  return found;
}

interface DecidedData {
  readonly job?: number;
  readonly jobs?: readonly number[];
  readonly expired?: true;
  readonly action?: string;
}

const SUMS = new Set([
  ...["runs", "attempts", "ms", "failures", "lost_ms", "again", "waited_ms", "jobs", "calls"],
  ...["input_tokens", "output_tokens", "run", "failed", "decisions"],
]);

/** Rows that differ in sums alone are one. */
function summed<Row extends object>(rows: readonly Row[]): Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const key = JSON.stringify(Object.entries(row).filter(([field]) => !SUMS.has(field)));
    const before = sums.get(key);
    sums.set(key, before === undefined ? row : added(before, row));
  }
  return [...sums.values()];
}

function added<Row extends object>(one: Row, other: Row): Row {
  const more = new Map(Object.entries(other));
  return Object.fromEntries(
    Object.entries(one).map(([field, value]) => [
      field,
      SUMS.has(field) ? (value as number) + (more.get(field) as number) : value,
    ]),
  ) as Row;
}
