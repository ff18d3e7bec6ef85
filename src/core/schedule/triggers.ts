import type { Json } from "../text/json.js";
import type { SecretPlace } from "../text/secret-place.js";

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

export const WEBHOOK_FORMS = ["standard", "github"] as const;

/** What starts a published workflow from outside. */
export interface WebhookDefinition {
  readonly secret: SecretPlace;
  /** How requests are signed. */
  readonly form: (typeof WEBHOOK_FORMS)[number];
  /** An expression; a request for which it is not true starts nothing. Null: every request starts a run. */
  readonly when: string | null;
  /** Templates over the request. */
  readonly inputs: { readonly [name: string]: Json };
}

/** What expressions and templates of a webhook see of a request. */
export const WEBHOOK_NAMES = ["body", "event"] as const;

/** Steps see the variables of the server, and this one is nobody's affair. */
export function hiddenNames(webhook: WebhookDefinition | undefined): readonly string[] {
  return webhook !== undefined && "variable" in webhook.secret ? [webhook.secret.variable] : [];
}

/** A workflow's name in the cause of a run, whose parts are set apart by slashes: a name may hold some itself. */
export function inCause(workflow: string): string {
  return workflow.replace(/[%/]/g, (character) => encodeURIComponent(character));
}
