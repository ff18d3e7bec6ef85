import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { replay } from "../src/core/decide/decision.js";
import { jobRow, runRow } from "../src/core/evolve/projections.js";
import type { LoggedEvent } from "../src/core/model/events.js";
import type { ErrorRecord } from "../src/core/model/failure.js";
import { newRun } from "../src/core/model/make-run.js";
import { parseStoredDefinition } from "../src/core/model/stored-definition.js";
import { readRunDocument } from "../src/operations/exchange/read-run-document.js";
import type { RunDocument } from "../src/operations/exchange/run-document.js";
import { error as errorSchema } from "../src/operations/schemas.js";
import type { JobRecord } from "../src/tell/job-record.js";
import { buildReport, type RunReport } from "../src/tell/run-report.js";
import { failureOf } from "./support/error-record.js";
import { type FailingRun, failingRun, REPOSITORY } from "./support/failing-workflow.js";
import { makeRepository } from "./support/git-repository.js";
import { Interfaces } from "./support/interfaces.js";

const RUNS = Number(process.env.INTERFACE_RUNS ?? 4);
const PATIENCE_MS = 300_000;

type Job = JobRecord & { readonly [more: string]: unknown };
type Items<Item> = { readonly items: readonly Item[] };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-interfaces-"));
  makeRepository(join(folder, REPOSITORY), { "a.txt": "a\n" });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What some interfaces show of a job beside its record. */
const BESIDE = [
  ...[
    "output",
    "attempt_history",
    "diagnostics",
    "queue_attempts",
    "raised",
    "taken_over_from",
    "waits_for",
    "definition",
  ],
  ...["kind", "since", "question", "decisions", "owner", "expiry", "blocks", "error_lines"],
];

function recordsOf(jobs: readonly object[]): JobRecord[] {
  return jobs.map(
    (job) => Object.fromEntries(Object.entries(job).filter(([name]) => !BESIDE.includes(name))) as never,
  );
}

function withoutWaits(job: object): object {
  return { ...job, waits_for: undefined };
}

/** Only what every list of runs and every report has. */
function runOf({
  run_id,
  workflow,
  workflow_id,
  status,
  error,
  created_at,
  finished_at,
  duration_ms,
}: RunReport) {
  return { run_id, workflow, workflow_id, status, error, created_at, finished_at, duration_ms };
}

describe("a job and its error", () => {
  it(
    "are the same values under the same names at every interface, whatever has failed",
    async () => {
      let count = 0;
      await fc.assert(
        fc.asyncProperty(failingRun, async (story) => {
          count += 1;
          const file = join(folder, `${count}.json`);
          const outputDir = join(folder, `out-${count}`);
          writeFileSync(file, story.text);
          const interfaces = await Interfaces.open(outputDir);
          try {
            const told = await tell(interfaces, file, story);
            await compare(interfaces, told);
            if (story.hasWorkspace) await compareWorkspaces(interfaces, told.run_id);
          } finally {
            await interfaces.close();
          }
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
    },
    PATIENCE_MS,
  );
});

/** What the one who starts the run is told of its end. */
async function tell(interfaces: Interfaces, file: string, { canceled }: FailingRun): Promise<RunReport> {
  const { library } = interfaces;
  if (typeof canceled === "number") {
    const stopListening = library.onEvents((events) => {
      const { run_id, seq } = events.at(-1)!;
      if (seq < canceled) return;
      stopListening();
      void library.cancel(run_id, "enough");
    });
    const told = await (await library.start(file)).result;
    expect(told.status).toBe("canceled");
    return told;
  }
  const told = await interfaces.cli<RunReport>("run", file);
  if (canceled === null || told.status !== "held") return told;
  await library.cancel(told.run_id, "nobody decides");
  return interfaces.cli<RunReport>("show", String(told.run_id));
}

async function compareWorkspaces(interfaces: Interfaces, id: number): Promise<void> {
  const described = await interfaces.cli("workspace", String(id));
  expect(await interfaces.rest(`/api/v1/runs/${id}/workspace`)).toEqual(described);
  expect(await interfaces.mcp("get_workspace", { run_id: id })).toEqual(described);
  expect(await interfaces.library.call("get_workspace", { run_id: id })).toEqual(described);
}

async function compare(interfaces: Interfaces, told: RunReport): Promise<void> {
  const id = told.run_id;
  const records = recordsOf(told.jobs);
  for (const { error } of [told, ...records]) if (error !== null) expectWhole(error);

  const reports = {
    library: await (await interfaces.library.resume(id)).result,
    "library's get": (await interfaces.library.get(id)) as RunReport,
    show: await interfaces.cli<RunReport>("show", String(id)),
    rest: await interfaces.rest<RunReport>(`/api/v1/runs/${id}`),
    mcp: await interfaces.mcp<RunReport>("get_run", { run_id: id, jobs: "all" }),
    exported: replayed(readRunDocument(await interfaces.cli<unknown>("export", String(id)))),
  };
  for (const [name, report] of Object.entries(reports)) {
    expect([name, runOf(report)]).toEqual([name, runOf(told)]);
    // What a job waits for is asked of the store and the workers, and the result of a run is told without them.
    expect([name, report.jobs.map(withoutWaits)]).toEqual([name, told.jobs.map(withoutWaits)]);
  }

  const lists = {
    cli: await interfaces.cli<Job[]>("jobs", String(id)),
    rest: (await interfaces.rest<Items<Job>>(`/api/v1/jobs?run_id=${id}`)).items,
    mcp: (await interfaces.mcp<Items<Job>>("list_jobs", { run_id: id })).items,
    library: (await interfaces.library.call("list_jobs", { run_id: id }))
      .items as readonly object[] as readonly Job[],
  };
  for (const [name, jobs] of Object.entries(lists)) expect([name, recordsOf(jobs)]).toEqual([name, records]);

  const logged = await loggedFailures(interfaces, id);
  // A step whose `if` failed has made no attempt.
  const failed = logged.filter(({ attempt }) => attempt !== null);
  for (const record of records) {
    const shown = [
      await interfaces.cli<Job>("job", "show", String(record.id)),
      await interfaces.rest<Job>(`/api/v1/jobs/${record.id}`),
      await interfaces.mcp<Job>("get_job", { job_id: record.id }),
    ];
    expect(recordsOf(shown)).toEqual([record, record, record]);
    expect([shown[1], shown[2]]).toEqual([shown[0], shown[0]]);
    const errors = (shown[0]!.attempt_history as { error: ErrorRecord | null }[]).flatMap(
      ({ error }) => error ?? [],
    );
    expect(errors).toEqual(failed.filter(({ job_id }) => job_id === record.id));
  }
  const { root } = (reports.show as unknown as { state: { root: { _last_error: ErrorRecord | null } } })
    .state;
  if (root._last_error !== null) {
    const { step_id: node_id, action: action_id } = root._last_error;
    expect(logged.map((error) => ({ ...error, node_id, action_id }))).toContainEqual(root._last_error);
  }
  await compareSelections(interfaces, records, told);
}

/** The records of all failures, as the log has them. */
async function loggedFailures(interfaces: Interfaces, id: number): Promise<ErrorRecord[]> {
  type Logged = { readonly type: string; readonly error: ErrorRecord };
  const { items } = await interfaces.rest<Items<Logged>>(`/api/v1/runs/${id}/events?limit=1000`);
  expect(
    (await interfaces.mcp<Items<Logged>>("list_run_events", { run_id: id, limit: 1_000 })).items,
  ).toEqual(items);
  const failures = items.filter(({ type }) => type === "attempt.failed" || type === "if.failed");
  const errors = failures.map(({ error }) => error);
  for (const error of errors) expectWhole(error);
  return errors;
}

/** Lists of some jobs, and of runs. */
async function compareSelections(
  interfaces: Interfaces,
  records: readonly JobRecord[],
  told: RunReport,
): Promise<void> {
  const id = told.run_id;
  const held = records.filter(({ status }) => status === "held");
  expect(recordsOf(await interfaces.cli<Job[]>("holds", String(id)))).toEqual(held);
  const waiting = await interfaces.rest<Items<Job>>(`/api/v1/holds?run_id=${id}`);
  expect(recordsOf(waiting.items)).toEqual(held);
  expect(await interfaces.mcp("list_holds", { run_id: id })).toEqual(waiting);

  const dead = records.filter(({ dead_letter }) => dead_letter);
  const letters = await interfaces.rest<Items<Job>>(`/api/v1/dead_letters?run_id=${id}`);
  expect(recordsOf(letters.items)).toEqual(dead);
  expect(await interfaces.mcp("list_dead_letters", { run_id: id })).toEqual(letters);

  const [listed] = await interfaces.cli<RunReport[]>("list");
  expect(runOf(listed!)).toEqual(runOf(told));
  expect((await interfaces.rest<Items<RunReport>>("/api/v1/runs")).items).toEqual([listed]);
  expect((await interfaces.mcp<Items<RunReport>>("list_runs", {})).items).toEqual([listed]);
  expect((await interfaces.library.list()).items).toEqual([listed]);
}

/** Every field, no other, ISO time. */
function expectWhole(error: ErrorRecord): void {
  expect(errorSchema.parse(error)).toEqual(error);
  expect(Object.keys(error).toSorted()).toEqual(Object.keys(failureOf()).toSorted());
  expect(new Date(error.timestamp).toISOString()).toBe(error.timestamp);
  if (error.cause !== null) expectWhole(error.cause);
}

/** What an exported run says: its log, folded. */
function replayed({ run: { id }, definition, events }: RunDocument): RunReport {
  const [first] = events as readonly LoggedEvent[];
  const run = newRun(
    id,
    parseStoredDefinition(definition, "of the document"),
    first!.event as never,
    first!.at,
  );
  replay(run, events);
  return buildReport(
    runRow(run),
    run.jobs.map((job) => jobRow(run, job)),
    [],
  );
}
