import { type Campaign, isUnfinished } from "../../core/campaign/campaign.js";
import type { NewCampaign } from "../campaign-rows.js";
import type { SharedRow } from "../shared-rows.js";
import { dropClaims, HOLDS_CLAIMS, heldClaims, holderName, takeClaims } from "./claim.js";
import type { Dialect } from "./dialect.js";
import type { Verb } from "./query.js";
import { dataOf, findShared, writeShared } from "./shared.js";

const KIND = "campaign";
/** Names of equal length sort like their numbers. */
const DIGITS = 15;

function nameOf(id: number): string {
  return String(id).padStart(DIGITS, "0");
}

const claimOf = (job: number): string => `job/${job}`;

export function* createCampaign(
  dialect: Dialect,
  campaign: NewCampaign,
): Verb<{ readonly id: number } | { readonly taken: number }> {
  const jobs = campaign.items.map(({ job_id }) => job_id);
  const held = new Set(yield* heldClaims(dialect, jobs.map(claimOf)));
  if (held.size > 0) return { taken: Math.min(...jobs.filter((job) => held.has(claimOf(job)))) };
  const [newest] = yield* findShared(KIND, "ORDER BY name DESC LIMIT 1");
  const id = Number(newest?.name ?? 0) + 1;
  const row = rowOf({ ...campaign, id, revision: 0 });
  yield* writeShared(dialect, [row]);
  yield* takeClaims(dialect, jobs.map(claimOf), holderName(row));
  return { id };
}

export function* readCampaign(_: Dialect, id: number): Verb<Campaign | null> {
  const [row] = yield* findShared(KIND, "AND name = $2", nameOf(id));
  return row === undefined ? null : campaignOf(row);
}

/** An unfinished campaign holds its jobs. */
export function* listCampaigns(
  _: Dialect,
  { unfinished, limit }: { readonly unfinished?: true; readonly limit: number },
): Verb<Campaign[]> {
  const which = unfinished === true ? `AND ${HOLDS_CLAIMS}` : "";
  return (yield* findShared(KIND, `${which} ORDER BY name DESC LIMIT $2`, limit)).map(campaignOf);
}

export function* writeCampaign(dialect: Dialect, campaign: Campaign): Verb<boolean> {
  const row = rowOf(campaign);
  if (campaign.revision === 0 || !(yield* writeShared(dialect, [row]))) return false;
  if (!isUnfinished(campaign)) yield* dropClaims(holderName(row));
  return true;
}

function rowOf({ id, revision, ...data }: Campaign): SharedRow {
  return { kind: KIND, name: nameOf(id), revision, data: JSON.stringify(data) };
}

function campaignOf(row: SharedRow): Campaign {
  return { ...(dataOf(row) as NewCampaign), id: Number(row.name), revision: row.revision };
}
