import { z } from "zod";
import {
  type Breaker,
  type BreakerPolicy,
  type BreakerState,
  type BreakerUser,
  closeByHand,
  countFailures,
  nextProbeAt,
  openByHand,
  ownKey,
  spentAt,
  stateOf,
} from "../../core/breakers/breaker.js";
import { DarumaError } from "../../core/errors/errors.js";
import { DEFAULT_BREAKER, type NotifyRule } from "../../core/model/definition.js";
import { openingNotices, rulesFor } from "../../run/engine/breakers/breaker-notices.js";
import { BREAKERS, openBreakers, readBreaker } from "../../run/engine/breakers/breaker-rows.js";
import { iso } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import { type Answer, operation } from "../operation.js";
import { nameOfPrincipal } from "../put-command.js";
import { key } from "../schemas.js";
import { storedDefinition } from "../workflows/stored-workflows.js";

const MAX_NAME_CHARS = 400;
const MAX_REASON_CHARS = 1_000;
/** Limit for workflows whose rules are read. */
const MAX_WORKFLOWS = 1_000;

const state = z.enum(["closed", "open", "spent"]);
const time = z.string().nullable();

const item = z.object({
  name: z.string(),
  shared: z.boolean(),
  state,
  since: time,
  by: z.string().nullable(),
  reason: z.string().nullable(),
  failures: z.number(),
  next_probe_at: time,
  probe: z.object({ run_id: z.number(), job_id: z.number(), since: z.string() }).nullable(),
  spent_at: time,
  openings: z.number(),
  policy: z.object({
    failures: z.number(),
    within_ms: z.number(),
    classes: z.array(z.string()),
    probe_every_ms: z.number(),
    max_open_ms: z.number(),
    release_per_second: z.number(),
  }),
});

export const listBreakers = operation({
  name: "list_breakers",
  summary: "list the breakers, and which of them are open",
  description:
    "Lists breakers: `open` ones keep the steps that use them waiting, `spent` ones were open too long and stop nothing.",
  details:
    "A breaker of the settings is shared by all workflows; one of a workflow file is that workflow's own and is called WORKFLOW/NAME. It is listed once a run has used it.",
  role: "viewer",
  audience: "people",
  effect: "reads",
  input: z.strictObject({}),
  output: z.object({ items: z.array(item) }),
  rest: { method: "GET", path: "/breakers" },
  cli: [{ words: "breakers", positional: [], examples: ["daruma breakers"] }],
  store: "optional",
  async handler({ store, breakers = [], now }) {
    const { rows, at } = await store.readShared(BREAKERS, null, now());
    const policies = new Map<string, BreakerPolicy>(breakers.map((each) => [each.name, each]));
    const found = new Map(rows.map((row) => [row.name, readBreaker(row, DEFAULT_BREAKER)]));
    for (const [name, policy] of policies)
      if (!found.has(name)) found.set(name, readBreaker(undefined, policy));
    const named = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      items: named.map(([name, breaker]) => itemOf(name, breaker, policies.get(name) ?? breaker.policy, at)),
    };
  },
});

export const controlBreaker = operation({
  name: "control_breaker",
  summary: "open or close a breaker by hand",
  description:
    "Opens a breaker, so that the steps that use it wait (before maintenance, say), or closes it. What was opened by hand stays open until it is closed by hand.",
  role: "operator",
  audience: "people",
  effect: "changes",
  idempotent: true,
  input: z.strictObject({
    name: z
      .string()
      .min(1)
      .max(MAX_NAME_CHARS)
      .describe("A breaker's name; WORKFLOW/NAME for a workflow's own."),
    action: z.enum(["open", "close"]).describe("What to do."),
    reason: z.string().trim().min(1).max(MAX_REASON_CHARS).describe("The reason; it is shown to others."),
    key,
  }),
  output: z.object({ name: z.string(), was: state, state }),
  rest: { method: "POST", path: "/breakers/{name}", lastTakesSlashes: true },
  cli: [
    {
      words: "breakers open",
      positional: ["name"],
      preset: { action: "open" },
      summary: "open a breaker: all steps that use it wait until somebody closes it",
      examples: ['daruma breakers open payments-api --reason "maintenance until 14:00"'],
    },
    {
      words: "breakers close",
      positional: ["name"],
      preset: { action: "close" },
      summary: "close a breaker: the steps that wait for it continue",
      examples: ['daruma breakers close payments-api --reason "maintenance is over"'],
    },
  ],
  async handler(context, { name, action, reason }) {
    const { store, now, principal } = context;
    const { key, policy } = await findBreaker(context, name);
    const rows = openBreakers(store, { now }, () => policy);
    const by = nameOfPrincipal(principal);
    const states: BreakerState[] = [];
    const rules = await rulesAbout(context, key);
    await rows.changeOne(
      key,
      (breaker, at) => {
        states.push(stateOf(breaker, policy, at));
        return (action === "open" ? openByHand : closeByHand)(breaker, by, reason, at);
      },
      (before, after) => openingNotices(key, { before, after, notes: [], rules }),
    );
    return {
      name: key,
      was: states.at(-1)!,
      state: action === "open" ? ("open" as const) : ("closed" as const),
    };
  },
});

/** The rules of the settings, and of the newest versions of workflows with a step that uses the breaker. */
async function rulesAbout(
  { store, notify = [], breakers = [] }: Context,
  key: string,
): Promise<NotifyRule[]> {
  const shared = new Map(breakers.map((each) => [each.name, each]));
  const users: { readonly run: BreakerUser }[] = [];
  for (const row of await store.listWorkflows({ limit: MAX_WORKFLOWS })) {
    const { definition } = await storedDefinition(store, row);
    users.push({ run: { definition, workflow: row.name, options: { only: null, failure_routing: true } } });
  }
  return rulesFor(key, users, shared, notify);
}

function itemOf(name: string, breaker: Breaker, policy: BreakerPolicy, now: number): Answer<typeof item> {
  const { opened, closed, probe, openings } = breaker;
  const is = stateOf(breaker, policy, now);
  const last = opened ?? closed;
  const probeAt = nextProbeAt(breaker, policy);
  return {
    name,
    shared: !name.includes("/"),
    state: is,
    since: isoOrNull(is === "spent" ? spentAt(breaker, policy) : (last?.at ?? null)),
    by: last?.by ?? null,
    reason: last?.reason ?? null,
    failures: countFailures(breaker, policy, now),
    next_probe_at: isoOrNull(is === "open" && probe === null ? probeAt : null),
    probe: probe === null ? null : { run_id: probe.run, job_id: probe.job, since: iso(probe.at) },
    spent_at: isoOrNull(spentAt(breaker, policy)),
    openings,
    policy: {
      failures: policy.failures,
      within_ms: policy.withinMs,
      classes: policy.classes,
      probe_every_ms: policy.probeEveryMs,
      max_open_ms: policy.maxOpenMs,
      release_per_second: policy.releasePerSecond,
    },
  };
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}

/** Finds a breaker by its full name, or by its last part if that is unique. */
async function findBreaker(
  context: Context,
  name: string,
): Promise<{ readonly key: string; readonly policy: BreakerPolicy }> {
  const { store, breakers = [], now } = context;
  const { rows } = await store.readShared(BREAKERS, null, now());
  const shared = breakers.find((each) => each.name === name);
  if (shared !== undefined) return { key: name, policy: shared };
  const policyOf = (key: string): BreakerPolicy =>
    readBreaker(
      rows.find((row) => row.name === key),
      DEFAULT_BREAKER,
    ).policy;
  const keys = rows.map((row) => row.name);
  if (keys.includes(name)) return { key: name, policy: policyOf(name) };
  const own = keys.filter((key) => key.endsWith(`/${name}`));
  if (own.length === 1) return { key: own[0]!, policy: policyOf(own[0]!) };
  if (own.length > 1)
    throw new DarumaError("INVALID_INPUT", `several workflows have a breaker ${name}: ${own.join(", ")}`, {
      hint: "Give its whole name, such as WORKFLOW/NAME.",
    });
  const unused = await findUnused(context, name);
  if (unused === null) throw new DarumaError("BREAKER_NOT_FOUND", `there is no breaker ${name}`);
  return unused;
}

/** A workflow has it, and no run has used it yet. */
async function findUnused(
  { store }: Context,
  name: string,
): Promise<{ readonly key: string; readonly policy: BreakerPolicy } | null> {
  const cut = name.lastIndexOf("/");
  if (cut <= 0) return null;
  const [row] = await store.listWorkflows({ name: name.slice(0, cut), limit: 1 });
  if (row === undefined) return null;
  const { definition } = await storedDefinition(store, row);
  const policy = definition.breakers?.find((each) => each.name === name.slice(cut + 1));
  return policy === undefined ? null : { key: ownKey(row.name, policy.name), policy };
}
