/** What is done with each item. */
export type CampaignAction = "retry" | "fail" | "skip";

/**
 * `waiting`: not asked for yet. `sent`: the command is given, or is about to be. `overtaken`: somebody else had decided it
 * before. `refused`: it could not be done, with its code. The last two are neither good nor bad.
 */
export type ItemState = "waiting" | "sent" | "good" | "bad" | "overtaken" | "refused";

/** A failed job as it was when the campaign began. */
export interface CampaignItem {
  readonly run_id: number;
  readonly job_id: number;
  /** Older campaigns do not say. */
  readonly step?: string;
  readonly scope?: string;
  readonly visit: number;
  readonly attempt: number;
  readonly kind: "hold" | "failed" | "dead_letter";
  readonly state: ItemState;
  readonly code: string | null;
  readonly wave: number | null;
  readonly sent_at: number | null;
}

export interface CampaignPlan {
  readonly action: CampaignAction;
  /** How many are tried before any other. */
  readonly canary: number;
  /** How much larger each wave is than the one before. */
  readonly factor: number;
  readonly per_minute: number | null;
  /** The share of bad items in a wave above which it stops. */
  readonly stop_at: number;
  /** An item that has not ended after that is bad. */
  readonly wait_ms: number;
  readonly reason: string;
  /** For a retry: a hint to the step of each item. */
  readonly hint?: string;
  readonly by: string;
  /** Under which it was asked for, so that it is not begun twice; missing: under none. */
  readonly key?: string;
}

export type CampaignState = "running" | "paused" | "stopped" | "done";

export interface Campaign {
  readonly id: number;
  /** One more with each change. */
  readonly revision: number;
  readonly state: CampaignState;
  /** Why it stopped, for people; null while it did not. */
  readonly why: string | null;
  readonly created_at: number;
  readonly wave: number;
  readonly plan: CampaignPlan;
  readonly items: readonly CampaignItem[];
  /** What matched and is no item. */
  readonly left_out: readonly { readonly job_id: number; readonly because: string }[];
}

const MINUTE_MS = 60_000;

/** A decision on a hold ends it: nothing is tried, so there is no canary. */
function waveSize({ plan, wave, items }: Campaign): number {
  if (plan.action !== "retry") return items.length;
  return Math.min(items.length, plan.canary * plan.factor ** wave);
}

function ofWave({ items, wave }: Campaign): readonly CampaignItem[] {
  return items.filter((item) => item.wave === wave && item.state !== "overtaken" && item.state !== "refused");
}

export function isUnfinished({ state }: Pick<Campaign, "state">): boolean {
  return state === "running" || state === "paused";
}

/** What follows from the items as they are: the next wave, a stop, or the end. Nothing of it while somebody has paused it. */
export function advanceCampaign(campaign: Campaign): Campaign {
  if (campaign.state !== "running") return campaign;
  const wave = ofWave(campaign);
  const left = campaign.items.some(({ state }) => state === "waiting");
  const isFull = wave.length >= waveSize(campaign) || !left;
  if (!isFull || wave.some(({ state }) => state === "sent")) return campaign;
  const bad = wave.filter(({ state }) => state === "bad").length;
  const why = reasonToStop(campaign, bad, wave.length);
  if (why !== null && left) return { ...campaign, state: "stopped", why };
  return left ? { ...campaign, wave: campaign.wave + 1 } : { ...campaign, state: "done", why };
}

function reasonToStop({ wave, plan }: Campaign, bad: number, of: number): string | null {
  if (plan.action !== "retry" || bad === 0) return null;
  if (wave === 0) return `${bad} of ${of} canaries failed again`;
  const isTooBad = bad / of > plan.stop_at;
  return isTooBad
    ? `${bad} of ${of} in wave ${wave} failed again (stop at ${Math.round(plan.stop_at * 100)} %)`
    : null;
}

/** The places of the items that may be sent now. */
export function itemsToSend(campaign: Campaign, now: number): readonly number[] {
  if (campaign.state !== "running") return [];
  const { plan, items } = campaign;
  const room = waveSize(campaign) - ofWave(campaign).length;
  const lately = items.filter(({ sent_at }) => sent_at !== null && sent_at > now - MINUTE_MS).length;
  const allowed = plan.per_minute === null ? room : Math.min(room, plan.per_minute - lately);
  if (allowed <= 0) return [];
  return items.flatMap(({ state }, place) => (state === "waiting" ? [place] : [])).slice(0, allowed);
}

export function withItem(campaign: Campaign, place: number, changes: Partial<CampaignItem>): Campaign {
  const items = campaign.items.map((item, at) => (at === place ? { ...item, ...changes } : item));
  return { ...campaign, items };
}

/** The job as the store has it now. */
export interface ItemNow {
  readonly status: string;
  readonly visit: number;
  readonly attempt_id: number;
  readonly handled: boolean;
  readonly isRunOver: boolean;
}

/** Still as it was when the campaign began: nobody has decided it. */
export function isUntouched(item: CampaignItem, job: ItemNow | null): boolean {
  const decidable = job?.status === "failed" || job?.status === "held";
  return job !== null && decidable && job.visit === item.visit && job.attempt_id === item.attempt;
}

/** How an item that was sent has ended; null: not yet. */
export function judgeItem(
  item: CampaignItem,
  job: ItemNow | null,
  plan: CampaignPlan,
  now: number,
): { readonly state: ItemState; readonly code: string | null } | null {
  if (job === null) return { state: "overtaken", code: null };
  const isLate = item.sent_at !== null && now - item.sent_at >= plan.wait_ms;
  switch (job.status) {
    case "completed":
    case "skipped":
      return { state: "good", code: null };
    case "held":
      return { state: "bad", code: null };
    case "canceled":
      return { state: "overtaken", code: null };
    case "failed":
      if (job.handled || plan.action === "fail") return { state: "good", code: null };
      // A route may still handle it while its run goes on.
      return job.isRunOver || isLate ? { state: "bad", code: null } : null;
    default:
      return isLate ? { state: "bad", code: "WAIT_OVER" } : null;
  }
}
