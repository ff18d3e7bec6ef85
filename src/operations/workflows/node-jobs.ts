import { z } from "zod";
import type { JobRow, JobStatus } from "../../core/model/rows.js";
import { jobStatus } from "../schemas.js";

/** A fan-out with more items has no cells: nobody could tell them apart. */
const MAX_CELLS = 60;

/** The jobs of one step of a run, without listing them. */
export const nodeJobs = z.object({
  total: z.number(),
  counts: z.partialRecord(jobStatus, z.number()).describe("How many have each status."),
  handled: z.number().describe("Failed, and the failure was handled."),
  again: z.number().describe("Completed with more than one attempt."),
  attempts: z.number().describe("Of all of them."),
  cells: z
    .array(z.object({ scope: z.string(), status: jobStatus, again: z.boolean(), handled: z.boolean() }))
    .describe(`Each job in the order of its items, if there are at most ${MAX_CELLS}; else empty.`),
});
type NodeJobs = z.output<typeof nodeJobs>;

/** Counts of jobs by step. */
export function summariseJobs(jobs: readonly JobRow[]): Map<string, NodeJobs> {
  const found = new Map<string, NodeJobs>();
  for (const { step, scope, status, handled, attempt_id: attempts } of jobs) {
    let node = found.get(step);
    if (node === undefined) {
      node = { total: 0, counts: {}, handled: 0, again: 0, attempts: 0, cells: [] };
      found.set(step, node);
    }
    const isHandled = status === "failed" && handled;
    const again = status === "completed" && attempts > 1;
    node.total += 1;
    node.counts[status] = (node.counts[status] ?? 0) + 1;
    if (isHandled) node.handled += 1;
    if (again) node.again += 1;
    node.attempts += attempts;
    if (node.total <= MAX_CELLS) node.cells.push({ scope, status, again, handled: isHandled });
  }
  for (const node of found.values()) if (node.total > MAX_CELLS) node.cells = [];
  return found;
}

/** A step may have a job in each branch; the one that most needs a look gives the colour. */
const MOST_TELLING: readonly JobStatus[] = [
  "failed",
  "held",
  "running",
  "recovering",
  "waiting",
  "canceled",
  "ready",
  "blocked",
  "completed",
  "skipped",
];

export function statusOf({ counts }: NodeJobs): JobStatus {
  return MOST_TELLING.find((status) => (counts[status] ?? 0) > 0) ?? "blocked";
}
