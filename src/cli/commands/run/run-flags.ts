import type { RunReference } from "../../../report/lookup/run-reference.js";
import type { FollowFlags } from "../../server/server-flags.js";

export interface RunFlags extends FollowFlags {
  readonly input?: readonly string[];
  readonly context?: string;
  readonly label?: readonly string[];
  readonly priority?: number;
  readonly onFailMaxLoops?: number;
  readonly retryMax?: number;
  readonly failureRouting: boolean;
  readonly only?: string;
  /** Take over what has not changed; true: since the newest ended run. */
  readonly reuse?: true | RunReference;
  readonly keepStoodIn?: boolean;
  /** Only say what `reuse` would run. */
  readonly dryRun?: boolean;
  readonly stored?: boolean;
  /** False: none. */
  readonly folder?: string | false;
  readonly key?: string;
}

export function reused(flag: true | RunReference): "last_ended" | RunReference {
  return flag === true ? "last_ended" : flag;
}

export interface ResumeFlags extends FollowFlags {
  readonly reason?: string;
  readonly key?: string;
}
