import { useEffect, useSyncExternalStore } from "react";

/** The workflow of the shown run. The run's page sets it, and the header shows it. */
let shown: { readonly runId: number; readonly workflow: string } | null = null;
const listeners = new Set<() => void>();

export function useWorkflowOf(runId: number, workflow: string | null): void {
  useEffect(() => {
    if (workflow === null) return;
    shown = { runId, workflow };
    for (const listener of listeners) listener();
  }, [runId, workflow]);
}

/** The workflow; null until the page has set it. */
export function useShownWorkflow(runId: number): string | null {
  const workflow = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
  return workflow?.runId === runId ? workflow.workflow : null;
}
