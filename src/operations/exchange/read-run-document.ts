import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { Event } from "../../core/model/events.js";
import { JOB_IDS_PER_RUN } from "../../core/model/run.js";
import { LAST_TIME } from "../../core/text/iso-time.js";
import { WORKFLOW_NAME } from "../../file/fields/workflow-fields.js";
import { WORKSPACE_FOLDER } from "../../run/workspace/workspace-paths.js";
import { runStatus } from "../schemas.js";
import {
  ARTIFACTS,
  DOCUMENT_FORMAT,
  DOCUMENT_VERSION,
  isEventType,
  isSafeName,
  LOG_NAME,
  type RunDocument,
  withOutputPaths,
  wrongFieldOf,
} from "./run-document.js";

const MAX_RUN_ID = Math.floor(Number.MAX_SAFE_INTEGER / JOB_IDS_PER_RUN) - 1;

const shape = z.object({
  format: z.literal(DOCUMENT_FORMAT),
  version: z.literal(DOCUMENT_VERSION),
  exported_at: z.string(),
  run: z.object({
    id: z.number().int().positive().max(MAX_RUN_ID),
    workflow: z
      .string()
      .max(WORKFLOW_NAME.maxChars)
      .regex(WORKFLOW_NAME.pattern, "is not the name of a workflow"),
    status: runStatus,
  }),
  definition: z.string(),
  events: z
    .array(
      z.object({
        seq: z.number().int(),
        // Not in order: a clock may be set back while a run goes on.
        at: z.int().min(0).max(LAST_TIME),
        event: z.looseObject({
          type: z.string().refine(isEventType, "is not an event that this version of Daruma knows"),
        }),
      }),
    )
    .min(1),
  files: z.array(
    z.object({
      name: z.string().refine((name) => isFileName(name), "is not the name of a file of a run"),
      base64: z.base64(),
    }),
  ),
  left_out: z.array(z.string()),
});

/** The folder of a workspace is no artifact: git obeys the settings that lie there. */
function isFileName(name: string): boolean {
  if (LOG_NAME.test(name)) return true;
  if (!name.startsWith(ARTIFACTS)) return false;
  const artifact = name.slice(ARTIFACTS.length);
  return isSafeName(artifact) && artifact.split("/", 1)[0]?.toLowerCase() !== WORKSPACE_FOLDER;
}

/** Throws IMPORT_INVALID for what `export_run` cannot have written. */
export function readRunDocument(given: unknown): RunDocument {
  const { format, version } = (given ?? {}) as { format?: unknown; version?: unknown };
  if (format === DOCUMENT_FORMAT && version !== DOCUMENT_VERSION)
    throw refusal(`it has version ${String(version)}; this Daruma reads version ${DOCUMENT_VERSION} alone`);
  const parsed = shape.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refusal(`${issue!.path.map(String).join(".")}: ${issue!.message}`);
  }
  const document = asStored(parsed.data as unknown as RunDocument);
  checkOrder(document);
  checkFields(document);
  checkDefinition(document);
  checkFiles(document);
  for (const { event } of document.events) withOutputPaths(event, ({ path }) => checkedPath(path));
  return document;
}

function asStored(document: RunDocument): RunDocument {
  const events = document.events.map(({ event, ...logged }) => ({
    ...logged,
    event: inOrder(event),
  }));
  return { ...document, events };
}

/** Stores find the events of a job by where it stands in them. */
function inOrder(event: Event): Event {
  if (!("job" in event)) return event;
  const { type, job, ...rest } = event;
  return { type, job, ...rest } as Event;
}

/** A log has no gaps and begins with the run. */
function checkOrder({ events }: RunDocument): void {
  if (events[0]!.event.type !== "run.created") throw refusal("its log does not begin with run.created");
  const gap = events.findIndex(({ seq }, index) => seq !== index + 1);
  if (gap >= 0) throw refusal(`its log has a gap before event ${gap + 1}`);
  const again = events.findLastIndex(({ event }) => event.type === "run.created");
  if (again > 0) throw refusal(`event ${again + 1} creates the run again`);
}

function checkFields({ events }: RunDocument): void {
  for (const [index, { event }] of events.entries()) {
    const wrong = wrongFieldOf(event);
    if (wrong !== null)
      throw refusal(`events.${index}.event.${wrong.path.join(".")} (${event.type}): ${wrong.message}`);
  }
}

/** One name everywhere. */
function checkDefinition({ definition, run, events }: RunDocument): void {
  let read: unknown;
  try {
    read = JSON.parse(definition);
  } catch {
    throw refusal("its definition is not JSON");
  }
  const { name, steps } = (read ?? {}) as { name?: unknown; steps?: unknown };
  const created = events[0]!.event as Extract<Event, { type: "run.created" }>;
  if (created.workflow !== run.workflow)
    throw refusal(`events.0.event.workflow: the run is of ${JSON.stringify(run.workflow)}`);
  if (name !== run.workflow || !Array.isArray(steps)) throw refusal("its definition does not match the run");
}

/** Each has a place of its own: none is called as another, nor as a folder of another. */
function checkFiles({ files }: RunDocument): void {
  // Some file systems take upper and lower case for the same.
  const names = files.map(({ name }) => name.toLowerCase());
  const folders = new Set(names.flatMap(foldersOf));
  const taken = new Set<string>();
  for (const [index, name] of names.entries()) {
    if (taken.has(name)) throw refusal(`files.${index}.name: another file has this name`);
    if (folders.has(name)) throw refusal(`files.${index}.name: it is the folder of another file`);
    taken.add(name);
  }
}

function foldersOf(name: string): string[] {
  const parts = name.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** An output is read from where its event says: a path from outside could name any file of this machine. */
function checkedPath(path: unknown): string {
  if (typeof path === "string" && isSafeName(path)) return path;
  throw refusal(`an output lies at ${JSON.stringify(path)}, which is not a file of the run`);
}

function refusal(message: string): DarumaError {
  return new DarumaError("IMPORT_INVALID", `this is not an exported run: ${message}`);
}
