import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { evolve } from "../../core/evolve/evolve.js";
import { failureHandlersOf } from "../../core/evolve/projections.js";
import type { Event } from "../../core/model/events.js";
import { newRun } from "../../core/model/make-run.js";
import { JOB_IDS_PER_RUN, type Run } from "../../core/model/run.js";
import { parseStoredDefinition } from "../../core/model/stored-definition.js";
import { messageOf } from "../../core/text/message-of.js";
import { systemClock } from "../../run/engine/clock.js";
import { LeaseKeeper } from "../../run/engine/lease-keeper.js";
import { RunHost } from "../../run/engine/run-host.js";
import { logFile, runFolder, streamOfEnding } from "../../run/worker/attempt-paths.js";
import { currentOwner, isDead } from "../../store/lease-owner.js";
import type { Append } from "../../store/store.js";
import { iso } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { removeFiles } from "../retention/removed-files.js";
import { key, runStatus } from "../schemas.js";
import type { Workflow } from "../workflows/workflow.js";
import { fromDefinition } from "../workflows/workflow-source.js";
import { readRunDocument } from "./read-run-document.js";
import {
  ARTIFACTS,
  type DocumentFile,
  document,
  LOG_NAME,
  type RunDocument,
  withJobIds,
  withOutputPaths,
} from "./run-document.js";

export const importRun = operation({
  name: "import_run",
  summary: "import an exported run under a new number",
  description: "Imports a document from export_run as a run with a new number. It can only be read.",
  details:
    "Its log is replayed and checked. A document of another version, or one that export_run did not write, is refused. The run can only be read: it cannot be resumed, retried, decided, applied or forked from (IMPORTED_RUN), and its workflow cannot be started by name. It keeps its original times, so prune_runs counts its age from its original end; cancel an unfinished one to prune it. `finished_at` in the answer is that end.",
  audience: "people",
  role: "admin",
  effect: "changes",
  idempotent: true,
  makesRun: true,
  input: z.strictObject({
    document: document.describe("The document that export_run returned."),
    key,
  }),
  output: z.object({
    run_id: z.number(),
    exported_run_id: z.number(),
    workflow: z.string(),
    status: runStatus,
    finished_at: z.string().nullable(),
    events: z.number(),
    files: z.number(),
  }),
  rest: { method: "POST", path: "/imports", status: 201 },
  cli: [
    {
      words: "import",
      positional: [],
      examples: ["daruma import run-3.json", "daruma import - < run-3.json"],
    },
  ],
  store: "create",
  handler: (context, input) => takeIn(context, input.document),
});

type Created = Extract<Event, { type: "run.created" }>;

/** What of the run is new here. */
interface NewPlace {
  readonly runId: number;
  readonly created: Pick<Created, "workflow_id" | "definition_hash" | "failure_handlers">;
  readonly folder: string;
  readonly newJobId: (id: number) => number;
}

/** A run that was exported elsewhere, as a run of this store. Nothing is left behind where it is refused. */
async function takeIn(context: Context, given: unknown) {
  const { store, outputDir, now } = context;
  const document = readRunDocument(given);
  const workflow = fromDefinition(parseStoredDefinition(document.definition, "of the document"), "/");
  // Before anything is written: under its old number, the log must lead to the status that the document names.
  replayed(document, workflow, document.run.id, (event) => event);
  const { definition, hash, text } = workflow;
  const { workflowId, failureHandlers } = await store.registerWorkflow({
    name: definition.name,
    hash,
    definition: text,
    file: null,
    at: now(),
    failureHandlers: failureHandlersOf(definition),
  });
  const runId = await store.reserveRunId();
  const place: NewPlace = {
    runId,
    created: { workflow_id: workflowId, definition_hash: hash, failure_handlers: failureHandlers },
    folder: runFolder(outputDir, runId),
    newJobId: (id) => runId * JOB_IDS_PER_RUN + (id - document.run.id * JOB_IDS_PER_RUN),
  };
  const { append, run } = replayed(document, workflow, runId, (event) => moved(event, place));
  try {
    for (const file of document.files) writeFile(outputDir, place, file);
    await commit(context, append);
  } catch (error) {
    await removeFiles(outputDir, new Set([runId]));
    throw error;
  }
  return {
    run_id: runId,
    exported_run_id: document.run.id,
    workflow: run.workflow,
    status: run.status,
    finished_at: append.run?.finished_at == null ? null : iso(append.run.finished_at),
    events: document.events.length,
    files: document.files.length,
  };
}

/** The log folded event by event, with the rows that it leads to. */
function replayed(
  document: RunDocument,
  { definition }: Workflow,
  runId: number,
  change: (event: Event) => Event,
): { readonly append: Append; readonly run: Run } {
  try {
    const [first, ...others] = document.events;
    const created = change(first!.event) as Created;
    const run = newRun(runId, definition, created, first!.at);
    const host = new RunHost(run, 0, 1);
    evolve(run, created, first!.at);
    host.keep([created], first!.at);
    for (const { event, at } of others) {
      const next = change(event);
      evolve(run, next, at);
      host.keep([next], at);
    }
    if (run.status !== document.run.status)
      throw new RangeError(`its log leads to ${run.status}, not to ${document.run.status}`);
    return { append: host.drain().append, run };
  } catch (error) {
    const message = messageOf(error);
    throw new DarumaError("IMPORT_INVALID", `the log cannot be replayed: ${message}`, { cause: error });
  }
}

/** It can only be read here: nobody goes on with it or waits for it as a child run, and what made it elsewhere may do so here. */
function moved(event: Event, { created, folder, newJobId }: NewPlace): Event {
  if (event.type === "run.created") {
    const { cause: _cause, ...rest } = event;
    const options = { ...rest.options, imported: true } as const;
    return { ...rest, ...created, options, parent: null, managed: false };
  }
  const placed = withOutputPaths(event, ({ path }) => join(folder, renamed(path, newJobId)));
  return withJobIds(placed, newJobId);
}

/** Artifacts are called after the job that they belong to. */
function renamed(name: string, newJobId: (id: number) => number): string {
  if (name.startsWith("reused/")) return name;
  return name.replace(
    /(^|\/)j(\d+)_a/,
    (_, start: string, id: string) => `${start}j${newJobId(Number(id))}_a`,
  );
}

function writeFile(outputDir: string, place: NewPlace, { name, base64 }: DocumentFile): void {
  const path = pathOf(outputDir, place, name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, Buffer.from(base64, "base64"), { mode: 0o600 });
}

function pathOf(outputDir: string, { runId, created, folder, newJobId }: NewPlace, name: string): string {
  const log = LOG_NAME.exec(name);
  if (log === null) return join(folder, renamed(name.slice(ARTIFACTS.length), newJobId));
  const [, ordinal, attempt, recovery, stream] = log;
  return logFile(
    outputDir,
    {
      workflowId: created.workflow_id,
      jobId: runId * JOB_IDS_PER_RUN + Number(ordinal),
      runId,
      attempt: Number(attempt),
      recovery: recovery !== undefined,
    },
    streamOfEnding(stream!),
  );
}

async function commit({ store }: Context, append: Append): Promise<void> {
  const leases = new LeaseKeeper(store, systemClock, currentOwner(randomUUID()), isDead);
  try {
    const fence = await leases.acquire(append.runId, () => {});
    await store.commit([{ ...append, fence }]);
  } finally {
    await leases.release(append.runId);
    leases.stop();
  }
}
