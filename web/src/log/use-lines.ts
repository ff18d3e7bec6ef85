import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import {
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useState,
  useSyncExternalStore,
} from "react";
import { api, dataOf, Problem } from "../api/client.js";
import { stream as events } from "../api/stream.js";
import { LineStore, type LogPlace } from "./line-store.js";
import type { LogStreamName } from "./line-window.js";

export interface Hit {
  readonly stream: LogStreamName;
  readonly line: number;
}

export interface Found {
  readonly hits: readonly Hit[];
  /** There may be more hits: a search stops after a number of lines, an amount of text, or a second. */
  readonly hasMore: boolean;
  readonly problem: string | null;
  readonly isSearching: boolean;
}

const NOTHING: Found = { hits: [], hasMore: false, problem: null, isSearching: false };
/** How long to wait for further typing. */
const PATIENCE_MS = 250;
/** How often a search in a very long log continues by itself. */
const MAX_ROUNDS = 20;

/** Searches the logs of an attempt, one after the other. */
export function useFind(places: readonly LogPlace[], text: string, regex: boolean): Found {
  const [found, setFound] = useState<Found>(NOTHING);
  const key = JSON.stringify(places);
  useEffect(() => {
    if (text === "") return setFound(NOTHING);
    let isWanted = true;
    const timer = setTimeout(async () => {
      setFound({ ...NOTHING, isSearching: true });
      const answer = await search(JSON.parse(key) as LogPlace[], text, regex, () => isWanted);
      if (isWanted) setFound(answer);
    }, PATIENCE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [key, text, regex]);
  return found;
}

async function search(
  places: readonly LogPlace[],
  grep: string,
  regex: boolean,
  isWanted: () => boolean,
): Promise<Found> {
  const hits: Hit[] = [];
  let hasMore = false;
  try {
    for (const { jobId, attempt, stream } of places) {
      let next: number | null = 1;
      for (
        let round = 0;
        next !== null && hits.length < 1_000 && round < MAX_ROUNDS && isWanted();
        round += 1
      ) {
        const query: { attempt: number; stream: LogStreamName; grep: string; regex: boolean; lines: string } =
          {
            attempt,
            stream,
            grep,
            regex,
            lines: `${next}:`,
          };
        const { lines } = await dataOf(
          api.GET("/api/v1/jobs/{job_id}/logs", { params: { path: { job_id: String(jobId) }, query } }),
        );
        for (const { line } of lines?.items ?? []) hits.push({ stream, line });
        next = lines?.next_line ?? null;
      }
      hasMore ||= next !== null;
    }
  } catch (error) {
    return { ...NOTHING, problem: error instanceof Problem ? error.message : String(error) };
  }
  return { hits, hasMore, problem: null, isSearching: false };
}

/** How often a running attempt's log is read. Output makes no event. */
const LOOK_MS = 1_000;

export function useLineStore({ jobId, attempt, stream }: LogPlace, isRunning: boolean): LineStore {
  const store = useMemo(() => new LineStore({ jobId, attempt, stream }), [jobId, attempt, stream]);
  useSyncExternalStore(store.watch, store.version);
  useEffect(() => {
    void store.refresh();
    if (!isRunning) return;
    const look = (): void => {
      if (document.visibilityState === "visible") void store.refresh();
    };
    const timer = setInterval(look, LOOK_MS);
    const stop = events.onChange(look);
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [store, isRunning]);
  return store;
}

const LINE_PX = 18;
/** Lines that are rendered above and below the visible ones. The DOM never has more than 1,000. */
const OVERSCAN = 20;

type VirtualLines = Virtualizer<HTMLElement, HTMLDivElement>;

/** Determines which lines are visible, since only these are rendered. */
export function useVirtualLines(scroller: RefObject<HTMLElement | null>, count: number): VirtualLines {
  const [, rerender] = useReducer((times: number) => times + 1, 0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: OVERSCAN,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    measureElement,
    onChange: () => rerender(),
  };
  const [virtual] = useState(() => new Virtualizer<HTMLElement, HTMLDivElement>(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
}
