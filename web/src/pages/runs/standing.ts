import { type RunItem, type Standing, standingOf } from "../../words/status.js";

/** The status of a run, with what it waits for and what is in progress. */
export function standingInList(run: RunItem): Standing {
  const decided = run.decided === 0 ? null : `${run.decided} decided`;
  const plain = standingOf(run, { ...run, decided });
  if (run.interrupted) return plain;
  if (run.fails_by_strict !== null) return { ...plain, words: `${plain.words}; strict: exit 1` };
  if (run.waiting > 0 && run.asks === "question" && (run.status === "running" || run.status === "held"))
    return { face: "held", words: "Asks a question", tone: "person" };
  if (run.status === "held" && run.asks === "dead_letter") return { ...plain, words: "Held, dead letter" };
  if (run.status === "running" && run.waiting > 0) return { ...plain, words: `Running, ${run.waiting} held` };
  const isRecovering = (run.jobs.recovering ?? 0) > 0;
  return run.status === "running" && isRecovering ? { ...plain, words: "Running, recovering" } : plain;
}

/** The parts of the bar of steps in their order, with widths as shares of the whole. */
export function partsOf({ jobs, handled, waiting }: Pick<RunItem, "jobs" | "handled" | "waiting">): {
  readonly parts: readonly { readonly tone: string; readonly share: number }[];
  readonly done: number;
  readonly all: number;
} {
  const of = (...statuses: readonly string[]): number =>
    statuses.reduce((sum, status) => sum + (jobs[status] ?? 0), 0);
  const all = Object.values(jobs).reduce((sum, count) => sum + count, 0);
  const done = of("completed");
  const counts: readonly (readonly [tone: string, count: number])[] = [
    ["ok", done],
    ["bad", of("failed")],
    ["person", Math.max(waiting, of("held"))],
    ["gold", of("recovering")],
    ["run", of("running")],
    ["idle", of("skipped", "canceled")],
  ];
  const parts = counts
    .filter(([, count]) => count > 0)
    .map(([tone, count]) => ({
      tone: tone === "bad" && handled >= count ? "handled" : tone,
      share: count / all,
    }));
  return { parts, done, all };
}
