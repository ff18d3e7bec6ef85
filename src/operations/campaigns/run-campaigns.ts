import {
  advanceCampaign,
  type Campaign,
  type CampaignItem,
  type ItemNow,
  isUntouched,
  itemsToSend,
  judgeItem,
  withItem,
} from "../../core/campaign/campaign.js";
import { DarumaError } from "../../core/errors/errors.js";
import type { OperatorCommand } from "../../core/model/commands.js";
import type { RunStatus } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";
import type { Context } from "../context.js";

export type CampaignPorts = Pick<Context, "store" | "operate" | "now">;

const MAX_CAMPAIGNS = 1_000;
const OVER: readonly RunStatus[] = ["completed", "failed", "canceled"];
/** Not a no: the same command is given again later, under the same key. */
const ASKED_AGAIN: readonly string[] = [
  "RUN_OWNED",
  "LEASE_LOST",
  "STORE_FAILED",
  "STORE_BUSY",
  "GROUP_BUSY",
];

/** One look at all campaigns. True: something has changed, so there may be more to do. */
export async function workOnCampaigns(ports: CampaignPorts): Promise<boolean> {
  let hasChanged = false;
  for (const { id } of await ports.store.listCampaigns({ unfinished: true, limit: MAX_CAMPAIGNS }))
    if (await workOn(ports, id)) hasChanged = true;
  return hasChanged;
}

/**
 * What is to be sent is on record before its command is given, and the command has a key of its own: after a crash the
 * commands of those that are still as they were are given again, and none is taken twice.
 */
async function workOn(ports: CampaignPorts, id: number): Promise<boolean> {
  const { store } = ports;
  const before = await store.readCampaign(id);
  if (before === null) return false;
  const look = lookAt(store);
  const judged = advanceCampaign(await judge(before, look, ports.now()));
  const next = advanceCampaign(await send(judged, look, ports.now()));
  const hasChanged = JSON.stringify(next) !== JSON.stringify(before);
  // Somebody has paused or stopped it meanwhile, so it is read again.
  if (hasChanged && !(await store.writeCampaign(next))) return true;
  const refused = next.state === "running" ? await giveCommands(ports, next, lookAt(store)) : new Map();
  if (refused.size > 0) await noteRefusals(store, id, refused);
  return hasChanged || refused.size > 0;
}

type Look = (item: CampaignItem) => Promise<ItemNow | null>;

function lookAt(store: Store): Look {
  const over = new Map<number, Promise<boolean>>();
  const isOver = async (runId: number): Promise<boolean> =>
    OVER.includes((await store.readRun(runId))?.status ?? "completed");
  return async ({ job_id, run_id }) => {
    const job = await store.readJob(job_id);
    if (job === null) return null;
    if (!over.has(run_id)) over.set(run_id, isOver(run_id));
    const { status, visit, attempt_id, handled } = job;
    return { status, visit, attempt_id, handled, isRunOver: await over.get(run_id)! };
  };
}

async function judge(campaign: Campaign, look: Look, now: number): Promise<Campaign> {
  let judged = campaign;
  for (const [place, item] of campaign.items.entries()) {
    if (item.state !== "sent") continue;
    const job = await look(item);
    if (isUntouched(item, job)) continue;
    const verdict = judgeItem(item, job, campaign.plan, now);
    if (verdict !== null) judged = withItem(judged, place, verdict);
  }
  return judged;
}

async function send(campaign: Campaign, look: Look, now: number): Promise<Campaign> {
  let sent = campaign;
  for (const place of itemsToSend(campaign, now)) {
    const item = campaign.items[place]!;
    const state = isUntouched(item, await look(item)) ? "sent" : "overtaken";
    const { wave } = campaign;
    sent = withItem(sent, place, state === "sent" ? { state, wave, sent_at: now } : { state, wave });
  }
  return sent;
}

/** The code with which each command was refused, by position. */
async function giveCommands(
  { operate }: CampaignPorts,
  campaign: Campaign,
  look: Look,
): Promise<Map<number, string>> {
  const refused = new Map<number, string>();
  for (const [place, item] of campaign.items.entries()) {
    if (item.state !== "sent" || !isUntouched(item, await look(item))) continue;
    try {
      await operate(item.run_id, commandFor(campaign, item, place));
    } catch (error) {
      if (!(error instanceof DarumaError)) throw error;
      if (!ASKED_AGAIN.includes(error.code)) refused.set(place, error.code);
    }
  }
  return refused;
}

function commandFor({ id, plan }: Campaign, item: CampaignItem, place: number): OperatorCommand {
  const { reason, by, action, hint } = plan;
  const told = hint === undefined ? {} : { hint };
  const signed = { reason, by, key: `campaign/${id}/${place + 1}` };
  const { job_id: job, kind } = item;
  if (kind === "hold")
    return { type: "holds.resolve", items: [{ job, action, output: null, items: null, ...told }], ...signed };
  return kind === "dead_letter"
    ? { type: "step.redrive", job, ...signed, ...told }
    : { type: "step.retry", job, ...signed, ...told };
}

async function noteRefusals(store: Store, id: number, refused: ReadonlyMap<number, string>): Promise<void> {
  for (;;) {
    const campaign = await store.readCampaign(id);
    if (campaign === null) return;
    let noted = campaign;
    for (const [place, code] of refused) noted = withItem(noted, place, { state: "refused", code });
    if (await store.writeCampaign(noted)) return;
  }
}
