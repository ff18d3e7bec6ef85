import { z } from "zod";
import { type Campaign, type ItemState, isUnfinished } from "../../core/campaign/campaign.js";
import { DarumaError } from "../../core/errors/errors.js";
import { FAILURE_CLASSES, isFailureClass } from "../../core/model/failure.js";
import { iso } from "../../core/text/iso-time.js";
import { DUTY_LEASE } from "../../store/lease-rules.js";
import { ownerOf } from "../../tell/lookup/run-owner.js";
import { resolveRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";
import { signaturePrefix, signatureReference } from "../failures/failure-item.js";
import { moment, momentBefore } from "../moment.js";
import { type Answer, operation } from "../operation.js";
import { hintSaid, redactorOver, refuseHint } from "../operator-words.js";
import { nameOfPrincipal } from "../put-command.js";
import { duration, flag, hint, key, limit, listOf, name, owner, reason, runReference } from "../schemas.js";
import { findItems, type ItemFilter } from "./find-items.js";

const MAX_ITEMS = 10_000;
const MAX_TRIES = 50;
/** How many campaigns, newest first, are looked at for one that a key has begun. */
const MAX_KEYS_READ = 200;

const counts = z.object({
  waiting: z.number(),
  sent: z.number(),
  good: z.number(),
  bad: z.number(),
  overtaken: z.number(),
  refused: z.number(),
});

const record = z.object({
  campaign: z.number(),
  state: z.enum(["running", "paused", "stopped", "done"]),
  why: z.string().nullable(),
  action: z.enum(["retry", "fail", "skip"]),
  reason: z.string(),
  by: z.string(),
  created_at: z.string(),
  wave: z.number(),
  total: z.number(),
  counts,
});

const kind = z.enum(["hold", "failed", "dead_letter"]);

const item = z.object({
  run_id: z.number(),
  job_id: z.number(),
  step: z.string(),
  scope: z.string(),
  kind,
  state: z.enum(["waiting", "sent", "good", "bad", "overtaken", "refused"]),
  code: z.string().nullable(),
  wave: z.number().nullable(),
});

type CampaignResult = Answer<typeof item>;

const leftOut = z.array(z.object({ job_id: z.number(), because: z.string() }));

function toRecord(campaign: Campaign): Answer<typeof record> {
  const { id, state, why, plan, created_at, wave, items } = campaign;
  const of = (wanted: ItemState): number => items.filter((each) => each.state === wanted).length;
  return {
    ...{ campaign: id, state, why, action: plan.action, reason: plan.reason, by: plan.by },
    ...{ created_at: iso(created_at), wave, total: items.length },
    counts: {
      ...{ waiting: of("waiting"), sent: of("sent"), good: of("good"), bad: of("bad") },
      ...{ overtaken: of("overtaken"), refused: of("refused") },
    },
  };
}

const startInput = z.strictObject({
  action: z
    .enum(["retry", "fail", "skip"])
    .default("retry")
    .describe("What to do with the jobs; only held jobs can be failed or skipped."),
  signature: signatureReference.optional(),
  workflow: name.optional().describe("Only of this workflow."),
  step: z.string().max(10_000).optional().describe("Only of this step."),
  class: z
    .string()
    .refine(isFailureClass, `must be one of ${FAILURE_CLASSES.join(", ")}`)
    .optional()
    .describe("Only jobs that failed with this class."),
  since: moment.optional().describe("Failed since: a duration such as 24h, or a date."),
  run_id: runReference.optional().describe("Only of this run: its number, or last."),
  kind: listOf(kind).optional().describe("Only hold, failed or dead_letter; by default all of them."),
  job_ids: z.array(z.number().int().positive()).max(MAX_ITEMS).optional().describe("Only these jobs."),
  canary: z.coerce.number().int().min(1).max(MAX_ITEMS).default(1).describe("How many jobs to try first."),
  factor: z.coerce.number().min(1).max(100).default(2).describe("How much larger each wave is."),
  rate: z
    .string()
    .regex(/^[1-9]\d{0,4}\/min$/, "must be a number a minute, such as 20/min")
    .optional()
    .describe("At most this many jobs, such as 20/min."),
  stop_at: z
    .string()
    .regex(/^(?:100|\d{1,2})%$/, "must be a share, such as 20%")
    .default("20%")
    .describe("Stop if more than this share of a wave fails again."),
  wait: duration.prefault("1h").describe("A job that has not ended by then counts as failed."),
  reason,
  hint: hint.describe("For retry: text for the steps' next attempts, the same for all items."),
  dry_run: flag.default(false).describe("Only list the jobs."),
  key,
});

export const startCampaign = operation({
  name: "start_campaign",
  summary: "retry or decide the failed jobs of many runs at once, a canary first",
  description:
    "Retries (or, if they are held, fails or skips) all failed jobs that match, of runs on a server: first a canary, then waves of 2, 4, 8. Stops if the canary or too many of a wave fail again. Use `dry_run` first.",
  details:
    "Items are holds, failures that nothing handled, and dead letters, as they are when it begins. An item that somebody else decides before its turn is `overtaken`; one that cannot be retried is `refused` with its code; neither counts, and the next item takes its place. Good: the job completed, or its failure was handled. Bad: it failed or is held again, or has not ended within `wait`. Runs of `daruma run`, and child runs whose parent is over, are left out and listed. A job is in one unfinished campaign at a time (IN_CAMPAIGN); people may still decide it. `campaign` is null where nothing matches, and in a dry run. A server does the work; a crash repeats nothing.",
  role: "operator",
  effect: "changes",
  idempotent: true,
  input: startInput,
  output: z.object({
    campaign: z.number().nullable(),
    dry_run: z.boolean(),
    items: z.array(item),
    left_out: leftOut,
    owner: owner.describe("The server that does the work; null: none is running, it begins when one does."),
  }),
  rest: { method: "POST", path: "/campaigns" },
  cli: [
    {
      words: "campaigns start",
      positional: [],
      examples: [
        'daruma campaigns start --signature 3f9a01bc --reason "the registry is back"',
        "daruma campaigns start --workflow release --since 24h --dry-run",
      ],
    },
  ],
  actsOn: ({ run_id }) => (run_id === undefined ? [] : [{ run: run_id }]),
  handler: start,
});

type StartRequest = z.output<typeof startInput>;

async function start(context: Context, request: StartRequest) {
  const { store, now } = context;
  const { action, dry_run } = request;
  refuseHint(request.hint, action, action === "retry");
  const at = now();
  const begun = dry_run ? null : await begunBefore(context, request);
  if (begun !== null) return begun;
  const found = await findItems(store, await filterOf(store, request, at), action);
  if (found.items.length > MAX_ITEMS)
    throw new DarumaError(
      "INVALID_INPUT",
      `${found.items.length} jobs match; a campaign has at most ${MAX_ITEMS}`,
    );
  const shown = {
    ...{ dry_run, items: found.items.map(toItem), left_out: found.leftOut },
    owner: await ownerOf(store, DUTY_LEASE.campaigns),
  };
  if (dry_run || found.items.length === 0) return { campaign: null, ...shown };
  const redactor = await redactorOver(store, [...new Set(found.items.map((each) => each.run_id))]);
  const made = await store.createCampaign({
    ...{ state: "running", why: null, created_at: at, wave: 0 },
    plan: {
      ...{ action, canary: request.canary, factor: request.factor, wait_ms: request.wait },
      per_minute: request.rate === undefined ? null : Number.parseInt(request.rate, 10),
      stop_at: Number.parseInt(request.stop_at, 10) / 100,
      ...{ reason: redactor.redact(request.reason), by: nameOfPrincipal(context.principal) },
      ...hintSaid(request.hint, redactor),
      ...(request.key === undefined ? {} : { key: request.key }),
    },
    items: found.items,
    left_out: found.leftOut,
  });
  if ("taken" in made)
    throw new DarumaError("IN_CAMPAIGN", `job ${made.taken} is in a campaign that is not over`);
  return { campaign: made.id, ...shown };
}

/** What this key began before the process that began it could write its answer down. */
async function begunBefore({ store }: Context, { key: given }: StartRequest) {
  const campaigns = given === undefined ? [] : await store.listCampaigns({ limit: MAX_KEYS_READ });
  const begun = campaigns.find(({ plan }) => plan.key === given);
  if (begun === undefined) return null;
  const items = begun.items.map((each) => toItem({ ...each, state: "waiting", code: null, wave: null }));
  const owner = await ownerOf(store, DUTY_LEASE.campaigns);
  return { campaign: begun.id, dry_run: false, items, left_out: begun.left_out, owner };
}

async function filterOf(store: Context["store"], request: StartRequest, at: number): Promise<ItemFilter> {
  const { signature, workflow, step, since, run_id, kind: kinds, job_ids } = request;
  if ([signature, workflow, step, request.class, since, run_id, job_ids].every((each) => each === undefined))
    throw new DarumaError("INVALID_INPUT", "say which failed jobs", {
      hint: "Give a signature, workflow, step, class, time, run or job ids.",
    });
  return {
    ...(signature === undefined ? {} : { signature: signaturePrefix(signature) }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(step === undefined ? {} : { step }),
    ...(request.class === undefined ? {} : { class: request.class }),
    ...(since === undefined ? {} : { since: momentBefore(since, at) }),
    ...(run_id === undefined ? {} : { runId: await resolveRun(store, run_id) }),
    ...(kinds === undefined ? {} : { kinds }),
    ...(job_ids === undefined ? {} : { jobIds: job_ids }),
  };
}

function toItem({ step = "", scope = "root", ...item }: Campaign["items"][number]): CampaignResult {
  const { run_id, job_id, kind, state, code, wave } = item;
  return { run_id, job_id, step, scope, kind, state, code, wave };
}

export const listCampaigns = operation({
  name: "list_campaigns",
  summary: "list campaigns, newest first, or show one with its items",
  description: "Lists campaigns, or one with the result of each item.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    campaign: z.coerce.number().int().positive().optional().describe("Only this one, with its items."),
    limit,
  }),
  output: z.object({
    items: z.array(record.extend({ results: z.array(item).optional(), left_out: leftOut.optional() })),
  }),
  rest: { method: "GET", path: "/campaigns" },
  cli: [
    {
      words: "campaigns list",
      positional: [],
      summary: "list campaigns, newest first",
      examples: ["daruma campaigns list"],
    },
    {
      words: "campaigns show",
      positional: ["campaign"],
      summary: "show one campaign with the result of each item",
      examples: ["daruma campaigns show 1"],
    },
  ],
  store: "optional",
  handler: async ({ store }, { campaign, limit: most }) => {
    if (campaign === undefined) return { items: (await store.listCampaigns({ limit: most })).map(toRecord) };
    const found = await requireCampaign(store, campaign);
    return {
      items: [{ ...toRecord(found), results: found.items.map(toItem), left_out: found.left_out }],
    };
  },
});

async function requireCampaign(store: Context["store"], id: number): Promise<Campaign> {
  const found = await store.readCampaign(id);
  if (found === null) throw new DarumaError("CAMPAIGN_NOT_FOUND", `there is no campaign ${id}`);
  return found;
}

export const controlCampaign = operation({
  name: "control_campaign",
  audience: "people",
  summary: "pause, resume or stop a campaign",
  description: "Pauses, resumes or stops a campaign; what it has begun goes on.",
  details: "A stopped campaign stays stopped: what it has not begun is left as it is, and can be in another.",
  role: "operator",
  effect: "changes",
  idempotent: true,
  input: z.strictObject({
    action: z.enum(["pause", "resume", "stop"]).describe("What to do."),
    campaign: z.coerce.number().int().positive().describe("The campaign's number."),
    key,
  }),
  output: record,
  rest: { method: "POST", path: "/campaigns/{campaign}/control" },
  cli: (["pause", "resume", "stop"] as const).map((action) => ({
    words: `campaigns ${action}`,
    positional: ["campaign"],
    preset: { action },
    summary: `${action} a campaign`,
    examples: [`daruma campaigns ${action} 1`],
  })),
  handler: async ({ store, principal }, { action, campaign: id }) => {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const campaign = await requireCampaign(store, id);
      if (!isUnfinished(campaign))
        throw new DarumaError("CAMPAIGN_OVER", `campaign ${id} is ${campaign.state}`);
      const state = ({ pause: "paused", resume: "running", stop: "stopped" } as const)[action];
      const why = action === "stop" ? `stopped by ${nameOfPrincipal(principal)}` : campaign.why;
      if (campaign.state === state) return toRecord(campaign);
      if (await store.writeCampaign({ ...campaign, state, why }))
        return toRecord({ ...campaign, state, why });
    }
    throw new DarumaError("STORE_FAILED", `others keep changing campaign ${id}`);
  },
});
