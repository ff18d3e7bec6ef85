import { useCallback, useEffect, useRef, useState } from "react";
import { Problem } from "./client.js";
import { stream } from "./stream.js";

/**
 * So many times as long as a reading took, no other follows because of an event: a busy run must not keep the server and
 * the page at work all the time.
 */
const REST = 2;

export interface Live<Data> {
  /** The last that was read, also while it is read anew and when that fails. */
  readonly data: Data | null;
  readonly problem: Problem | null;
  readonly reload: () => void;
}

/**
 * Reads something and reads it anew when a run changes that it is about.
 *
 * @param key what it is: another key is another thing, whose old data is not shown
 * @param concerns whether a change of this run matters
 */
export function useLive<Data>(
  key: string,
  read: () => Promise<Data>,
  concerns: (runId: number) => boolean,
): Live<Data> {
  const [state, setState] = useState<{ key: string; data: Data | null; problem: Problem | null }>({
    key,
    data: null,
    problem: null,
  });
  const newest = useRef({ read, concerns, key });
  newest.current = { read, concerns, key };
  const underWay = useRef<"no" | "yes" | "again">("no");

  const wake = useRef<() => void>(() => {});
  const load = useCallback(async (isUrgent: boolean) => {
    if (underWay.current !== "no") {
      underWay.current = "again";
      if (isUrgent) wake.current();
      return;
    }
    do {
      underWay.current = "yes";
      const asked = newest.current.key;
      const began = performance.now();
      try {
        const data = await newest.current.read();
        if (newest.current.key === asked) setState({ key: asked, data, problem: null });
      } catch (error) {
        const problem = error instanceof Problem ? error : new Problem({ status: 0, title: String(error) });
        if (newest.current.key === asked)
          setState((old) => ({ key: asked, data: old.key === asked ? old.data : null, problem }));
      }
      if (newest.current.key === asked)
        await new Promise<void>((resolve) => {
          wake.current = resolve;
          setTimeout(resolve, REST * (performance.now() - began));
        });
    } while ((underWay.current as string) === "again");
    underWay.current = "no";
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is read at once
  useEffect(() => {
    void load(true);
  }, [key, load]);
  useEffect(
    () =>
      stream.onChange((runIds) => {
        if (runIds === null || [...runIds].some(newest.current.concerns)) void load(false);
      }),
    [load],
  );
  const reload = useCallback(() => void load(true), [load]);
  const isCurrent = state.key === key;
  return { data: isCurrent ? state.data : null, problem: isCurrent ? state.problem : null, reload };
}

/** What was there last: while something else is read in its place, it stays where it is. */
export function useLast<Thing>(thing: Thing | null): Thing | null {
  const last = useRef<Thing | null>(null);
  if (thing !== null) last.current = thing;
  return last.current;
}
