import { basename } from "node:path";
import { JOB_IDS_PER_RUN, type Run } from "../../src/core/model/run.js";
import { snapshotRun } from "./run-snapshot.js";

/** Of this store alone: its numbers, and marks of processes. */
const LOCAL_KEYS = new Set(["id", "workflowId", "failureHandlerIds", "parent", "attemptToken", "token"]);

/** An imported run says that it is one, and stands in no book. */
const OF_IMPORTS = new Set(["imported", "book"]);

/** A run as plain data, the same under whatever number and wherever its files lie. */
export function portableRun(run: Run): unknown {
  const { id: _id, ...snapshot } = snapshotRun(run) as { id: number };
  return withoutNumber(snapshot, run.id);
}

/** Job ids as their place in the run. */
export function withoutNumber(value: unknown, runId: number): unknown {
  if (typeof value === "number") {
    const place = value - runId * JOB_IDS_PER_RUN;
    return place > 0 && place < JOB_IDS_PER_RUN ? `job ${place}` : value;
  }
  if (Array.isArray(value)) return value.map((each) => withoutNumber(each, runId));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !OF_IMPORTS.has(key))
      .map(([key, each]) => {
        if (LOCAL_KEYS.has(key) && typeof each !== "number") return [key, null];
        if (key === "workflowId") return [key, null];
        if (key === "path" && typeof each === "string") return [key, basename(each).replace(/^j\d+/, "j")];
        return [key, withoutNumber(each, runId)];
      }),
  );
}
