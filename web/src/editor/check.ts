import { useCallback, useEffect, useRef, useState } from "react";
import { api, dataOf, type Problem } from "../api/client.js";

/** The server's check of a text. */
export type Check = Awaited<ReturnType<typeof checkText>>;
export type TextProblem = Check["problems"][number];
export type Fix = NonNullable<TextProblem["fix"]>;
export type Survey = NonNullable<Check["graph"]>;
export type SurveyEdge = Survey["edges"][number];

export function checkText(name: string, source: string) {
  const body = { source, name, file_name: `${name}.yaml`, graph: true };
  return dataOf(api.POST("/api/v1/workflows/validate", { body }));
}

export interface Checked {
  readonly check: Check | null;
  /** The newest graph. It may belong to an older text if the present one cannot be parsed. */
  readonly graph: Survey | null;
  readonly isOld: boolean;
  /** Whether the result belongs to the present text. */
  readonly isNow: boolean;
  readonly problem: Problem | null;
}

const PAUSE_MS = 350;

/** Checks the text after a short pause in typing, with one request at a time. */
export function useCheck(name: string, text: string): Checked {
  const [state, setState] = useState<Checked & { readonly of: string | null }>({
    ...{ check: null, graph: null, isOld: false, isNow: false, problem: null, of: null },
  });
  const newest = useRef({ name, text });
  newest.current = { name, text };
  const busy = useRef(false);
  const gone = useRef(false);
  const isFirst = useRef(true);
  const run = useCallback(async (): Promise<void> => {
    if (busy.current || gone.current) return;
    busy.current = true;
    isFirst.current = false;
    const { name: of, text: source } = newest.current;
    try {
      const check = await checkText(of, source);
      const graph = check.graph ?? null;
      setState((old) => ({
        ...{ check, graph: graph ?? old.graph, isOld: graph === null && old.graph !== null },
        ...{ isNow: true, problem: null, of: source },
      }));
    } catch (error) {
      setState((old) => ({ ...old, problem: error as Problem, of: source }));
    }
    busy.current = false;
    if (newest.current.text !== source) await run();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of the text starts another check
  useEffect(() => {
    const timer = setTimeout(() => void run(), isFirst.current ? 0 : PAUSE_MS);
    return () => clearTimeout(timer);
  }, [name, text, run]);
  useEffect(() => {
    gone.current = false;
    return () => {
      gone.current = true;
    };
  }, []);
  return { ...state, isNow: state.of === text && state.problem === null };
}
