import type { FollowFlags } from "../../server/server-flags.js";
import type { Session } from "../../terminal/channel.js";
import { recoveryHook } from "./recovery-hook.js";
import type { RoundsPlan } from "./rounds.js";

/** Flags of `recover` and of `watch --recover` that are the command line's own. */
export interface RecoverFlags extends FollowFlags {
  readonly recoveryHook?: string;
  readonly maxRounds?: number;
}

export function roundsPlan(
  policy: RoundsPlan["policy"],
  { recoveryHook: hook, maxRounds }: RecoverFlags,
  _session: Session,
  usualRounds: number,
): RoundsPlan {
  return {
    policy,
    maxRounds: maxRounds ?? usualRounds,
    hook: hook === undefined ? null : recoveryHook(hook),
    agent: null,
  };
}
