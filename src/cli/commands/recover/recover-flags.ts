import { DarumaError } from "../../../core/errors/errors.js";
import { parseDuration } from "../../../file/read/duration.js";
import type { FollowFlags } from "../../server/server-flags.js";
import type { GlobalOptions } from "../../terminal/channel.js";
import { agent } from "./agent.js";
import { recoveryHook } from "./recovery-hook.js";
import type { RoundsPlan } from "./rounds.js";

/** Flags of `recover` and of `watch --recover` that the command line itself handles. */
export interface RecoverFlags extends FollowFlags {
  readonly recoveryHook?: string;
  readonly maxRounds?: number;
  readonly agent?: string;
  readonly agentTimeout?: string;
}

const DEFAULT_AGENT_TIMEOUT = "30m";

export function roundsPlan(
  policy: RoundsPlan["policy"],
  flags: RecoverFlags,
  options: GlobalOptions,
  usualRounds: number,
): RoundsPlan {
  const { recoveryHook: hook, maxRounds, agent: command } = flags;
  return {
    policy,
    maxRounds: maxRounds ?? usualRounds,
    hook: hook === undefined ? null : recoveryHook(hook),
    agent: command === undefined ? null : agent(command, agentTimeout(flags), options),
  };
}

function agentTimeout({ agentTimeout: text = DEFAULT_AGENT_TIMEOUT }: RecoverFlags): number {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  throw new DarumaError("USAGE", `--agent-timeout: ${text} is not a duration`, { hint: "Write 30m or 2h." });
}
