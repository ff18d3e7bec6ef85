import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import type { Present } from "../../declare/declaration.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/columns.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export type Campaign = OutputOf<"list_campaigns">["items"][number];

/** A job in a campaign, with what became of it. */
export type CampaignResult = NonNullable<Campaign["results"]>[number];

/** The name of a job, such as `build`. Older campaigns recorded only its number. */
export function itemName({ step, scope, job_id }: CampaignResult): string {
  return step === "" ? `job ${job_id}` : oneLine(nameOf(step, scope));
}

export function campaignLines({ campaign, state, why, counts, total }: Campaign): string[] {
  const { good, bad, waiting, overtaken, refused } = counts;
  const parts = [
    `${good} of ${total} good`,
    ...(bad > 0 ? [`${bad} bad`] : []),
    ...(overtaken > 0 ? [`${overtaken} overtaken`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
    ...(waiting > 0 ? [`${waiting} not touched`] : []),
  ];
  return [`campaign ${campaign} is ${state}: ${parts.join(", ")}`, ...(why === null ? [] : [`  ${why}`])];
}

export const listCampaigns: Present = async ({ input }, { out, options }, client) => {
  const { items } = await client.call("list_campaigns", input as InputOf<"list_campaigns">);
  if (options.json) writeJson(out, items);
  else if (items.length === 0) writeLines(out, ["no campaigns"]);
  else {
    const rows = items.map((each) => [
      ...[String(each.campaign), each.state, each.action, clockTime(each.created_at), String(each.total)],
      ...[String(each.counts.good), String(each.counts.bad), oneLine(each.why ?? each.reason)],
    ]);
    const header = ["campaign", "state", "action", "since (UTC)", "jobs", "good", "bad", "why"];
    writeLines(out, tableLines(header, rows, out.width()));
  }
  return 0;
};

export const showCampaign: Present = async ({ input }, { out, options }, client) => {
  const { items } = await client.call("list_campaigns", input as InputOf<"list_campaigns">);
  const campaign = items[0]!;
  if (options.json) {
    writeJson(out, campaign);
    return 0;
  }
  const { results = [], left_out = [] } = campaign;
  const rows = results.map((item) => [
    ...[String(item.run_id), itemName(item), String(item.job_id), item.kind.replace("_", " ")],
    ...[waveName(item.wave), item.code === null ? item.state : `${item.state} (${item.code})`],
  ]);
  writeLines(out, [
    ...campaignLines(campaign),
    `  ${campaign.action} by ${oneLine(campaign.by)}: ${oneLine(campaign.reason)}`,
    ...tableLines(["run", "step", "job", "was", "wave", "result"], rows, out.width()),
    ...left_out.map(({ job_id, because }) => `left out: job ${job_id}, ${because}`),
  ]);
  return 0;
};

/** The name of a wave. The first one is the canary. */
function waveName(wave: number | null): string {
  if (wave === null) return "";
  return wave === 0 ? "canary" : String(wave);
}
