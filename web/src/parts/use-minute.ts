import { useEffect, useState } from "react";

const SECOND_MS = 1_000;

/** The time, updated every minute. For ages. */
export function useMinute(): number {
  return useNow(60 * SECOND_MS);
}

/** The time, updated every second. For things in progress. */
export function useSecond(): number {
  return useNow(SECOND_MS);
}

function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
