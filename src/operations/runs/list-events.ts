import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { LoggedEvent } from "../../core/model/events.js";
import type { RunRow } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";
import { changesOf } from "../../tell/lookup/changes.js";
import { type EventNames, JobNames } from "../../tell/lookup/event-names.js";
import { operation, type StreamItem } from "../operation.js";
import { limit } from "../schemas.js";
import { eventItem, type RunEventItem } from "./event-item.js";
import { event } from "./list-run-events.js";

/**
 * A place in the logs of all runs. No store counts events across runs: that would be one number for which all runs
 * wait. So a place names each run that is under way and how far its log was seen; runs above `newest` are not seen at
 * all, all others were over.
 */
interface Position {
  newest: number;
  readonly seen: Map<number, number>;
}

const FORMAT = 1;
/** What fits into a request's headers beside everything else: some ten thousand runs under way. */
const MAX_ID_CHARS = 12_000;
/** Limit for a given cursor when it is unpacked. */
const MAX_UNPACKED_BYTES = 4 * 1_024 * 1_024;
const DIGIT_BITS = 7;
const DIGIT = 2 ** DIGIT_BITS;
/** Limit for a number that every store can hold. */
const MAX_DIGITS = 8;

/** The whole place, however long. */
export function writeCursor({ newest, seen }: Position): string {
  const entries = [...seen].sort(([first], [second]) => first - second);
  return pack(newest, entries);
}

/**
 * A position that fits into a header. If the whole one does not, the runs with the highest numbers are left out and
 * count as not seen, so that their events are sent again from the beginning and none is lost.
 */
export function writeEventId({ newest, seen }: Position, maxChars: number = MAX_ID_CHARS): string {
  const entries = [...seen].sort(([first], [second]) => first - second);
  let text = pack(newest, entries);
  for (let kept = entries.length; text.length > maxChars && kept > 0; ) {
    kept = Math.floor(kept / 2);
    text = pack(entries[kept]![0] - 1, entries.slice(0, kept));
  }
  return text;
}

export function readCursor(cursor: string): Position {
  try {
    return unpack(inflateRawSync(Buffer.from(cursor, "base64url"), { maxOutputLength: MAX_UNPACKED_BYTES }));
  } catch (error) {
    throw new DarumaError("INVALID_INPUT", "after: invalid cursor", {
      hint: "Give the `next` of list_events, or the id of an item of its stream, unchanged.",
      cause: error,
    });
  }
}

/** Numbers of runs lie close together and most logs are short: differences and small numbers pack well. */
function pack(newest: number, entries: readonly (readonly [number, number])[]): string {
  const bytes: number[] = [FORMAT];
  pushNumber(bytes, newest);
  let before = 0;
  for (const [run, seq] of entries) {
    pushNumber(bytes, run - before);
    pushNumber(bytes, seq);
    before = run;
  }
  return deflateRawSync(Uint8Array.from(bytes)).toString("base64url");
}

function unpack(bytes: Uint8Array): Position {
  if (bytes[0] !== FORMAT) throw new RangeError("of another format");
  let at = 1;
  const next = (): number => {
    let value = 0;
    for (let digit = 0; digit < MAX_DIGITS; digit += 1) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value += (byte % DIGIT) * DIGIT ** digit;
      if (byte < DIGIT && Number.isSafeInteger(value)) return value;
    }
    throw new RangeError("not a number");
  };
  const position: Position = { newest: next(), seen: new Map() };
  for (let run = 0; at < bytes.length; ) {
    run += next();
    position.seen.set(run, next());
  }
  return position;
}

function pushNumber(bytes: number[], value: number): void {
  let left = value;
  for (; left >= DIGIT; left = Math.floor(left / DIGIT)) bytes.push((left % DIGIT) + DIGIT);
  bytes.push(left);
}

const MAX_CURSOR_CHARS = 1_000_000;

export const listEvents = operation({
  name: "list_events",
  summary: "watch the events of all runs",
  description:
    "Returns the events of all runs since a cursor, in order for each run, with run_id and workflow. Without `after` it returns only the current cursor in `next`; use it in the next request.",
  details:
    "As a stream it continues until the reader disconnects; an item's id is the cursor just after it. While more than 64 runs are active, only the last event of each piece of a run's log has an id, and a reconnect repeats that piece from its start. With about ten thousand active runs an id cannot hold them all, and a reconnect repeats the newest runs from their start. No event is lost. A client that polls does not see a run that ended, was reopened and ended again between two requests; the run's own log has it.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    after: z
      .string()
      .max(MAX_CURSOR_CHARS)
      .optional()
      .describe("Begin after this cursor; by default only new events are listed."),
    limit,
  }),
  output: z.object({
    items: z.array(event.extend({ run_id: z.number(), workflow: z.string() })),
    next: z.string(),
  }),
  rest: { method: "GET", path: "/events" },
  cli: [
    {
      words: "watch",
      summary:
        "watch the events of all runs, or follow one run until it is over or held; --recover then recovers it",
      positional: [],
      examples: ["daruma watch", "daruma watch --json", "daruma watch last --recover --max-memory 64g"],
    },
  ],
  streamFrom: "after",
  handler: ({ store }, input) => eventsSince(store, input),
  stream: ({ store }, { after }, signal) => followEvents(store, after, signal),
});

const RUNS_PER_PAGE = 200;

const FIRST_PAGE = 4;

const EVENTS_PER_READ = 500;

/** How often runs are looked for that another process has begun or gone on with. */
const SWEEP_MS = 2_000;

/** With more runs in progress a position is long, and is sent only with the last event of each read. */
const MAX_RUNS_FOR_EVERY_ID = 64;

/** What has happened in all runs since a cursor. Without one: nothing, and the cursor of now. */
export async function eventsSince(
  store: Store,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ items: RunEventItem[]; next: string }> {
  if (after === undefined) return { items: [], next: writeCursor(await present(store)) };
  const position = readCursor(after);
  const items: RunEventItem[] = [];
  const names = new JobNames(store);
  for await (const { run, events } of newEvents(store, position, await underWay(store, position), limit)) {
    for (const logged of events.slice(0, limit - items.length)) {
      pass(position, run.id, logged);
      items.push(itemOf(run, logged, await names.of(run.id, logged.event)));
    }
    if (items.length >= limit) break;
  }
  return { items, next: writeCursor(position) };
}

/** What happens in all runs from now, or from a cursor on, until the reader goes. */
export async function* followEvents(
  store: Store,
  after: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  const changes = changesOf(store, SWEEP_MS);
  const names = new JobNames(store);
  try {
    const position = after === undefined ? await present(store) : readCursor(after);
    for (let sweptAt = Number.NEGATIVE_INFINITY; !signal.aborted; await changes.next({ signal })) {
      const sweeps = performance.now() - sweptAt >= SWEEP_MS;
      if (sweeps) sweptAt = performance.now();
      const changed = await rowsOf(store, changes.take());
      const runs = sweeps ? await underWay(store, position) : changed;
      for await (const page of newEvents(store, position, runs, EVENTS_PER_READ)) {
        for await (const item of itemsOf(position, page, names)) {
          yield item;
          if (signal.aborted) return;
        }
      }
    }
  } finally {
    changes.stop();
  }
}

interface Page {
  readonly run: RunRow;
  readonly events: readonly LoggedEvent[];
}

async function* itemsOf(
  position: Position,
  { run, events }: Page,
  names: JobNames,
): AsyncGenerator<StreamItem> {
  const last = events.at(-1);
  for (const logged of events) {
    pass(position, run.id, logged);
    const hasId = logged === last || position.seen.size <= MAX_RUNS_FOR_EVERY_ID;
    yield {
      id: hasId ? writeEventId(position) : null,
      event: logged.event.type,
      data: itemOf(run, logged, await names.of(run.id, logged.event)),
    };
  }
}

function itemOf({ id, workflow }: RunRow, logged: LoggedEvent, names: EventNames): RunEventItem {
  return { run_id: id, workflow, ...eventItem(logged, names) };
}

/** Moves the position past an event. */
function pass(position: Position, runId: number, { seq }: LoggedEvent): void {
  position.newest = Math.max(position.newest, runId);
  position.seen.set(runId, seq);
}

/** Reads new events page by page. The caller moves the position past each page. */
async function* newEvents(
  store: Store,
  position: Position,
  runs: readonly RunRow[],
  most: number,
): AsyncGenerator<Page> {
  const above = position.newest;
  const fresh = await runsAbove(store, above);
  const known = new Map([...fresh, ...runs].map((run) => [run.id, run]));
  for (const run of [...known.values()].sort((first, second) => first.id - second.id)) {
    // An old run that was over when it was last looked at, and is not any more: from where it was opened again.
    if (run.id <= above && !position.seen.has(run.id))
      position.seen.set(run.id, await reopenedAt(store, run));
    yield* eventsOf(store, position, run, most);
  }
}

async function* eventsOf(store: Store, position: Position, run: RunRow, most: number): AsyncGenerator<Page> {
  for (;;) {
    const after = position.seen.get(run.id) ?? 0;
    const events = await store.readEvents(run.id, { afterSeq: after, limit: most });
    if (events.length > 0) yield { run, events };
    if (events.length < most) break;
  }
  // This was read before the run's events: if it was over then, all of them have been sent.
  if (run.finished_at !== null) position.seen.delete(run.id);
}

async function reopenedAt(store: Store, run: RunRow): Promise<number> {
  const log = await store.readEvents(run.id);
  const reopened = log.findLast(({ event }) => event.type === "run.reopened");
  if (reopened !== undefined) return reopened.seq - 1;
  // Never over, and yet not seen: it has its number from before the newest, and its first events from after it.
  return run.finished_at === null ? 0 : (log.at(-1)?.seq ?? 0);
}

/** Just after everything that has happened so far. */
async function present(store: Store): Promise<Position> {
  const newest = (await store.listRuns({ limit: 1 }))[0]?.id ?? 0;
  const position: Position = { newest, seen: new Map() };
  for (const { id } of await unfinished(store)) position.seen.set(id, await lastSeq(store, id));
  return position;
}

/** Logs have no gaps, so that their end is found without reading them. */
async function lastSeq(store: Store, runId: number): Promise<number> {
  const hasAfter = async (seq: number): Promise<boolean> =>
    (await store.readEvents(runId, { afterSeq: seq, limit: 1 })).length > 0;
  let low = 0;
  let high = 1;
  while (await hasAfter(high)) [low, high] = [high, high * 2];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await hasAfter(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Runs that are not over, and those that were not when they were last looked at. */
async function underWay(store: Store, { seen }: Position): Promise<RunRow[]> {
  const runs = await unfinished(store);
  const found = new Set(runs.map(({ id }) => id));
  const gone = new Set([...seen.keys()].filter((id) => !found.has(id)));
  const ended = await rowsOf(store, gone);
  const left = new Set(ended.map(({ id }) => id));
  for (const id of gone) if (!left.has(id)) seen.delete(id);
  return [...runs, ...ended];
}

async function unfinished(store: Store): Promise<RunRow[]> {
  const runs: RunRow[] = [];
  for (let beforeId: number | undefined; ; ) {
    const page = await store.listRuns({
      status: ["pending", "running", "paused", "held"],
      limit: RUNS_PER_PAGE,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    runs.push(...page);
    if (page.length < RUNS_PER_PAGE) return runs;
    beforeId = page.at(-1)!.id;
  }
}

/** Asked at every change, and mostly there is none. */
async function runsAbove(store: Store, newest: number): Promise<RunRow[]> {
  const runs: RunRow[] = [];
  for (let limit = FIRST_PAGE, beforeId: number | undefined; ; limit = RUNS_PER_PAGE) {
    const page = await store.listRuns({ limit, ...(beforeId === undefined ? {} : { beforeId }) });
    const above = page.filter(({ id }) => id > newest);
    runs.push(...above);
    if (above.length < limit) return runs;
    beforeId = page.at(-1)!.id;
  }
}

async function rowsOf(store: Store, ids: ReadonlySet<number>): Promise<RunRow[]> {
  const rows = await Promise.all([...ids].map((id) => store.readRun(id)));
  return rows.filter((row) => row !== null);
}
