import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { DarumaError } from "../../core/errors.js";
import type { RunRow, RunStatus } from "../../core/rows.js";
import { durationText } from "../../operations/duration-text.js";
import { databaseFile } from "../../operations/existing-store.js";
import { oneLine } from "../../operations/one-line.js";
import { iso } from "../../operations/run-report.js";
import { type Session, writeJson, writeLines } from "../channel.js";
import { tableLines } from "../render/table.js";
import { withStore } from "../with-store.js";

export interface ListFlags {
  readonly status?: readonly string[];
  readonly limit: number;
}

const STATUSES: readonly RunStatus[] = [
  "pending",
  "running",
  "paused",
  "held",
  "completed",
  "failed",
  "canceled",
];

export async function list(flags: ListFlags, session: Session): Promise<number> {
  const status = readStatuses(flags.status ?? []);
  // No database is no run: that is an answer, not an error.
  if (!existsSync(databaseFile(resolve(session.options.outputDir)))) return print([], session);
  return withStore(session, async (store) =>
    print(await store.listRuns({ limit: flags.limit, ...(status.length > 0 ? { status } : {}) }), session),
  );
}

function readStatuses(given: readonly string[]): RunStatus[] {
  return given
    .flatMap((text) => text.split(","))
    .map((word) => {
      const status = STATUSES.find((known) => known === word);
      if (status === undefined)
        throw new DarumaError("USAGE", `--status ${word}: there is no such status`, {
          hint: `One of ${STATUSES.join(", ")}.`,
        });
      return status;
    });
}

function print(runs: readonly RunRow[], { out, options }: Session): number {
  if (options.json) writeJson(out, runs.map(reportRow));
  else if (runs.length === 0) writeLines(out, ["no runs"]);
  else writeLines(out, runLines(runs, out.width()));
  return 0;
}

function reportRow(run: RunRow): object {
  return {
    run_id: run.id,
    workflow: run.workflow,
    status: run.status,
    file: run.file,
    created_at: iso(run.created_at),
    finished_at: run.finished_at === null ? null : iso(run.finished_at),
    duration_ms: durationOf(run),
    error: run.error,
  };
}

function runLines(runs: readonly RunRow[], width: number): string[] {
  const rows = runs.map((run) => {
    const duration = durationOf(run);
    return [
      String(run.id),
      run.status,
      run.workflow,
      iso(run.created_at).replace("T", " ").slice(0, 19),
      duration === null ? "" : durationText(duration),
      run.error === null ? "" : oneLine(`${run.error.code}: ${run.error.message}`),
    ];
  });
  return tableLines(["run", "status", "workflow", "created (UTC)", "took", "error"], rows, width);
}

function durationOf(run: RunRow): number | null {
  return run.finished_at === null || run.started_at === null ? null : run.finished_at - run.started_at;
}
