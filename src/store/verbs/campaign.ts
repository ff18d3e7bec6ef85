import { type Campaign, isUnfinished } from "../../core/campaign/campaign.js";
import type { NewCampaign } from "../campaign-rows.js";
import type { SharedRow } from "../shared-rows.js";
import { TABLES } from "../tables.js";
import { type Dialect, put, rows, type Verb } from "./dialect.js";
import { dataOf, findShared, writeShared } from "./shared.js";

/** Returns those of these keys that are held. */
function* heldClaims({ among }: Dialect, keys: readonly string[]): Verb<string[]> {
  const held = yield* rows<{ key: string }>(
    `SELECT key FROM claim WHERE ${among("key", "$1", "text")}`,
    keys,
  );
  return held.map(({ key }) => key);
}

/** Takes keys, in a transaction that has found them free. */
function* takeClaims(dialect: Dialect, keys: readonly string[], holder: string): Verb<void> {
  const claims = keys.map((key) => ({ key, holder }));
  yield* put(dialect, TABLES.claim, claims);
}

function* dropClaims(holder: string): Verb<void> {
  yield* rows("DELETE FROM claim WHERE holder = $1", holder);
}

/** A condition for rows of `shared` that hold claims. */
const HOLDS_CLAIMS = "EXISTS (SELECT 1 FROM claim WHERE holder = shared.kind || '/' || shared.name)";

/** The holder's name for a row of `shared`. */
function holderName({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind}/${name}`;
}

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
