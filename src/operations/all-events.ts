import { DarumaError } from "../core/errors.js";
import type { LoggedEvent } from "../core/events.js";
import type { RunRow } from "../core/rows.js";
import type { Store } from "../store/store.js";
import { changesOf } from "./changes.js";
import type { StreamItem } from "./operation.js";
import { type EventItem, eventItem } from "./run-events.js";

/**
 * A place in the logs of all runs. No store counts events across runs: that would be one number for which all runs
 * wait. So a place names each run that is under way and how far its log was seen; runs above `newest` are not seen at
 * all, all others were over.
 */
interface Position {
  newest: number;
  readonly seen: Map<number, number>;
}

/** More than this many runs at a time make the oldest be told again from their beginning after a reconnect. */
const MAX_RUNS_IN_CURSOR = 400;
const RUNS_PER_PAGE = 200;
const FIRST_PAGE = 4;
const EVENTS_PER_READ = 500;
/** How often runs are looked for that another process has begun or gone on with. */
const SWEEP_MS = 2_000;
/** Numbers that every store can keep. */
const CURSOR = /^\d{1,15}(?:\.\d{1,15}-\d{1,15})*$/;

export type RunEventItem = EventItem & { readonly run_id: number };

/** What has happened in all runs since a cursor. Without one: nothing, and the cursor of now. */
export async function listEvents(
  store: Store,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ items: RunEventItem[]; next: string }> {
  if (after === undefined) return { items: [], next: write(await present(store)) };
  const position = read(after);
  const items: RunEventItem[] = [];
  for await (const { runId, logged } of newEvents(store, position, await underWay(store, position))) {
    items.push({ run_id: runId, ...eventItem(logged) });
    if (items.length >= limit) break;
  }
  return { items, next: write(position) };
}

/** What happens in all runs from now, or from a cursor on, until the reader goes. */
export async function* followEvents(
  store: Store,
  after: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  const changes = changesOf(store, SWEEP_MS);
  try {
    const position = after === undefined ? await present(store) : read(after);
    for (let sweptAt = 0; !signal.aborted; await changes.next({ signal })) {
      const sweeps = Date.now() - sweptAt >= SWEEP_MS;
      if (sweeps) sweptAt = Date.now();
      const changed = await rowsOf(store, changes.take());
      const runs = sweeps ? await underWay(store, position) : changed;
      for await (const { runId, logged } of newEvents(store, position, runs)) {
        yield {
          id: write(position),
          event: logged.event.type,
          data: { run_id: runId, ...eventItem(logged) } satisfies RunEventItem,
        };
        if (signal.aborted) return;
      }
    }
  } finally {
    changes.stop();
  }
}

/** Moves the position past each event before it is handed out. */
async function* newEvents(
  store: Store,
  position: Position,
  runs: readonly RunRow[],
): AsyncGenerator<{ readonly runId: number; readonly logged: LoggedEvent }> {
  const above = position.newest;
  const fresh = await runsAbove(store, above);
  const known = new Map([...fresh, ...runs].map((run) => [run.id, run]));
  for (const run of [...known.values()].sort((first, second) => first.id - second.id)) {
    // An old run that was over when it was last looked at, and is not any more: from where it was opened again.
    if (run.id <= above && !position.seen.has(run.id))
      position.seen.set(run.id, await reopenedAt(store, run.id));
    yield* eventsOf(store, position, run);
  }
}

async function* eventsOf(
  store: Store,
  position: Position,
  run: RunRow,
): AsyncGenerator<{ readonly runId: number; readonly logged: LoggedEvent }> {
  for (;;) {
    const after = position.seen.get(run.id) ?? 0;
    const page = await store.readEvents(run.id, { afterSeq: after, limit: EVENTS_PER_READ });
    for (const logged of page) {
      position.newest = Math.max(position.newest, run.id);
      position.seen.set(run.id, logged.seq);
      yield { runId: run.id, logged };
    }
    if (page.length < EVENTS_PER_READ) break;
  }
  // Read before its events were: if it was over then, all of them are told.
  if (run.finished_at !== null) position.seen.delete(run.id);
}

async function reopenedAt(store: Store, runId: number): Promise<number> {
  const log = await store.readEvents(runId);
  const reopened = log.findLast(({ event }) => event.type === "run.reopened");
  return reopened === undefined ? (log.at(-1)?.seq ?? 0) : reopened.seq - 1;
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

/** `newest.run-seq.run-seq`. */
function write({ newest, seen }: Position): string {
  const entries = [...seen].slice(-MAX_RUNS_IN_CURSOR);
  return [newest, ...entries.map(([run, seq]) => `${run}-${seq}`)].join(".");
}

function read(cursor: string): Position {
  if (!CURSOR.test(cursor)) throw new DarumaError("INVALID_INPUT", `after: ${cursor} is no cursor`);
  const [newest, ...entries] = cursor.split(".");
  const seen = entries.map((entry) => entry.split("-").map(Number) as [number, number]);
  return { newest: Number(newest), seen: new Map(seen) };
}
