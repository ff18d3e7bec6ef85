import { z } from "zod";
import {
  EVENTS,
  type Event,
  type EventType,
  type LoggedEvent,
  type Output,
} from "../../core/model/events.js";
import type { RunStatus } from "../../core/model/rows.js";
import type { Fields, Shape } from "../../core/text/shape.js";
import { objectOf } from "../../run/worker/zod-of.js";

/** What `export_run` writes and `import_run` reads. */
export const document = z.looseObject({ format: z.string(), version: z.number() });

/**
 * A run as one JSON document. Jobs, attempts and routes follow from the log. Outputs that are kept as files name them
 * as they stand in `files`, below `artifacts/`; a log is `logs/<n>_a<attempt>.o`, n being the place of its job in the run.
 */
export interface RunDocument {
  readonly format: typeof DOCUMENT_FORMAT;
  readonly version: typeof DOCUMENT_VERSION;
  readonly exported_at: string;
  readonly run: { readonly id: number; readonly workflow: string; readonly status: RunStatus };
  /** The frozen definition as JSON text. */
  readonly definition: string;
  readonly events: readonly LoggedEvent[];
  readonly files: readonly DocumentFile[];
  /** Files beyond the limit, or unreadable ones. */
  readonly left_out: readonly string[];
}

export interface DocumentFile {
  readonly name: string;
  readonly base64: string;
}

export const DOCUMENT_FORMAT = "daruma-run";

/** What is written and read. Events have the keys that programs see; steps of the definition leave out what is usual. */
export const DOCUMENT_VERSION = 1;

/** Limit for all files together, because the reader needs the whole document in memory. */
export const MAX_FILE_BYTES = 32 * 1_024 * 1_024;

export const LOGS = "logs/";

export const ARTIFACTS = "artifacts/";

const SAFE_PART = "[A-Za-z0-9_-][A-Za-z0-9_.-]{0,200}";

const SAFE_NAME = new RegExp(`^${SAFE_PART}(?:/${SAFE_PART}){0,8}$`);

/** A folder with a HEAD is a repository to git, which obeys the settings in it. Names with a dot first are not safe anyway. */
const GIT_READS = /^(?:head|config|config\.worktree|commondir|gitdir|.*\.git)$/i;

/** No name from outside may lead anywhere but below the folder that it is put into, nor tell git what to do there. */
export function isSafeName(name: string): boolean {
  return SAFE_NAME.test(name) && !name.split("/").some((part) => GIT_READS.test(part));
}

/** `logs/2_a1.recovery.e` */
export const LOG_NAME = /^logs\/(\d{1,7})_a(\d{1,9})\.(recovery\.)?([oe]|usage\.csv)$/;

type ArtifactOutput = Extract<Output, { kind: "artifact" }>;
/** The way to a value from the event down; null: every entry of the list there. */
type Way = readonly (string | null)[];

export function isEventType(text: unknown): text is EventType {
  return typeof text === "string" && Object.hasOwn(EVENTS, text);
}

/** A copy of the event with other job ids. */
export function withJobIds(event: Event, newId: (id: number) => number): Event {
  return changed(event, isJobId, (id) => (typeof id === "number" ? newId(id) : id));
}

/** A copy of the event with other paths for outputs that are kept as files. */
export function withOutputPaths(event: Event, newPath: (output: ArtifactOutput) => string): Event {
  return changed(event, isOutput, (given) => {
    const found = given as Output | null;
    return found?.kind === "artifact" ? { ...found, path: newPath(found) } : found;
  });
}

type Wanted = (shape: Shape) => boolean;
const isJobId: Wanted = ({ names }) => names === "job";
const isOutput: Wanted = ({ names }) => names === "output";

function changed(event: Event, wanted: Wanted, change: (value: unknown) => unknown): Event {
  return waysIn(event.type, wanted).reduce<unknown>((at, way) => changedAt(at, way, change), event) as Event;
}

const known = new Map<Wanted, Map<EventType, readonly Way[]>>();

/** Wherever an event of this type has such a thing. */
function waysIn(type: EventType, wanted: Wanted): readonly Way[] {
  const ofWanted = known.get(wanted) ?? new Map<EventType, readonly Way[]>();
  known.set(wanted, ofWanted);
  const ways = ofWanted.get(type) ?? [...waysOf(EVENTS[type], wanted, 0)];
  ofWanted.set(type, ways);
  return ways;
}

/** A failure's cause has none of its own. */
const MOST_CAUSES = 1;

function* findWays(shape: Shape, wanted: Wanted, causes: number): Generator<Way> {
  if (wanted(shape)) yield [];
  else if (shape.kind === "nullable") yield* findWays(shape.of, wanted, causes);
  else if (shape.kind === "lazy" && causes < MOST_CAUSES) yield* findWays(shape.of(), wanted, causes + 1);
  else if (shape.kind === "list") for (const way of findWays(shape.of, wanted, causes)) yield [null, ...way];
  else if (shape.kind === "object") yield* waysOf(shape.fields, wanted, causes);
}

function* waysOf(fields: Fields, wanted: Wanted, causes: number): Generator<Way> {
  for (const [name, field] of Object.entries(fields))
    for (const way of findWays("optional" in field ? field.optional : field, wanted, causes))
      yield [name, ...way];
}

/** A copy along the way; optional fields may be missing. */
function changedAt(at: unknown, [first, ...rest]: Way, change: (value: unknown) => unknown): unknown {
  if (first === undefined) return change(at);
  if (first === null) return Array.isArray(at) ? at.map((entry) => changedAt(entry, rest, change)) : at;
  if (at === null || typeof at !== "object" || !Object.hasOwn(at, first)) return at;
  return { ...at, [first]: changedAt((at as { [field: string]: unknown })[first], rest, change) };
}

const schemas = new Map<EventType, z.ZodType>();

/** The path and problem of a field that does not match the event's type. Null if all fields do. */
export function wrongFieldOf(
  event: Event,
): { readonly path: readonly string[]; readonly message: string } | null {
  const schema = schemas.get(event.type) ?? objectOf(EVENTS[event.type], { others: "kept" });
  schemas.set(event.type, schema);
  const { error } = schema.safeParse(event);
  if (error === undefined) return null;
  const { path, message } = error.issues[0]!;
  return { path: path.map(String), message };
}
