import { randomUUID } from "node:crypto";
import { isUnfinished } from "../../core/campaign/campaign.js";
import {
  type CampaignStore,
  campaignData,
  readStoredCampaign,
  type StoredCampaign,
} from "../campaign-rows.js";
import { type Database, toArrayLiteral } from "./database.js";

/** All or nothing: a job of another unfinished campaign leaves no row at all. The stamp finds one whose answer was lost. */
const CREATE = `
  WITH given AS (SELECT unnest($3::bigint[]) AS job_id),
  taken AS (SELECT campaign_job.job_id FROM campaign_job JOIN given USING (job_id) ORDER BY 1 LIMIT 1),
  made AS (
    INSERT INTO campaign (revision, unfinished, data, stamp)
      SELECT 1, true, $1, $2 WHERE NOT EXISTS (SELECT FROM taken) RETURNING id),
  put AS (INSERT INTO campaign_job (job_id, campaign_id) SELECT job_id, made.id FROM given, made)
  SELECT (SELECT id FROM made) AS id, (SELECT job_id FROM taken) AS taken`;

const WRITE = `
  WITH written AS (
    UPDATE campaign SET revision = revision + 1, unfinished = $4, data = $3, stamp = $5
      WHERE id = $1 AND revision = $2 RETURNING id),
  freed AS (DELETE FROM campaign_job USING written WHERE campaign_id = written.id AND NOT $4)
  SELECT id FROM written`;

/** Two who made campaigns over the same job at once. */
const UNIQUE_VIOLATION = "23505";

export function createCampaignVerbs(db: Database): CampaignStore {
  const read = (rows: readonly StoredCampaign[]) => rows.map(readStoredCampaign);
  return {
    createCampaign: async (campaign) => {
      const stamp = randomUUID();
      const jobs = toArrayLiteral(campaign.items.map(({ job_id }) => job_id));
      return db.work(async (session, isRepeated) => {
        if (isRepeated) {
          const [before] = await session.rows<{ id: number }>(
            "SELECT id FROM campaign WHERE stamp = $1",
            stamp,
          );
          if (before !== undefined) return { id: before.id };
        }
        for (;;) {
          try {
            const [made] = await session.rows<{ id: number | null; taken: number | null }>(
              CREATE,
              ...[campaignData(campaign), stamp, jobs],
            );
            return made?.id == null ? { taken: made?.taken ?? 0 } : { id: made.id };
          } catch (error) {
            if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
          }
        }
      });
    },
    async readCampaign(id) {
      const sql = "SELECT id, revision, data FROM campaign WHERE id = $1";
      return read(await db.rows<StoredCampaign>(sql, id))[0] ?? null;
    },
    async listCampaigns({ unfinished, limit }) {
      const where = unfinished === true ? "WHERE unfinished" : "";
      const sql = `SELECT id, revision, data FROM campaign ${where} ORDER BY id DESC LIMIT $1::bigint`;
      return read(await db.list<StoredCampaign>(sql, limit));
    },
    writeCampaign: (campaign) => {
      const stamp = randomUUID();
      const { id, revision } = campaign;
      return db.work(async (session, isRepeated) => {
        const cells = [id, revision, campaignData(campaign), isUnfinished(campaign), stamp];
        const written = await session.rows(WRITE, ...cells);
        if (written.length === 1 || !isRepeated) return written.length === 1;
        return (
          (await session.rows("SELECT 1 FROM campaign WHERE id = $1 AND stamp = $2", id, stamp)).length === 1
        );
      });
    },
  };
}
