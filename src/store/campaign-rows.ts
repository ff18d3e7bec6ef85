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
