import { isUnfinished } from "../../core/campaign/campaign.js";
import { type CampaignStore, campaignData, readStoredCampaign } from "../campaign-rows.js";
import type { OpenTables } from "./memory-tables.js";

export function createCampaignVerbs(open: OpenTables): CampaignStore {
  const all = () => [...open().campaigns.values()].map(readStoredCampaign).sort((a, b) => b.id - a.id);
  return {
    async createCampaign(campaign) {
      const { campaigns } = open();
      const theirs = new Set(
        all()
          .filter(isUnfinished)
          .flatMap(({ items }) => items.map(({ job_id }) => job_id)),
      );
      const taken = campaign.items.map(({ job_id }) => job_id).sort((a, b) => a - b);
      const found = taken.find((job) => theirs.has(job));
      if (found !== undefined) return { taken: found };
      const id = campaigns.size + 1;
      campaigns.set(id, { id, revision: 1, data: campaignData(campaign) });
      return { id };
    },
    async readCampaign(id) {
      const found = open().campaigns.get(id);
      return found === undefined ? null : readStoredCampaign(found);
    },
    listCampaigns: async ({ unfinished, limit }) =>
      all()
        .filter((campaign) => unfinished === undefined || isUnfinished(campaign))
        .slice(0, limit),
    async writeCampaign(campaign) {
      const { campaigns } = open();
      const { id, revision } = campaign;
      if (campaigns.get(id)?.revision !== revision) return false;
      campaigns.set(id, { id, revision: revision + 1, data: campaignData(campaign) });
      return true;
    },
  };
}
