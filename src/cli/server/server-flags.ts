import { DarumaError } from "../../core/errors/errors.js";

/** Flags of commands that start or go on with a run, here or at a server. */
export interface FollowFlags {
  readonly maxParallel?: number;
  readonly detach?: boolean;
  /** Also what steps print. */
  readonly verbose?: boolean;
  readonly cancelOnInterrupt?: boolean;
}

/** A server's workers have places of their own. */
export function refuseLocalFlags({ maxParallel }: FollowFlags): void {
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
