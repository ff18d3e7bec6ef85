import { DarumaError } from "../../core/errors/errors.js";
import type { WantedReport } from "../write-reports.js";

/** Flags of commands that start or continue a run, here or at a server. */
export interface FollowFlags {
  readonly maxParallel?: number;
  readonly detach?: boolean;
  /** Also shows what steps print. */
  readonly verbose?: boolean;
  readonly cancelOnInterrupt?: boolean;
  readonly report?: readonly WantedReport[];
  /** Applies to this command's exit code, whether or not the run was started with it. */
  readonly strict?: boolean;
}

/**
 * Refuses flags that a server cannot follow: its workers have their own limits, and with --detach nobody waits for a
 * report.
 */
export function refuseLocalFlags({ maxParallel, detach, report }: FollowFlags): void {
  if (detach === true && report !== undefined)
    throw new DarumaError("USAGE", "--report cannot be combined with --detach: nobody waits for the end", {
      hint: "Write the report later: daruma report RUN --format junit --output FILE",
    });
  if (maxParallel !== undefined)
    throw new DarumaError("USAGE", "--max-parallel cannot be combined with --server: its workers decide", {
      hint: "Remove it, or add it to `daruma serve` or `daruma worker`.",
    });
}

export function refuseServerFlags({ detach, cancelOnInterrupt }: FollowFlags): void {
  if (detach === true || cancelOnInterrupt === true)
    throw new DarumaError("USAGE", "--detach and --cancel-on-interrupt need a server", {
      hint: "Add --server URL, or set DARUMA_SERVER.",
    });
}
