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
    throw new DarumaError("USAGE", "--max-parallel is for this process; at a server its workers decide", {
      hint: "Leave it out, or give it to `daruma serve` or `daruma worker`.",
    });
}

export function refuseServerFlags({ detach, cancelOnInterrupt }: FollowFlags): void {
  if (detach === true || cancelOnInterrupt === true)
    throw new DarumaError("USAGE", "--detach and --cancel-on-interrupt need a server that runs it", {
      hint: "Say --server URL, or set DARUMA_SERVER.",
    });
}
