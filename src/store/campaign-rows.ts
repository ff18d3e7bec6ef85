import type { Campaign } from "../core/campaign/campaign.js";

export type NewCampaign = Omit<Campaign, "id" | "revision">;

/** Campaigns over the failed jobs of many runs. */
export interface CampaignStore {
  /** Its id; or a job of it that an unfinished campaign has already, and then nothing is written. */
  createCampaign(campaign: NewCampaign): Promise<{ readonly id: number } | { readonly taken: number }>;
  readCampaign(id: number): Promise<Campaign | null>;
  /** Newest first. */
  listCampaigns(filter: { readonly unfinished?: true; readonly limit: number }): Promise<Campaign[]>;
  /** If it still has the revision that was read; it then has the next one. False: somebody was faster. */
  writeCampaign(campaign: Campaign): Promise<boolean>;
}

/** As a database keeps it: what is asked for by itself, and the rest as JSON. */
export interface StoredCampaign {
  readonly id: number;
  readonly revision: number;
  readonly data: string;
}

export function campaignData(campaign: NewCampaign | Campaign): string {
  return JSON.stringify({ ...campaign, id: undefined, revision: undefined });
}

export function readStoredCampaign({ id, revision, data }: StoredCampaign): Campaign {
  return { ...(JSON.parse(data) as NewCampaign), id, revision };
}
