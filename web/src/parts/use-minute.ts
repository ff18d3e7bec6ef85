import { useEffect, useState } from "react";

const SECOND_MS = 1_000;

/** For ages: they grow by minutes. */
export function useMinute(): number {
  return useNow(60 * SECOND_MS);
}

/** For what is under way. */
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
