import { useEffect } from "react";

/** Reloads at an interval, for data that changes without an event of a run, such as a worker's sign of life. */
export function useEvery(ms: number, reload: () => void): void {
  useEffect(() => {
    const timer = setInterval(reload, ms);
    return () => clearInterval(timer);
  }, [ms, reload]);
}
