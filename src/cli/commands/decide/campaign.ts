import { setTimeout as delay } from "node:timers/promises";
import { DarumaError } from "../../../core/errors/errors.js";
import { counted } from "../../../core/text/amount-text.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import { listNames } from "../../../tell/lookup/job-name.js";
import type { RunReference } from "../../../tell/lookup/run-reference.js";
import { commandLine } from "../../declare/command-words.js";
import type { Given, Present } from "../../declare/declaration.js";
import { topRunOf } from "../../remote/who-goes-on.js";
import { alike } from "../../render/failed-steps.js";
import { LiveRegion } from "../../render/live-region.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { firstSignal } from "../../terminal/signals.js";
import { type Campaign, campaignLines, itemName } from "../look/campaigns.js";

type StartInput = InputOf<"start_campaign">;
type Started = OutputOf<"start_campaign">;

const POLL_MS = 500;
const BAR_WIDTH = 30;

/** Starts a campaign and follows it. Interrupting this command does not end the campaign. */
export const startCampaign: Present = async ({ input, flags }, session, client) => {
  const { out, options } = session;
  const answer = await client.call("start_campaign", input as InputOf<"start_campaign">);
  const { campaign } = answer;
  const isLeft = flags.detach === true || answer.owner === null;
  if (options.json && (campaign === null || isLeft)) {
    writeJson(out, answer);
    return 0;
  }
  if (!options.json) writeLines(out, startedLines(answer));
  if (campaign === null) return 0;
  if (!isLeft) return follow(client, session, campaign);
  const waits =
    answer.owner === null ? ["No server is running. The campaign begins when one is started."] : [];
  writeLines(out, [...waits, `see: ${commandLine(options, `campaigns show ${campaign}`)}`]);
  return 0;
};

const MAX_TOLD = 20;

function startedLines({ campaign, dry_run, items, left_out }: Started): string[] {
  const what = counted(items.length, "job");
  const lines = leftOutLines(left_out);
  if (campaign !== null) return [`campaign ${campaign}: ${what}`, ...lines];
  if (items.length === 0) return ["no job matches", ...lines];
  const told = items.slice(0, MAX_TOLD).map((item) => `  run ${item.run_id}, ${itemName(item)}`);
  const more = items.length - told.length;
  return [
    dry_run ? `would take ${what}` : what,
    ...told,
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...lines,
  ];
}

/** Lists the jobs that were left out, grouped by reason. */
function leftOutLines(leftOut: Started["left_out"]): string[] {
  return alike(leftOut, ({ because }) => because).map((jobs) => {
    const word = jobs.length === 1 ? "job" : "jobs";
    return `  left out: ${word} ${listNames(jobs, ({ job_id }) => String(job_id))}: ${jobs[0]!.because}`;
  });
}

const FILTERS = {
  ...{ signature: "signature", workflow: "workflow", step: "step", class: "class", since: "since" },
} as const;
const CAMPAIGN = {
  ...{ canary: "canary", factor: "factor", rate: "rate", stopAt: "stop_at", wait: "wait" },
} as const;
/** Flags that only apply to jobs given by name. */
const OF_NAMED_JOBS = {
  ...{ all: "all", force: "force", key: "key", scope: "scope", complete: "complete" },
  ...{ memory: "memory", runtime: "runtime", report: "report" },
} as const;

/** Whether the flags choose jobs by how they failed, not by their names. */
export function choosesByFailure(flags: Given["flags"]): boolean {
  return Object.keys(FILTERS).some((flag) => flags[flag] !== undefined);
}

/**
 * The ids of the jobs of one run that match the flags. Null if they need a campaign. A run that no server runs has no
 * campaigns: its jobs are decided at once, all of them or none.
 */
export async function chosenHere(
  client: Client,
  run: RunReference | undefined,
  flags: Given["flags"],
  preset: Pick<StartInput, "kind">,
): Promise<string[] | null> {
  if (run === undefined) return null;
  const { run_id } = await client.call("get_run_definition", { run_id: run });
  if ((await topRunOf(client, run_id)).managed) return null;
  refuse(flags, { ...CAMPAIGN, detach: "detach" }, "is for campaigns, which only runs of a server have", {
    hint: "Leave it out: all jobs of this run that match are decided at once.",
  });
  // Lists the matching jobs, because a dry run of a campaign leaves all of them out.
  const looked = { ...preset, ...inputOf(flags, FILTERS), run_id, dry_run: true } as StartInput;
  const { left_out } = await client.call("start_campaign", looked);
  if (left_out.length > 0) return left_out.map(({ job_id }) => String(job_id));
  throw new DarumaError("NOT_RETRYABLE", `no job of run ${run_id} that failed or is held matches`, {
    hint: `\`daruma jobs ${run_id} --status failed,held\` lists them.`,
  });
}

function inputOf(flags: Given["flags"], fields: { readonly [flag: string]: string }): object {
  const said = Object.entries(fields).filter(([flag]) => flags[flag] !== undefined);
  return Object.fromEntries(said.map(([flag, field]) => [field, flags[flag]]));
}

/** Refuses flags of a campaign if jobs are given by name, since they would have no effect. */
export function refuseCampaignFlags(flags: Given["flags"]): void {
  refuse(flags, { ...FILTERS, ...CAMPAIGN, detach: "detach" }, "cannot be combined with the name of a job", {
    hint: "Name the job, or choose failed jobs by --signature, --workflow, --step, --class and --since.",
  });
}

function refuse(
  flags: Given["flags"],
  names: { readonly [flag: string]: string },
  why: string,
  { hint }: { readonly hint: string },
): void {
  const flag = Object.keys(names).find((each) => flags[each] !== undefined);
  if (flag !== undefined) throw new DarumaError("USAGE", `${typed(flag)} ${why}`, { hint });
}

/** Starts a campaign from another command, whose name decides which jobs are meant and what happens to them. */
export const startFiltered = (
  given: Given,
  session: Session,
  client: Client,
  preset: Pick<StartInput, "action" | "kind" | "run_id">,
): Promise<number> => {
  const { flags } = given;
  refuse(flags, OF_NAMED_JOBS, "is for jobs that are named", { hint: "Name the jobs, or leave it out." });
  const fields = { ...FILTERS, ...CAMPAIGN, reason: "reason", hint: "hint", dryRun: "dry_run" };
  const input = { ...preset, ...inputOf(flags, fields) };
  return startCampaign({ ...given, input }, session, client);
};

function typed(flag: string): string {
  return `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

async function follow(client: Client, session: Session, id: number): Promise<number> {
  const { out, err, options } = session;
  const leave = firstSignal().then(() => null);
  const bar = new Bar(session);
  for (;;) {
    const looked = client.call("list_campaigns", { campaign: id });
    const answer = await Promise.race([looked, leave]);
    const campaign = answer?.items[0];
    if (campaign !== undefined) bar.show(progressLine(campaign));
    if (campaign !== undefined && campaign.state !== "running" && campaign.state !== "paused") {
      bar.end();
      if (options.json) writeJson(out, campaign);
      else writeLines(out, campaignLines(campaign));
      return campaign.state === "done" && campaign.counts.bad === 0 ? EXIT.completed : EXIT.failed;
    }
    if (answer !== null && (await Promise.race([delay(POLL_MS, true), leave])) !== null) continue;
    bar.end();
    const commands = ["show", "pause", "stop"].map((word) => commandLine(options, `campaigns ${word} ${id}`));
    writeLines(err, [`campaign ${id} goes on without this command`, ...commands.map((each) => `  ${each}`)]);
    looked.catch(() => {});
    return EXIT.interrupted;
  }
}

/** Shows progress: one changing line on a terminal, elsewhere a new line for each change. */
class Bar {
  private readonly region: LiveRegion | null;
  private told = "";

  constructor(private readonly session: Session) {
    const { err, options } = session;
    this.region = err.isTerminal && !options.json && !options.quiet ? new LiveRegion(err) : null;
  }

  show(line: string): void {
    const { err, options } = this.session;
    if (this.region !== null) this.region.frame([], [line]);
    else if (line !== this.told && !options.json && !options.quiet) writeLines(err, [line]);
    this.told = line;
  }

  end(): void {
    this.region?.frame([], []);
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
