import type { FollowFlags } from "../../server/server-flags.js";

export interface RunFlags extends FollowFlags {
  readonly input?: readonly string[];
  readonly context?: string;
  readonly onFailMaxLoops?: number;
  readonly retryMax?: number;
  readonly failureRouting: boolean;
  readonly only?: string;
  readonly stored?: boolean;
  /** False: none. */
  readonly folder?: string | false;
  readonly key?: string;
}

export interface ResumeFlags extends FollowFlags {
  readonly reason?: string;
  readonly key?: string;
}
