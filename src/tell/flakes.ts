import type { BookRow } from "../core/book/book.js";
import type { BookStore, EndedJobs } from "../store/book-rows.js";

/** A step of which jobs passed by retry alone. */
export interface Flake {
  readonly workflow: string;
  readonly step: string;
  readonly flaky: number;
  /** All jobs of the step that ended. */
  readonly jobs: number;
  readonly rate: number;
  readonly cost_ms: number;
  readonly trend: "rising" | "falling" | "steady" | "new";
  readonly last_run: number;
  readonly last_job: number;
}

/** Smaller changes of a rate are chance. */
const TREND = 0.25;

interface Window {
  readonly workflow?: string;
  readonly since: number;
  readonly until: number;
}

/** Costliest first. */
export async function findFlakes(
  store: Pick<BookStore, "listBookRows" | "countEndedJobs">,
  window: Window,
): Promise<Flake[]> {
  const middle = Math.floor((window.since + window.until) / 2);
  const { workflow, since } = window;
  const rows = await store.listBookRows({
    flakes: true,
    since,
    ...(workflow === undefined ? {} : { workflow }),
  });
  if (rows.length === 0) return [];
  const earlier = countsOf(await store.countEndedJobs({ ...window, until: middle }));
  const later = countsOf(await store.countEndedJobs({ ...window, since: middle, until: window.until + 1 }));
  return [...groupsOf(rows)]
    .map(([step, of]) => flakeOf(of, middle, earlier.get(step) ?? 0, later.get(step) ?? 0))
    .sort((a, b) => b.cost_ms - a.cost_ms || b.flaky - a.flaky);
}

function keyOf({ workflow, step }: Pick<BookRow, "workflow" | "step">): string {
  return JSON.stringify([workflow, step]);
}

function countsOf(counts: readonly EndedJobs[]): Map<string, number> {
  return new Map(counts.map((each) => [keyOf(each), each.jobs]));
}

function groupsOf(rows: readonly BookRow[]): Map<string, BookRow[]> {
  const groups = new Map<string, BookRow[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

function flakeOf(rows: readonly BookRow[], middle: number, jobsBefore: number, jobsAfter: number): Flake {
  const { workflow, step } = rows[0]!;
  const before = rows.filter(({ at }) => at < middle).length;
  const after = rows.length - before;
  const jobs = Math.max(rows.length, jobsBefore + jobsAfter);
  const newest = rows.reduce((last, row) => (row.run_id > last.run_id ? row : last));
  return {
    workflow,
    step,
    flaky: rows.length,
    jobs,
    rate: rows.length / jobs,
    cost_ms: rows.reduce((sum, { flake_ms }) => sum + (flake_ms ?? 0), 0),
    trend: trendOf(rateOf(before, jobsBefore), rateOf(after, jobsAfter)),
    last_run: newest.run_id,
    last_job: newest.job_id,
  };
}

function rateOf(flaky: number, jobs: number): number | null {
  return jobs === 0 && flaky === 0 ? null : flaky / Math.max(flaky, jobs);
}

function trendOf(before: number | null, after: number | null): Flake["trend"] {
  if (before === null) return "new";
  // Nothing has run since, so nothing has changed.
  if (after === null) return "steady";
  if (after > before * (1 + TREND)) return "rising";
  return after < before * (1 - TREND) ? "falling" : "steady";
}
