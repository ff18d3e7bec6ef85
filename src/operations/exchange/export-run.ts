import { lstatSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { z } from "zod";
import type { Event, LoggedEvent } from "../../core/model/events.js";
import { JOB_IDS_PER_RUN } from "../../core/model/run.js";
import { logFilesOf, runFolder } from "../../run/worker/attempt-paths.js";
import { type RunReference, requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import { iso } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { artifactsOf } from "../runs/artifacts.js";
import { flag, runReference } from "../schemas.js";
import { storedDefinition } from "../workflows/stored-workflows.js";
import {
  ARTIFACTS,
  DOCUMENT_FORMAT,
  DOCUMENT_VERSION,
  type DocumentFile,
  document,
  isSafeName,
  LOGS,
  MAX_FILE_BYTES,
  type RunDocument,
  withOutputPaths,
} from "./run-document.js";

export const exportRun = operation({
  name: "export_run",
  summary: "export a run as one JSON document",
  description:
    "Returns one JSON document with a run's definition, its event log and, by default, its output and artifacts. Files beyond the size limit are omitted and listed in `left_out`.",
  audience: "people",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference,
    files: flag.default(true).describe("Include the output of attempts, and artifacts."),
  }),
  output: document,
  rest: { method: "GET", path: "/runs/{run_id}/export" },
  cli: [
    {
      words: "export",
      positional: ["run_id"],
      examples: ["daruma export 3 > run-3.json", "daruma export last --no-files"],
    },
  ],
  handler: async (context, input) => ({ ...(await documentOf(context, input)) }),
});

const LOG_OF_RUN = /^job_wf\d+_j(\d+)_r\d+_(a\d+\.(?:recovery\.)?(?:[oe]|usage\.csv))$/;

async function documentOf(
  { store, outputDir, now }: Context,
  { run_id, files }: { readonly run_id: RunReference; readonly files: boolean },
): Promise<RunDocument> {
  const run = await requireRun(store, await resolveRun(store, run_id));
  const { text } = await storedDefinition(store, { ...run, name: run.workflow });
  const wanted = new Map<string, string>();
  const events = (await store.readEvents(run.id)).map(({ seq, at, event }) => ({
    seq,
    at,
    event: portable(event, outputDir, run.id, wanted),
  }));
  if (files) {
    for (const { name } of artifactsOf(outputDir, run.id))
      wanted.set(ARTIFACTS + name, join(runFolder(outputDir, run.id), name));
    for (const [name, path] of logsOf(outputDir, run.id)) wanted.set(name, path);
  }
  return {
    format: DOCUMENT_FORMAT,
    version: DOCUMENT_VERSION,
    exported_at: iso(now()),
    run: { id: run.id, workflow: run.workflow, status: run.status },
    definition: text,
    events,
    ...readAll(files ? wanted : new Map()),
  };
}

/** Without what means something only here: places of files, and marks of processes. */
function portable(
  event: Event,
  outputDir: string,
  runId: number,
  wanted: Map<string, string>,
): LoggedEvent["event"] {
  const moved = withOutputPaths(event, ({ path }) => {
    const name = nameOf(path, outputDir, runId);
    wanted.set(ARTIFACTS + name, path);
    return name;
  });
  return "token" in moved ? { ...moved, token: "" } : moved;
}

/** What was taken over from another run lies in that run's folder. */
function nameOf(path: string, outputDir: string, runId: number): string {
  const own = resolve(runFolder(outputDir, runId)) + sep;
  if (path.startsWith(own)) return path.slice(own.length).split(sep).join("/");
  const from = basename(dirname(dirname(path)));
  return `reused/${from}-${basename(path)}`.replaceAll(/[^A-Za-z0-9_./-]/g, "_");
}

function* logsOf(outputDir: string, runId: number): Generator<[name: string, path: string]> {
  for (const file of logFilesOf(outputDir, new Set([runId])).sort()) {
    const parts = LOG_OF_RUN.exec(basename(file));
    if (parts === null) continue;
    yield [`${LOGS}${Number(parts[1]) % JOB_IDS_PER_RUN}_${parts[2]}`, file];
  }
}

function readAll(wanted: ReadonlyMap<string, string>): { files: DocumentFile[]; left_out: string[] } {
  const files: DocumentFile[] = [];
  const leftOut: string[] = [];
  let total = 0;
  for (const [name, path] of wanted) {
    const bytes = sizeOf(path);
    if (bytes === null || total + bytes > MAX_FILE_BYTES || !isSafeName(name)) {
      leftOut.push(name);
      continue;
    }
    total += bytes;
    files.push({ name, base64: readFileSync(path).toString("base64") });
  }
  return { files, left_out: leftOut };
}

/** The size of a file; null if it is not a regular file. */
function sizeOf(path: string): number | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true ? found.size : null;
}
