import { randomUUID } from "node:crypto";
import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import {
  causePrefix,
  firesAt,
  type ScheduleState,
  setPaused,
  settleByHand,
  type TickCount,
} from "../../core/schedule/plan-ticks.js";
import { nextTick } from "../../core/schedule/ticks.js";
import { iso } from "../../core/text/iso-time.js";
import { DUTY_LEASE } from "../../store/lease-rules.js";
import { toStorableText } from "../../store/stored-text.js";
import { ownerOf } from "../../tell/lookup/run-owner.js";
import { type Answer, operation } from "../operation.js";
import { nameOfPrincipal } from "../put-command.js";
import { describeStarted, requireRunner, startedRun } from "../runs/started-run.js";
import { key, name, owner, reason } from "../schemas.js";
import { editSchedules, type ScheduleRows, scheduleRows, startScheduled } from "./schedule-rows.js";

const time = z.string().nullable();
const counted = z.object({ count: z.number(), last: time });

const item = z.object({
  workflow: z.string(),
  id: z.string(),
  version: z.number().describe("The version of the workflow that has it."),
  cron: z.string(),
  timezone: z.string(),
  overlap: z.enum(["skip", "allow"]),
  catch_up: z.enum(["none", "last", "all"]),
  jitter_ms: z.number(),
  paused: z.object({ by: z.string(), at: z.string(), reason: z.string() }).nullable(),
  next_at: time.describe("When the next run starts; null: it is paused, or never."),
  last: z
    .object({ tick: z.string().describe("When it was started, if that was by hand."), run_id: z.number() })
    .nullable()
    .describe("The last run that it started, or somebody by hand."),
  skipped: counted.describe("Ticks on which a run of it was not over."),
  missed: counted.describe("Ticks on which no server was running, and that were not made up for."),
  refused: z
    .object({ tick: z.string(), code: z.string(), message: z.string(), at: z.string() })
    .nullable()
    .describe("The last tick whose run could not be created; null once a later one could."),
});

export const listSchedules = operation({
  name: "list_schedules",
  summary: "list the schedules of published workflows",
  description:
    "Lists schedules: when each starts its next run, the last one it started, and the ticks that were skipped or missed.",
  details: "`owner` is the server that starts the runs; null: none is running, so none is started.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ workflow: name.optional().describe("Only of this workflow.") }),
  output: z.object({ items: z.array(item), owner }),
  rest: { method: "GET", path: "/schedules" },
  cli: [
    {
      words: "schedules",
      positional: ["[workflow]"],
      examples: ["daruma schedules", "daruma schedules release"],
    },
  ],
  store: "optional",
  async handler({ store, now }, { workflow }) {
    const rows = scheduleRows(store, { now });
    await rows.readAll();
    const named = rows
      .entries()
      .filter(([each]) => workflow === undefined || each === workflow)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      items: named.flatMap(([each, { version, schedules }]) =>
        schedules.map((state) => itemOf(each, version, state, rows.now())),
      ),
      owner: await ownerOf(store, DUTY_LEASE.schedules),
    };
  },
});

const schedule = {
  workflow: name.describe("The workflow's name."),
  id: z.string().min(1).max(100).describe("The schedule's id; `default` if it has none of its own."),
};

const EXAMPLES = {
  pause: [
    "daruma schedules pause release nightly",
    'daruma schedules pause release nightly --reason "the source is down"',
  ],
  resume: ["daruma schedules resume release nightly"],
} as const;

export const controlSchedule = operation({
  name: "control_schedule",
  summary: "pause or resume a schedule",
  description:
    "Pauses a schedule, or resumes it. Runs that it has started go on. Ticks of the time in which it was paused are not made up for.",
  details: "A pause stays when the workflow is published again.",
  role: "operator",
  effect: "changes",
  idempotent: true,
  input: z.strictObject({
    ...schedule,
    action: z.enum(["pause", "resume"]).describe("What to do."),
    reason: reason.describe("The reason; a pause shows it to others."),
    key,
  }),
  output: item,
  rest: { method: "POST", path: "/schedules/{workflow}/{id}/control" },
  cli: (["pause", "resume"] as const).map((action) => ({
    words: `schedules ${action}`,
    positional: ["workflow", "id"],
    preset: { action },
    summary: `${action} a schedule`,
    examples: EXAMPLES[action],
  })),
  async handler({ store, now, principal }, { workflow, id, action, reason: why }) {
    const rows = scheduleRows(store, { now });
    await requireSchedule(rows, workflow, id);
    const by = nameOfPrincipal(principal);
    await editSchedules(rows, workflow, (state, at) => {
      if (state.schedule.id !== id || (state.paused !== null) === (action === "pause")) return state;
      return setPaused(state, action === "pause" ? { by, at, reason: why } : null, at);
    });
    const { version, state } = await requireSchedule(rows, workflow, id);
    return itemOf(workflow, version, state, rows.now());
  },
});

export const runSchedule = operation({
  name: "run_schedule",
  summary: "start a run of a schedule now",
  description:
    "Starts a run of the newest published version with the inputs of the schedule, also while it is paused or a run of it is not over.",
  details:
    "The run counts as one of the schedule: with `overlap: skip` the next tick is skipped until it is over.",
  role: "operator",
  effect: "changes",
  makesRun: true,
  input: z.strictObject({
    ...schedule,
    key: key.describe("Repeating the same key starts nothing; the answer is the run it started."),
  }),
  output: startedRun,
  rest: { method: "POST", path: "/schedules/{workflow}/{id}/run", status: 201 },
  cli: [
    {
      words: "schedules run",
      positional: ["workflow", "id"],
      examples: ["daruma schedules run release nightly --server http://127.0.0.1:7420"],
    },
  ],
  async handler(context, { workflow, id, key: given }) {
    const rows = scheduleRows(context.store, { now: context.now });
    await requireSchedule(rows, workflow, id);
    const mark = `${causePrefix(workflow, id)}now-${toStorableText(given ?? randomUUID())}`;
    const { start } = requireRunner(context);
    const runId = await startScheduled({ store: context.store, start }, { workflow, id, mark });
    if (runId === null) throw notFound(workflow, id);
    await editSchedules(rows, workflow, (state, at) =>
      state.schedule.id === id ? settleByHand(state, runId, at) : state,
    );
    return describeStarted(context, runId);
  },
});

function itemOf(workflow: string, version: number, state: ScheduleState, now: number): Answer<typeof item> {
  const { schedule: defined, paused, last, skipped, missed, refused } = state;
  const { id, cron, timezone, overlap, catchUp, jitterMs } = defined;
  const next = paused === null ? nextTick(defined, Math.max(now, state.judged_to)) : null;
  return {
    ...{ workflow, id, version, cron, timezone, overlap, catch_up: catchUp, jitter_ms: jitterMs },
    paused: paused && { ...paused, at: iso(paused.at) },
    next_at: next === null ? null : iso(firesAt(defined, workflow, next)),
    last: last && { tick: iso(last.tick), run_id: last.run_id },
    skipped: countOf(skipped),
    missed: countOf(missed),
    refused: refused && { ...refused, tick: iso(refused.tick), at: iso(refused.at) },
  };
}

function countOf({ count, last }: TickCount): Answer<typeof counted> {
  return { count, last: last === null ? null : iso(last) };
}

async function requireSchedule(
  rows: ScheduleRows,
  workflow: string,
  id: string,
): Promise<{ readonly version: number; readonly state: ScheduleState }> {
  await rows.read([workflow]);
  const { version, schedules } = rows.get(workflow)!;
  const state = schedules.find((each) => each.schedule.id === id);
  if (state === undefined) throw notFound(workflow, id);
  return { version, state };
}

function notFound(workflow: string, id: string): DarumaError {
  return new DarumaError("SCHEDULE_NOT_FOUND", `the workflow ${workflow} has no schedule ${id}`);
}
