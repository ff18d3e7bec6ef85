import { isUnfinished } from "../../core/campaign/campaign.js";
import {
  type CampaignStore,
  campaignData,
  readStoredCampaign,
  type StoredCampaign,
} from "../campaign-rows.js";
import type { ReadVerbs, WriteVerbs } from "./protocol.js";
import type { Statements } from "./statements.js";
import type { ThreadClient } from "./thread-client.js";

type Stored = readonly [number, number, string];

const toStored = ([id, revision, data]: Stored): StoredCampaign => ({ id, revision, data });

export function createCampaignReads({
  row,
  rows,
}: Statements): Pick<ReadVerbs, "readCampaign" | "listCampaigns"> {
  return {
    readCampaign: (id) => {
      const found = row<Stored>("SELECT id, revision, data FROM campaign WHERE id = ?", id);
      return found === null ? null : toStored(found);
    },
    listCampaigns: (unfinished, limit) =>
      rows<Stored>(
        `SELECT id, revision, data FROM campaign ${unfinished ? "WHERE unfinished = 1" : ""} ORDER BY id DESC LIMIT ?`,
        limit,
      ).map(toStored),
  };
}

export function createCampaignWrites({
  run,
  row,
}: Statements): Pick<WriteVerbs, "createCampaign" | "writeCampaign"> {
  return {
    createCampaign: (data, jobIds) => {
      const jobs = JSON.stringify(jobIds);
      const taken = row<readonly [number]>(
        "SELECT job_id FROM campaign_job WHERE job_id IN (SELECT value FROM json_each(?)) ORDER BY job_id LIMIT 1",
        jobs,
      );
      if (taken !== null) return -taken[0];
      const { lastInsertRowid: id } = run(
        "INSERT INTO campaign (revision, unfinished, data) VALUES (1, 1, ?)",
        data,
      );
      run("INSERT INTO campaign_job (job_id, campaign_id) SELECT value, ? FROM json_each(?)", id, jobs);
      return id;
    },
    writeCampaign: ({ id, revision, data }, unfinished) => {
      const { changes } = run(
        "UPDATE campaign SET revision = revision + 1, unfinished = ?, data = ? WHERE id = ? AND revision = ?",
        ...[unfinished ? 1 : 0, data, id, revision],
      );
      if (changes === 1 && !unfinished) run("DELETE FROM campaign_job WHERE campaign_id = ?", id);
      return changes === 1;
    },
  };
}

export function createCampaignVerbs(thread: ThreadClient): CampaignStore {
  return {
    async createCampaign(campaign) {
      const jobIds = campaign.items.map(({ job_id }) => job_id);
      const id = await thread.call("createCampaign", campaignData(campaign), jobIds);
      return id < 0 ? { taken: -id } : { id };
    },
    async readCampaign(id) {
      const found = await thread.call("readCampaign", id);
      return found === null ? null : readStoredCampaign(found);
    },
    listCampaigns: async ({ unfinished, limit }) =>
      (await thread.call("listCampaigns", unfinished === true, limit)).map(readStoredCampaign),
    writeCampaign: (campaign) => {
      const { id, revision } = campaign;
      return thread.call(
        "writeCampaign",
        { id, revision, data: campaignData(campaign) },
        isUnfinished(campaign),
      );
    },
  };
}
