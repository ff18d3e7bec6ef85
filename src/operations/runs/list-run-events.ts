import { z } from "zod";
import type { EventType } from "../../core/model/events.js";
import type { Store } from "../../store/store.js";
import { changesOf } from "../../tell/lookup/changes.js";
import { JobNames } from "../../tell/lookup/event-names.js";
import { readLog } from "../../tell/lookup/replayed-log.js";
import { resolveRun } from "../../tell/lookup/run-reference.js";
import { EVENT_KINDS, type EventKind, kindOf } from "../../tell/timeline/event-kinds.js";
import { operation, type StreamItem } from "../operation.js";
import { limit, runReference } from "../schemas.js";
import { DesignReader, type EventItem, eventItem, NAMINGS, type Naming } from "./event-item.js";

export const event = z.looseObject({
  seq: z.number(),
  at: z.string(),
  type: z.string(),
  step: z.string().optional().describe("Of the job that it is about."),
  scope: z.string().optional(),
});

export const listRunEvents = operation({
  name: "list_run_events",
  summary: "print a run's event log, one event per line",
  description:
    "Returns the run's event log: every event in order, numbered by `seq`. docs/events.md explains each type. `kind`, `step` and `text` filter it. `next` is the `after` of the next page, null at the end; with a filter a page may be shorter, or empty.",
  details: "As a stream it continues until the run is over; an item's id is its seq.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference,
    after: z.coerce.number().int().min(0).default(0).describe("Only events after this seq."),
    kind: z
      .enum(["failures", "decisions"])
      .optional()
      .describe("Only failures, or only what the ladder and people decided."),
    step: z.string().min(1).max(10_000).optional().describe("Only events about jobs of this step."),
    text: z.string().min(1).max(1_000).optional().describe("Only events with this text."),
    names: z
      .enum(NAMINGS)
      .optional()
      .describe("Only the events of this design, under its names and with its payload."),
    limit,
  }),
  output: z.object({ run_id: z.number(), items: z.array(event), next: z.number().nullable() }),
  rest: { method: "GET", path: "/runs/{run_id}/events" },
  cli: [
    {
      words: "events",
      positional: ["run_id"],
      examples: ["daruma events 3", "daruma events last --json | head -1", "daruma events last --follow"],
    },
  ],
  streamFrom: "after",
  handler: async ({ store }, { run_id, ...page }) => {
    // A run with events exists.
    const found = run_id === "last" ? null : await pageOfEvents(store, run_id, page);
    if (found !== null && found.items.length > 0) return found;
    return pageOfEvents(store, await resolveRun(store, run_id), page);
  },
  stream: async function* ({ store }, { run_id, ...page }, signal) {
    yield* followRunEvents(store, await resolveRun(store, run_id), page, signal);
  },
});

const LAST_EVENTS: ReadonlySet<EventType> = new Set(["run.completed", "run.failed", "run.canceled"]);

/** How many events are read for one answer. `next` says where to continue. */
const MAX_LOOKED_AT = 20_000;

interface Page {
  readonly after: number;
  readonly limit: number;
  readonly kind?: EventKind | undefined;
  readonly step?: string | undefined;
  readonly text?: string | undefined;
  readonly names?: Naming | undefined;
}

async function pageOfEvents(store: Store, runId: number, page: Page) {
  const { limit, kind } = page;
  if (page.names !== undefined) return pageOfDesign(store, runId, page);
  const names = new JobNames(store);
  const items: EventItem[] = [];
  const types = kind === undefined ? {} : { types: EVENT_KINDS[kind] };
  let after = page.after;
  for (let looked = 0; looked < MAX_LOOKED_AT; ) {
    const events = await store.readEvents(runId, { afterSeq: after, limit, ...types });
    await names.learnPage(runId, events);
    for (const logged of events) {
      const { event } = logged;
      const item = eventItem(logged, names.known(runId, event) ?? (await names.of(runId, event)));
      after = logged.seq;
      if (isMeant(item, page)) items.push(item);
      if (items.length === limit) return { run_id: runId, items, next: after };
    }
    if (events.length < limit) return { run_id: runId, items, next: null };
    looked += events.length;
  }
  return { run_id: runId, items, next: after };
}

async function pageOfDesign(store: Store, runId: number, page: Page) {
  const teller = await DesignReader.of(store, runId);
  const items: EventItem[] = [];
  for await (const logged of readLog(store, runId)) {
    const item = teller.hear(logged);
    if (item === null || logged.seq <= page.after || !isMeant(item, page, logged.event.type)) continue;
    items.push(item);
    if (items.length === page.limit) return { run_id: runId, items, next: logged.seq };
  }
  return { run_id: runId, items, next: null };
}

function isMeant(item: EventItem, { kind, step, text }: Page, type = item.type): boolean {
  if (kind !== undefined && kindOf(type) !== kind) return false;
  if (step !== undefined && item.step !== step) return false;
  return text === undefined || JSON.stringify(item).toLowerCase().includes(text.toLowerCase());
}

/** Everything that is in the log, and what comes, until the run is over. */
async function* followRunEvents(
  store: Store,
  runId: number,
  page: Page,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  const changes = changesOf(store);
  const names = new JobNames(store);
  const teller = page.names === undefined ? null : await DesignReader.of(store, runId);
  try {
    for (let last = teller === null ? page.after : 0; !signal.aborted; ) {
      let isOver = false;
      for await (const logged of readLog(store, runId, last)) {
        const { type } = logged.event;
        const data =
          teller === null ? eventItem(logged, await names.of(runId, logged.event)) : teller.hear(logged);
        if (data !== null && logged.seq > page.after && isMeant(data, page, type))
          yield { id: String(logged.seq), event: data.type, data };
        if (signal.aborted) return;
        last = logged.seq;
        isOver = LAST_EVENTS.has(logged.event.type);
      }
      // If nothing was new, the run may have ended before this reader came.
      if (isOver || (await isOverAt(store, runId, last))) return;
      await changes.next({ runId, signal });
    }
  } finally {
    changes.stop();
  }
}

async function isOverAt(store: Store, runId: number, seq: number): Promise<boolean> {
  const run = await store.readRun(runId);
  if (run === null) return true;
  return (
    run.finished_at !== null && (await store.readEvents(runId, { afterSeq: seq, limit: 1 })).length === 0
  );
}
