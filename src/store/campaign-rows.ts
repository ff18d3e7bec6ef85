import type { Campaign } from "../core/campaign/campaign.js";

export type NewCampaign = Omit<Campaign, "id" | "revision">;

/** Campaigns over the failed jobs of many runs. */
export interface CampaignStore {
  /**
   * Creates a campaign and returns its id. If an unfinished campaign already has one of its jobs, returns that job and
   * writes nothing.
   */
  createCampaign(campaign: NewCampaign): Promise<{ readonly id: number } | { readonly taken: number }>;
  readCampaign(id: number): Promise<Campaign | null>;
  /** Newest first. */
  listCampaigns(filter: { readonly unfinished?: true; readonly limit: number }): Promise<Campaign[]>;
  /**
   * Writes the campaign if it still has the revision that was read; it then gets the next one. Returns false if
   * somebody was faster.
   */
  writeCampaign(campaign: Campaign): Promise<boolean>;
}
