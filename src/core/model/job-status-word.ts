import type { JobStatus } from "./rows.js";

/** The status as people read it; programs and filters have it as it is. */
export function jobStatusWord(status: JobStatus): string {
  return status === "pending_failed" ? "held" : status;
}
