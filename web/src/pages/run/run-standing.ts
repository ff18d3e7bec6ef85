import { listNames, nameOf } from "../../../../src/tell/lookup/job-name.js";
import { decidedText } from "../../../../src/tell/words/decided-text.js";
import { count, type Standing, standingOf } from "../../words/status.js";
import type { RunSummary } from "./run-data.js";

/** The status of a run, with who stopped it, what it waits for and what is in progress. */
export function runStanding(run: RunSummary): Standing {
  const { status, summary, live_control, paused_by: by } = run;
  const plain = standingOf(run, {
    recoveries: run.recoveries.length,
    handled: run.handled_in_children.reduce(
      (sum, { failures }) => sum + failures,
      run.handled_failures.length,
    ),
    decided: run.decided.length === 0 ? null : listNames(run.decided, decidedText),
  });
  if (run.interrupted || run.phase !== null || run.held_below.length > 0) return plain;
  if (status === "paused") return { ...plain, words: pausedWords(live_control.takeover, by) };
  const holds = summary.holds.filter(({ kind }) => kind === "hold");
  const asks = summary.holds.length - holds.length;
  const isAtWork = ["running", "ready", "recovering"].some((each) => countOf(run, each) > 0);
  if (status === "running" || status === "held") {
    if (asks > 0 && holds.length === 0 && !isAtWork)
      return {
        face: "held",
        words: asks === 1 ? "Asks a question" : `Asks ${asks} questions`,
        tone: "person",
      };
    if (status === "held")
      return holds.length > 0 && holds.every((hold) => hold.dead_letter)
        ? { ...plain, words: "Held, dead letter" }
        : plain;
  }
  if (status !== "running") return plain;
  if (holds.length > 0) return { ...plain, words: `Running, ${holds.length} held` };
  // Only a question waits for a person. Other waiting jobs wait because of a rung.
  const isMending = countOf(run, "recovering") > 0 || countOf(run, "waiting") > asks;
  if (isMending) return { ...plain, words: "Running, recovering" };
  return asks > 0 ? { ...plain, words: `Running, asks ${count(asks, "question")}` } : plain;
}

function pausedWords(isTakenOver: boolean, by: string | null): string {
  if (isTakenOver) return by === null ? "Taken over" : `Taken over by ${by}`;
  return by === null ? "Paused" : `Paused, by ${by}`;
}

/** The number in a count of the server such as "1 running". */
function countOf({ summary }: Pick<RunSummary, "summary">, status: string): number {
  const found = summary.counts.find((text) => text.split(" ")[1] === status);
  return found === undefined ? 0 : Number.parseInt(found, 10);
}

/** The step that most needs attention. Holds of child runs are left out, because their steps belong to those runs. */
export function defaultStep({
  run_id,
  summary,
  handled_failures,
}: Pick<RunSummary, "run_id" | "summary" | "handled_failures">): string | null {
  const holds = summary.holds.filter((hold) => hold.run_id === run_id);
  const [job] = [...holds, ...summary.failures, ...handled_failures];
  return job === undefined ? null : nameOf(job.step, job.scope);
}
