import { setTimeout as delay } from "node:timers/promises";
import { DarumaError } from "../../../core/errors/errors.js";
import { counted } from "../../../core/text/amount-text.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import { commandLine } from "../../declare/command-words.js";
import type { Given, Present } from "../../declare/presenter.js";
import { LiveRegion } from "../../render/live-region.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { firstSignal } from "../../terminal/signals.js";
import { type Campaign, campaignLines, itemName } from "../look/campaigns.js";

type Started = OutputOf<"start_campaign">;

const POLL_MS = 500;
const BAR_WIDTH = 30;

/** Starts one and follows it; whoever leaves does not end it. */
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
  const lines = left_out.map(({ job_id, because }) => `  left out: job ${job_id}, ${because}`);
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

const FILTERS = {
  ...{ signature: "signature", workflow: "workflow", step: "step", class: "class", since: "since" },
} as const;
const CAMPAIGN = {
  ...{ canary: "canary", factor: "factor", rate: "rate", stopAt: "stop_at", wait: "wait" },
} as const;
/** What is for jobs that are named. */
const OF_NAMED_JOBS = ["all", "force", "key", "scope", "complete", "memory", "runtime"] as const;

/** The jobs are chosen by what they failed with, not by their names. */
export function choosesByFailure(flags: Given["flags"]): boolean {
  return Object.keys(FILTERS).some((flag) => flags[flag] !== undefined);
}

/** Of a command that was given names: the flags of a campaign would be passed over in silence. */
export function refuseCampaignFlags(flags: Given["flags"]): void {
  const flag = [...Object.keys({ ...FILTERS, ...CAMPAIGN }), "detach"].find(
    (each) => flags[each] !== undefined,
  );
  if (flag !== undefined)
    throw new DarumaError("USAGE", `${typed(flag)} cannot be combined with the name of a job`, {
      hint: "Name the job, or choose failed jobs by --signature, --workflow, --step, --class and --since.",
    });
}

/** The same as a campaign: with what the command's own name says about which jobs and what happens to them. */
export const startFiltered = (
  given: Given,
  session: Session,
  client: Client,
  preset: Pick<InputOf<"start_campaign">, "action" | "kind" | "run_id">,
): Promise<number> => {
  const { flags } = given;
  const refused = OF_NAMED_JOBS.find((flag) => flags[flag] !== undefined);
  if (refused !== undefined)
    throw new DarumaError("USAGE", `${typed(refused)} is for jobs that are named`, {
      hint: "Name the jobs, or leave it out.",
    });
  const fields = { ...FILTERS, ...CAMPAIGN, reason: "reason", hint: "hint", dryRun: "dry_run" };
  const said = Object.entries(fields).flatMap(([flag, field]) =>
    flags[flag] === undefined ? [] : [[field, flags[flag]] as const],
  );
  const input = { ...preset, ...Object.fromEntries(said) };
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

/** On a terminal one line that changes, elsewhere a line for each change. */
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
