import { useCallback, useEffect, useRef, useState } from "react";
import { Problem } from "./client.js";
import { stream } from "./stream.js";

/**
 * After a read, events trigger no other for this multiple of its duration, so that a busy run does not keep the server
 * and the page constantly at work.
 */
const REST = 2;

export interface Live<Data> {
  /** The data of the last successful read. It stays while data is reloaded, and if that fails. */
  readonly data: Data | null;
  readonly problem: Problem | null;
  readonly reload: () => void;
}

/**
 * Reads data, and reloads it when a run that it depends on changes.
 *
 * @param key identifies the data; after a change of the key, the old data is not shown
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

/** The last value that was not null, so that it stays visible while the next one is loaded. */
export function useLast<Thing>(thing: Thing | null): Thing | null {
  const last = useRef<Thing | null>(null);
  if (thing !== null) last.current = thing;
  return last.current;
}
