import { type Campaign, isUnfinished } from "../../core/campaign/campaign.js";
import { campaignData, type NewCampaign, readStoredCampaign, type StoredCampaign } from "../campaign-rows.js";
import type { Dialect } from "./dialect.js";
import { row, rows, type Verb } from "./query.js";

const FOUND = "SELECT id, revision, data FROM campaign";

export function* createCampaign(
  { among, each }: Dialect,
  campaign: NewCampaign,
): Verb<{ readonly id: number } | { readonly taken: number }> {
  const jobs = campaign.items.map(({ job_id }) => job_id);
  const taken = yield* row<{ job_id: number }>(
    `SELECT job_id FROM campaign_job WHERE ${among("job_id", "$1", "bigint")} ORDER BY job_id LIMIT 1`,
    jobs,
  );
  if (taken !== null) return { taken: taken.job_id };
  const made = yield* row<{ id: number }>(
    "INSERT INTO campaign (revision, unfinished, data) VALUES (1, $1, $2) RETURNING id",
    ...[true, campaignData(campaign)],
  );
  const put = `INSERT INTO campaign_job (job_id, campaign_id) SELECT value, $2 FROM (${each("$1")}) AS given`;
  yield* rows(put, jobs, made!.id);
  return { id: made!.id };
}

export function* readCampaign(_: Dialect, id: number): Verb<Campaign | null> {
  const found = yield* row<StoredCampaign>(`${FOUND} WHERE id = $1`, id);
  return found === null ? null : readStoredCampaign(found);
}

export function* listCampaigns(
  _: Dialect,
  { unfinished, limit }: { readonly unfinished?: true; readonly limit: number },
): Verb<Campaign[]> {
  const where = unfinished === true ? "WHERE unfinished" : "";
  const found = yield* rows<StoredCampaign>(`${FOUND} ${where} ORDER BY id DESC LIMIT $1`, limit);
  return found.map(readStoredCampaign);
}

export function* writeCampaign(_: Dialect, campaign: Campaign): Verb<boolean> {
  const { id, revision } = campaign;
  const written = yield* rows(
    "UPDATE campaign SET revision = revision + 1, unfinished = $3, data = $4 WHERE id = $1 AND revision = $2 RETURNING id",
    ...[id, revision, isUnfinished(campaign), campaignData(campaign)],
  );
  if (written.length === 0) return false;
  if (!isUnfinished(campaign)) yield* rows("DELETE FROM campaign_job WHERE campaign_id = $1", id);
  return true;
}
