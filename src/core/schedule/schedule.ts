import type { Json } from "../text/json.js";

export const OVERLAPS = ["skip", "allow"] as const;
export const CATCH_UPS = ["none", "last", "all"] as const;

/** When a published workflow starts by itself. */
export interface ScheduleDefinition {
  /** Unique in its workflow; what somebody has paused stays paused under it. */
  readonly id: string;
  /** Five fields, or six with seconds first. */
  readonly cron: string;
  /** The time zone in which the fields are read. */
  readonly timezone: string;
  /** What becomes of a tick while a run of this schedule is not over. */
  readonly overlap: (typeof OVERLAPS)[number];
  /** Which of the ticks are made up for that no server was there to fire. */
  readonly catchUp: (typeof CATCH_UPS)[number];
  /** A tick fires up to so much later, always by the same amount. */
  readonly jitterMs: number;
  readonly inputs: { readonly [name: string]: Json };
}

/** When the cron fires, apart from everything else. */
export type CronTimes = Pick<ScheduleDefinition, "cron" | "timezone">;
