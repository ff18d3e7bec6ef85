import { useCallback, useEffect, useRef, useState } from "react";
import type { EventType } from "../../../../src/core/model/events.js";
import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import { fieldsText, othersNamed } from "../../../../src/tell/words/event-text.js";
import { api, dataOf, Problem } from "../../api/client.js";

/** An event as the server sends it. */
export interface ShownEvent {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly step?: string;
  readonly scope?: string;
  readonly [field: string]: unknown;
}

const TONES: readonly (readonly [RegExp, string])[] = [
  [/failed$|exceeded$|dead_lettered$/, "bad"],
  [/succeeded$|completed$/, "ok"],
  [
    /^(ladder|retry|rule|reset|remediation|goto|edge|requeue|restart|recovery|routes|undo|finally)\.|parked$/,
    "gold-t",
  ],
  [/^(hold|human|operator|jobs\.retried|run\.(paused|unpaused|cancel_requested|reopened))/, "person"],
];

/** The meaning that determines the colour of an event's name. */
export function toneOf(type: string): string {
  return TONES.find(([pattern]) => pattern.test(type))?.[1] ?? "dim";
}

/** An event's text after its name and its job, in the same words as on the command line. */
export function textOf(
  event: ShownEvent,
  names: ReadonlyMap<number, string>,
): { readonly job: string | null; readonly text: string } {
  const { seq: _seq, at: _at, step, scope, by, ...rest } = event;
  const job = step === undefined ? null : nameOf(step, scope ?? "root");
  const { job: _job, ...others } = rest;
  const text = fieldsText(
    (job === null ? rest : others) as { readonly type: EventType },
    (id) => names.get(id) ?? null,
  );
  return { job, text: typeof by === "string" ? `${text}${text === "" ? "" : ", "}by ${by}` : text };
}

/** How many events are read at once. The same number of pages is cached. */
const PAGE = 200;
const MAX_PAGES = 40;

export interface Filter {
  readonly kind: "all" | "failures" | "decisions";
  readonly text: string;
}

async function read(runId: number, after: number, { kind, text }: Filter) {
  const query = {
    after,
    limit: PAGE,
    ...(kind === "all" ? {} : { kind }),
    ...(text === "" ? {} : { text }),
  };
  const page = await dataOf(
    api.GET("/api/v1/runs/{run_id}/events", { params: { path: { run_id: runId }, query } }),
  );
  return { items: page.items as ShownEvent[], next: page.next };
}

/** Learns the names of further jobs in events, together with their neighbours, which are nearby in a log. */
async function learnNames(
  runId: number,
  events: readonly ShownEvent[],
  names: Map<number, string>,
): Promise<void> {
  for (const event of events)
    for (const id of othersNamed(event as { readonly type: EventType })) {
      if (names.has(id)) continue;
      const query = { run_id: runId, after: id - 1, limit: 100 };
      const { items } = await dataOf(api.GET("/api/v1/jobs", { params: { query } }));
      for (const { id: found, step, scope } of items) names.set(found, nameOf(step, scope));
      if (!names.has(id)) names.set(id, String(id));
    }
}

export interface EventWindow {
  readonly names: ReadonlyMap<number, string>;
  readonly count: number;
  readonly rowAt: (index: number) => ShownEvent | null;
  /** Reads missing events among these visible rows. */
  readonly want: (first: number, last: number) => void;
  readonly problem: Problem | null;
}

/** The whole log by number. Only visible pages are read, however long it is. */
export function useLog(runId: number, events: number): EventWindow {
  const names = useRef(new Map<number, string>());
  const pages = useRef(new Map<number, readonly ShownEvent[] | "reading">());
  const [, redraw] = useState(0);
  const [problem, setProblem] = useState<Problem | null>(null);
  const known = useRef(events);
  known.current = events;
  const want = useCallback(
    (first: number, last: number) => {
      for (let page = Math.floor(first / PAGE); page <= Math.floor(last / PAGE); page += 1) {
        const have = pages.current.get(page);
        const full = Math.min(PAGE, known.current - page * PAGE);
        if (have === "reading" || (have !== undefined && have.length >= full)) continue;
        pages.current.set(page, "reading");
        read(runId, page * PAGE, { kind: "all", text: "" }).then(
          async ({ items }) => {
            await learnNames(runId, items, names.current).catch(() => {});
            pages.current.delete(page);
            pages.current.set(page, items);
            const [oldest] = pages.current.keys();
            if (pages.current.size > MAX_PAGES && oldest !== undefined) pages.current.delete(oldest);
            setProblem(null);
            redraw((count) => count + 1);
          },
          (error: unknown) => {
            pages.current.delete(page);
            setProblem(error instanceof Problem ? error : null);
          },
        );
      }
    },
    [runId],
  );
  const rowAt = (index: number): ShownEvent | null => {
    const page = pages.current.get(Math.floor(index / PAGE));
    return page === undefined || page === "reading" ? null : (page[index % PAGE] ?? null);
  };
  return { count: events, rowAt, want, problem, names: names.current };
}

/** The events that match a filter. More are read as somebody scrolls. */
export function useMatches(runId: number, filter: Filter, events: number): EventWindow {
  const [found, setFound] = useState<{ key: string; items: readonly ShownEvent[]; next: number | null }>({
    key: "",
    items: [],
    next: 0,
  });
  const [problem, setProblem] = useState<Problem | null>(null);
  const reading = useRef(false);
  const names = useRef(new Map<number, string>());
  const key = `${runId} ${filter.kind} ${filter.text}`;
  const current = found.key === key ? found : { key, items: [], next: 0 };
  const newest = useRef({ current, filter, key });
  newest.current = { current, filter, key };
  const more = useCallback(async () => {
    const { current: now, filter: asked, key: wanted } = newest.current;
    if (reading.current || now.next === null) return;
    reading.current = true;
    try {
      const { items, next } = await read(runId, now.next, asked);
      await learnNames(runId, items, names.current).catch(() => {});
      if (newest.current.key === wanted)
        setFound({ key: wanted, items: [...now.items, ...items], next: next ?? null });
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof Problem ? error : null);
    }
    reading.current = false;
    // The filter changed during this read, and waits for it to end.
    if (newest.current.key !== wanted) void more();
  }, [runId]);
  // More may match once the log has grown, and a page may have had none.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is read at once, a grown log too
  useEffect(() => {
    if (current.items.length < PAGE) void more();
  }, [key, current.items.length, current.next, more]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the log has grown
  useEffect(() => {
    if (current.next === null && current.key === found.key)
      setFound((old) => (old.next === null ? { ...old, next: old.items.at(-1)?.seq ?? 0 } : old));
  }, [events]);
  const want = useCallback(
    (_first: number, last: number) => {
      if (last >= newest.current.current.items.length - 1) void more();
    },
    [more],
  );
  const rowAt = (index: number): ShownEvent | null => current.items[index] ?? null;
  return { count: current.items.length, rowAt, want, problem, names: names.current };
}
