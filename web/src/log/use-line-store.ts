import { useEffect, useMemo, useSyncExternalStore } from "react";
import { stream as events } from "../api/stream.js";
import { LineStore, type LogPlace } from "./line-store.js";

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
