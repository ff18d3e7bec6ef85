import { randomUUID } from "node:crypto";
import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { FAILURE_CLASSES, isFailureClass } from "../../core/model/failure.js";
import { rollUpFor } from "../../run/engine/duties/duty.js";
import type { BookPlace } from "../../store/book-rows.js";
import { currentOwner, isDead } from "../../store/lease-owner.js";
import { readBook } from "../../tell/failure-book.js";
import { type Flake, findFlakes } from "../../tell/flakes.js";
import type { Context } from "../context.js";
import { moment, momentBefore } from "../moment.js";
import { operation } from "../operation.js";
import { limit, listOf, name } from "../schemas.js";
import {
  failureItem,
  failureState,
  signaturePrefix,
  signatureReference,
  storedJobName,
  toItems,
} from "./failure-item.js";

/** What nobody need look at now is left out unless somebody asks for it. */
const TOLD = ["new", "known", "regressed"] as const;
const LOCAL_ROLL_UP_MS = 2_000;

const input = z.strictObject({
  state: listOf(z.union([failureState, z.literal("all")]))
    .optional()
    .describe("new, known, muted, resolved, regressed or all; by default all but muted and resolved."),
  workflow: name.optional().describe("Only of this workflow."),
  step: z.string().max(10_000).optional().describe("Only of this step."),
  class: z
    .string()
    .refine(isFailureClass, `must be one of ${FAILURE_CLASSES.join(", ")}`)
    .optional()
    .describe("Only of this class, such as transient_runtime."),
  signature: signatureReference.optional(),
  since: moment.optional().describe("Only seen since: a duration such as 24h, or a date."),
  new_since: moment.optional().describe("Only seen for the first time since."),
  limit,
  after: z.string().max(50_000).optional().describe("`next` of the page before."),
});

export const listFailures = operation({
  name: "list_failures",
  summary: "list failures of all runs, each once, newest first",
  description:
    "Lists what runs have failed with, once by workflow, step and signature: how often, since when, and what rescued it before (`rescued_by`). New since yesterday: `state: new, new_since: 24h`.",
  details:
    "`rescues` has for everything that acted on it (a rung of the ladder, or a decision such as operator.retry) how many jobs it rescued and how many it did not (`not_rescued`). `completed_since` is the newest run of the workflow that completed after it was last seen. Runs that were pruned stay counted; imported runs are not counted. `next` is the `after` of the next page, null at the end.",
  role: "viewer",
  effect: "reads",
  input,
  output: z.object({
    items: z.array(failureItem),
    next: z.string().nullable(),
  }),
  rest: { method: "GET", path: "/failures" },
  cli: [
    {
      words: "failures",
      positional: [],
      examples: [
        "daruma failures",
        "daruma failures --state new --new-since 24h",
        "daruma failures --workflow release --class transient_runtime --json",
      ],
    },
  ],
  store: "optional",
  handler: list,
});

async function list(context: Context, request: z.output<typeof input>) {
  const { store, now } = context;
  await rollUpHere(context);
  const at = now();
  const { state = [...TOLD], workflow, step, signature, since, new_since, limit: most, after } = request;
  const states = state.filter((each) => each !== "all");
  const entries = await readBook(store, {
    now: at,
    limit: most,
    ...(state.includes("all") ? {} : { states }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(step === undefined ? {} : { step }),
    ...(request.class === undefined ? {} : { class: request.class }),
    ...(signature === undefined ? {} : { signature: signaturePrefix(signature) }),
    ...(since === undefined ? {} : { since: momentBefore(since, at) }),
    ...(new_since === undefined ? {} : { newSince: momentBefore(new_since, at) }),
    ...(after === undefined ? {} : { after: placeOf(after) }),
  });
  const last = entries.at(-1);
  const next = entries.length < most || last === undefined ? null : textOf(last);
  return { items: await toItems(store, entries, at), next };
}

/**
 * Rolls up the failure book on a command line, in case no server does it. A store that is read-only stays unchanged.
 */
export async function rollUpHere({ store, runner }: Pick<Context, "store" | "runner">): Promise<void> {
  if (runner !== null) return;
  try {
    await rollUpFor(LOCAL_ROLL_UP_MS, { store, owner: currentOwner(randomUUID()), isDead });
  } catch (error) {
    if (!(error instanceof DarumaError && error.code === "STORE_READ_ONLY")) throw error;
  }
}

const place = z.tuple([z.number(), z.string(), z.string(), z.string()]);

function textOf({ last_seen, workflow, step, signature }: BookPlace): string {
  return Buffer.from(JSON.stringify([last_seen, workflow, step, signature])).toString("base64url");
}

/** One that nobody was given names the end of the list. */
function placeOf(text: string): BookPlace {
  const read = place.safeParse(parseJson(Buffer.from(text, "base64url").toString("utf8")));
  const [last_seen, workflow, step, signature] = read.success ? read.data : [-1, "", "", ""];
  return { last_seen, workflow, step, signature };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const listFlakes = operation({
  name: "list_flakes",
  summary: "list steps that passed only because they were retried",
  description:
    "Lists flaky steps, costliest first: jobs that failed and then completed in the same run by retry alone, with their share of all jobs of the step, what that cost, and the trend.",
  details:
    "Other help (a repair, a rule, a person) does not count, nor does a lost worker. `cost_ms` is the time from the start of a job's first failed attempt to the start of the one that passed, of all flaky jobs together. `trend` compares the rate of the later half of the time with that of the earlier one: rising or falling by more than a quarter, steady, or new where no job of the step ended in the earlier half. Pruned runs are not counted.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    workflow: name.optional().describe("Only of this workflow."),
    since: moment.default("30d").describe("Since when: a duration such as 7d, or a date."),
    limit,
  }),
  output: z.object({
    since: z.string(),
    items: z.array(
      z.object({
        workflow: z.string(),
        step: z.string(),
        flaky: z.number(),
        jobs: z.number(),
        rate: z.number(),
        cost_ms: z.number(),
        trend: z.enum(["rising", "falling", "steady", "new"]),
        last_run: z.number(),
        last_job: z.number(),
        last_step: z.string().nullable(),
      }),
    ),
  }),
  rest: { method: "GET", path: "/flakes" },
  cli: [
    {
      words: "flakes",
      positional: [],
      examples: ["daruma flakes", "daruma flakes --workflow release --since 7d --json"],
    },
  ],
  store: "optional",
  handler: async ({ store, now }, { workflow, since, limit: most }) => {
    const at = now();
    const from = momentBefore(since, at);
    const flakes: Flake[] = await findFlakes(store, {
      since: from,
      until: at,
      ...(workflow === undefined ? {} : { workflow }),
    });
    const items = flakes
      .slice(0, most)
      .map(async (flake) => ({ ...flake, last_step: await storedJobName(store, flake.last_job) }));
    return { since: new Date(from).toISOString(), items: await Promise.all(items) };
  },
});
