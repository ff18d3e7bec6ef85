import { setTimeout as delay } from "node:timers/promises";
import { oneLine } from "../../../core/text/plain-text.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/presenter.js";
import { clockTime } from "../../render/clock-time.js";
import { LiveRegion } from "../../render/live-region.js";
import { tableLines } from "../../render/table.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";

type Campaign = OutputOf<"list_campaigns">["items"][number];

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

function campaignLines({ campaign, state, why, counts, total }: Campaign): string[] {
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
  const rows = results.map(({ run_id, job_id, kind, state, code, wave }) => [
    ...[String(run_id), String(job_id), kind.replace("_", " "), wave === null ? "" : String(wave)],
    code === null ? state : `${state} (${code})`,
  ]);
  writeLines(out, [
    ...campaignLines(campaign),
    `  ${campaign.action} by ${oneLine(campaign.by)}: ${oneLine(campaign.reason)}`,
    ...tableLines(["run", "job", "was", "wave", "result"], rows, out.width()),
    ...left_out.map(({ job_id, because }) => `left out: job ${job_id}, ${because}`),
  ]);
  return 0;
};

export const controlCampaign: Present = async ({ input }, { out, options }, client) => {
  const campaign = await client.call("control_campaign", input as InputOf<"control_campaign">);
  if (options.json) writeJson(out, campaign);
  else writeLines(out, campaignLines(campaign));
  return 0;
};
