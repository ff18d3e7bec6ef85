import { setTimeout as delay } from "node:timers/promises";
import type { Client, InputOf } from "../../../operations/client.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/presenter.js";
import { LiveRegion } from "../../render/live-region.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { type Campaign, campaignLines } from "../look/campaigns.js";

const POLL_MS = 500;
const BAR_WIDTH = 30;
/** A campaign that stopped before its end. */
const STOPPED = 1;

/** Starts one and follows it; whoever leaves does not end it. */
export const startCampaign: Present = async ({ input, flags }, session, client) => {
  const { out, options } = session;
  const answer = await client.call("start_campaign", input as InputOf<"start_campaign">);
  const { campaign, items, left_out } = answer;
  if (options.json && (campaign === null || flags.detach === true)) {
    writeJson(out, answer);
    return 0;
  }
  if (!options.json) {
    const what = `${items.length} ${items.length === 1 ? "job" : "jobs"}`;
    const id = campaign === null ? "" : `campaign ${campaign}: `;
    writeLines(out, [
      `${id}${answer.dry_run ? `would take ${what}` : campaign === null ? "no job matches" : what}`,
      ...left_out.map(({ job_id, because }) => `  left out: job ${job_id}, ${because}`),
    ]);
  }
  if (campaign === null) return 0;
  if (flags.detach === true) {
    writeLines(out, [`see: ${commandLine(options, `campaigns show ${campaign}`)}`]);
    return 0;
  }
  return follow(client, session, campaign);
};

async function follow(client: Client, { out, err, options }: Session, id: number): Promise<number> {
  const region = err.isTerminal && !options.json ? new LiveRegion(err) : null;
  let told = "";
  for (;;) {
    const [campaign] = (await client.call("list_campaigns", { campaign: id })).items;
    const line = campaign === undefined ? "" : progressLine(campaign);
    if (region !== null) region.frame([], [line]);
    else if (line !== told && !options.json && !options.quiet) writeLines(err, [line]);
    told = line;
    if (campaign !== undefined && campaign.state !== "running" && campaign.state !== "paused") {
      region?.frame([], []);
      if (options.json) writeJson(out, campaign);
      else writeLines(out, campaignLines(campaign));
      return campaign.state === "done" && campaign.counts.bad === 0 ? 0 : STOPPED;
    }
    await delay(POLL_MS);
  }
}

function progressLine({ campaign, state, total, counts, wave }: Campaign): string {
  const ended = total - counts.waiting - counts.sent;
  const full = total === 0 ? BAR_WIDTH : Math.floor((ended / total) * BAR_WIDTH);
  const bar = `${"#".repeat(full)}${"-".repeat(BAR_WIDTH - full)}`;
  const where = wave === 0 ? "canary" : `wave ${wave}`;
  const word = state === "paused" ? " (paused)" : "";
  return `campaign ${campaign} [${bar}] ${ended} of ${total}, ${where}${word}: ${counts.good} good, ${counts.bad} bad`;
}

export const controlCampaign: Present = async ({ input }, { out, options }, client) => {
  const campaign = await client.call("control_campaign", input as InputOf<"control_campaign">);
  if (options.json) writeJson(out, campaign);
  else writeLines(out, campaignLines(campaign));
  return 0;
};
