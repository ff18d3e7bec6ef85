import type { Campaign } from "../../src/core/campaign/campaign.js";
import type { Event } from "../../src/core/model/events.js";

/** Commands of a campaign are about the jobs of its items alone, each under the key of its place, and taken once. */
export function aCampaignTouchesOnlyItsItems(
  campaign: Pick<Campaign, "id" | "items">,
  events: Iterable<Event>,
): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  for (const event of events) {
    const key = "key" in event ? event.key : null;
    if (key === null || !key.startsWith(`campaign/${campaign.id}/`)) continue;
    const item = campaign.items[Number(key.split("/")[2]) - 1];
    const jobs = jobsOf(event);
    if (item === undefined || jobs.some((job) => job !== item.job_id))
      found.push(`${event.type} with the key ${key} is about ${jobs.join(", ")}`);
    const mark = `${event.type} ${key}`;
    if (seen.has(mark)) found.push(`${mark} was taken twice`);
    seen.add(mark);
  }
  return found;
}

function jobsOf(event: Event): readonly number[] {
  if (event.type === "jobs.retried") return event.jobs;
  return "job" in event ? [event.job] : [];
}
