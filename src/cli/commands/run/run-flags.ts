import type { RunReference } from "../../../tell/lookup/run-reference.js";
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
  /** Reuses unchanged steps of this run; true means the newest ended run. */
  readonly reuse?: true | RunReference;
  readonly keepStoodIn?: boolean;
  /** Only prints what `reuse` would run. */
  readonly dryRun?: boolean;
  readonly stored?: boolean;
  /** The workspace's folder; false for none. */
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
