import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Definition } from "../../core/model/definition.js";
import type { LoggedEvent } from "../../core/model/events.js";
import { isHandled } from "../../core/model/handled.js";
import type { RunRow } from "../../core/model/rows.js";
import type { Run } from "../../core/model/run.js";
import { readPages } from "../../run/engine/load-run.js";
import { queuedText } from "../../run/engine/places/place-text.js";
import { runFolder } from "../../run/worker/attempt-paths.js";
import type { Store } from "../../store/store.js";
import { ADVICE_KINDS, advice, adviceLines, commandOf, explainCommand } from "../../tell/advice.js";
import { isToldInPart, readEventfulLog } from "../../tell/eventful-log.js";
import { explainTold } from "../../tell/explain.js";
import { handledInChildren } from "../../tell/handled-in-children.js";
import { type JobRecord, jobRecord } from "../../tell/job-record.js";
import { jobsCalled } from "../../tell/lookup/choose-job.js";
import { heldBelow } from "../../tell/lookup/held-below.js";
import { listNames, nameOf } from "../../tell/lookup/job-name.js";
import { isImported } from "../../tell/lookup/own-runs.js";
import { pastRun } from "../../tell/lookup/past-run.js";
import { interruptedRuns, ownerOf, runToResume } from "../../tell/lookup/run-owner.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import { adviseOn } from "../../tell/next-steps.js";
import { BudgetReader, RecoveryReader } from "../../tell/recovery-stories.js";
import { childText } from "../../tell/words/handled-text.js";
import { RunStoryReader } from "../../tell/words/job-story.js";
import { BUDGET_KINDS, type LeftBudget, sentenceOf } from "../../tell/words/left-budgets.js";
import type { Context } from "../context.js";
import { Waits, type WaitsFor, type WaitsForPlace, waitsFor, waitsOf } from "../jobs/waits-for.js";
import { type Answer, operation } from "../operation.js";
import { at, considered, flag, runReference, variables } from "../schemas.js";
import { storedDefinition } from "../workflows/stored-workflows.js";
import { interrupted, pastAt, recovery, waitsForPlace } from "./run-shapes.js";

const input = z.strictObject({
  run_id: runReference,
  step: z.string().optional().describe("Only this job: a step, step@scope or a job id."),
  full: flag.default(false).describe("Every job separately."),
  at,
});
type ExplainRequest = z.output<typeof input>;

const budgets = z
  .array(z.object({ kind: z.enum(BUDGET_KINDS), left: z.number(), of: z.number() }))
  .describe("The same for programs.");

export const explainRun = operation({
  name: "explain_run",
  summary: "explain why a run, or one step of it, went the way it did",
  description:
    "Explains why a run went the way it did: what failed, what was tried, what it blocks, and in `advice` what can be done now, as `calls` of operations. Jobs that failed alike are described once; `full` describes each, with every rung of the failure ladder, its reason and its cost. Read this first.",
  role: "viewer",
  effect: "reads",
  input,
  output: z.object({
    run_id: z.number(),
    step: z.string().nullable(),
    interrupted,
    at: pastAt,
    lines: z.array(z.string()).describe("The story."),
    waits_for: waitsForPlace,
    waiting: z
      .array(z.object({ job_id: z.number(), step: z.string(), scope: z.string(), waits_for: waitsFor }))
      .describe("Jobs that are ready or wait, and for what; the first 1,000."),
    recoveries: z
      .array(
        recovery.extend({
          error: z
            .object({
              code: z.string(),
              class: z.string(),
              message: z.string(),
              broke: z.string().describe("What broke, in a line."),
            })
            .nullable(),
          considered: z.array(considered).describe("Every rung that was looked at the first time."),
          cost: z.string().nullable().describe("What it took, as a sentence."),
          left: z.string().nullable().describe("The budgets that were left, as a sentence."),
          budgets,
          outcome: z
            .enum(["completed", "failed", "handled", "unhandled", "mixed"])
            .nullable()
            .describe("What came of it; null: nothing yet."),
        }),
      )
      .describe("Every recovery of the run with its number."),
    left: z
      .array(z.object({ attempt: z.number(), text: z.string().nullable(), budgets }))
      .describe(
        "The budgets that were left after each failed attempt of the job; empty unless `step` means one job.",
      ),
    advice: z
      .array(
        z.object({
          kind: z.enum(ADVICE_KINDS),
          text: z.string(),
          command: z.string().nullable().describe("The command to type; null if there is none."),
          argv: z.array(z.array(z.string())).describe("The same commands as lists of words after `daruma`."),
          calls: z
            .array(z.object({ operation: z.string(), input: variables }))
            .describe(
              "The same as operations with their input, to be called in this order; fork_run also takes the corrected text as `source`.",
            ),
        }),
      )
      .describe("What can be done about the run now, most important first."),
    text: z.string().describe("Story and advice, for people."),
  }),
  rest: { method: "GET", path: "/runs/{run_id}/explanation" },
  cli: [
    {
      words: "explain",
      positional: ["run_id", "[step]"],
      examples: [
        "daruma explain 3",
        "daruma explain last build",
        "daruma explain last 'visit@cities[1]' --full",
      ],
    },
  ],
  handler: explainAndAdvise,
});

const typed = (command: string): string => `daruma ${command}`;

/** Why a run went as it did, and what can be done about it. */
async function explainAndAdvise(context: Context, request: ExplainRequest) {
  const { run_id, step, full, at: seq } = request;
  const runId = await resolveRun(context.store, run_id);
  const past = seq === undefined ? null : await pastRun(context.store, runId, seq);
  const { store, runner } = past === null ? context : { store: past.store, runner: null };
  const row = await requireRun(store, runId);
  const interrupted = (await interruptedRuns(store, [row])).has(runId);
  const { told, recoveries, left, completed } = await tellRun(store, row, {
    step,
    readPatch: patchReader(context.outputDir, row),
  });
  const below = past === null ? await handledInChildren(store, row) : [];
  const held = past === null ? await heldBelow(store, row) : [];
  const story = explainTold(told, {
    full,
    below: below.length === 0 ? null : below.map(childText).join("; "),
    ...(held.length > 0 ? { stands: "held" } : interrupted ? { stands: "interrupted" } : {}),
    ...(completed === null ? {} : { completed }),
    ...(step === undefined ? {} : { step }),
  });
  const { run } = story;
  // Breakers and workers are as they are now, whatever was then.
  const waiting = past === null ? await waitingJobs(context, row) : [];
  const place = past === null ? ((await waitsOf(store, [row], context.now())).get(runId) ?? null) : null;
  const lines = [...story.lines, ...placeLines(place), ...waitingLines(waiting, runner !== null)];
  // Nothing can be done in the past.
  const advised =
    past !== null
      ? []
      : adviseOn(run, {
          interrupted,
          owner: await ownerOf(store, runId),
          top: await runToResume(store, row),
          below,
          heldBelow: held,
          childRuns: await childRunsOf(store, run),
          asked: story.asked,
        });
  if (past === null && story.hasMore && advised.every(({ kind }) => kind !== "nothing"))
    advised.push(
      advice(
        "explain",
        "See every rung that was considered, and why:",
        explainCommand(runId, { step, full: true }),
      ),
    );
  return {
    run_id: runId,
    step: step ?? null,
    interrupted,
    at: past?.at ?? null,
    lines,
    waits_for: place,
    waiting: waiting.map(({ id, step: of, scope, waits_for }) => ({
      job_id: id,
      step: of,
      scope,
      waits_for,
    })),
    recoveries: recoveries.map(({ considered, budgets, ...each }) => ({
      ...each,
      considered,
      budgets: numbersOf(budgets),
    })),
    left: left.map(({ attempt, budgets }) => ({
      attempt,
      text: sentenceOf(budgets),
      budgets: numbersOf(budgets),
    })),
    advice: advised.map(({ kind, text, argv, calls }) => ({
      kind,
      text,
      command: commandOf({ argv }, typed),
      argv: argv,
      calls: calls.map(({ operation, input }) => ({ operation, input: { ...input } })),
    })),
    text: [...lines, "", ...adviceLines(advised, typed)].join("\n"),
  };
}

type ReadPatch = (patch: string) => string | null;

/** The names of patches come from the log: no other file is opened. */
const PATCH_NAME = /^patches\/[a-z]+\/[\w-]+\.patch$/;
const MAX_PATCH_BYTES = 1024 * 1024;

/** Null for a patch that is not here, or too large for its lines to be counted. The log of an imported run is not ours. */
function patchReader(outputDir: string, row: RunRow): ReadPatch {
  const folder = runFolder(outputDir, row.id);
  return (patch) => {
    const file = join(folder, patch);
    if (isImported(row) || !PATCH_NAME.test(patch)) return null;
    const found = statSync(file, { throwIfNoEntry: false });
    return found?.isFile() !== true || found.size > MAX_PATCH_BYTES ? null : readFileSync(file, "utf8");
  };
}

function numbersOf(given: readonly LeftBudget[]): Answer<typeof budgets> {
  return given.map(({ kind, left, of }) => ({ kind, left, of }));
}

/** From here on most of a log is about jobs to which nothing happened. */
const MANY_JOBS = 2_000;

/**
 * A story needs the run as it was at each event, for its loops and budgets, so its log is folded, once. Of a large run only
 * what happened beside attempts that completed; `completed` then says how many there are.
 */
async function tellRun(
  store: Store,
  row: RunRow,
  { step, readPatch }: { readonly step: string | undefined; readonly readPatch: ReadPatch },
) {
  const { id: runId, tally } = row;
  const isLarge =
    tally !== null && Object.values(tally.jobs).reduce((sum, each) => sum + each, 0) > MANY_JOBS;
  const asked = step === undefined ? [] : await jobsCalled(store, runId, step);
  const [{ definition }, part] = await Promise.all([
    storedDefinition(store, { ...row, name: row.workflow }),
    isLarge ? readEventfulLog(store, runId, asked) : null,
  ]);
  const only = asked.length === 1 ? asked[0]! : null;
  if (part !== null && isToldInPart(definition)) {
    const heard = await tell(runId, definition, [part], { only, readPatch });
    // Jobs of closed branches are counted in the row, but not described.
    if (heard.told.run.jobs.every(({ scope }) => scope.open))
      return { ...heard, completed: tally!.jobs.completed ?? 0 };
  }
  const pages = readPages(store, runId, { afterSeq: 0 });
  return { ...(await tell(runId, definition, pages, { only, readPatch })), completed: null };
}

async function tell(
  runId: number,
  definition: Definition,
  pages: AsyncIterable<readonly LoggedEvent[]> | readonly (readonly LoggedEvent[])[],
  /** `only`: the job whose budgets are asked for. */
  { only, readPatch }: { readonly only: number | null; readonly readPatch: ReadPatch },
) {
  const teller = new RunStoryReader(runId, definition, readPatch);
  const recoveries = new RecoveryReader();
  const budgets = new BudgetReader(only);
  for await (const page of pages)
    for (const logged of page) {
      const heard = teller.hear(logged);
      recoveries.hear(logged, heard);
      budgets.hear(logged, heard);
    }
  return { told: teller.told(), recoveries: recoveries.recoveries, left: budgets.left };
}

/** The newest child run of each job that failed and was not handled. */
async function childRunsOf(store: Store, run: Run): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for (const job of run.failed) {
    if (job.step.definition.action.type !== "workflow" || isHandled(job)) continue;
    const [child] = await store.listRuns({ parentJob: job.id, limit: 1 });
    if (child !== undefined) found.set(job.id, child.id);
  }
  return found;
}

function placeLines(waits: WaitsForPlace | null): string[] {
  return waits === null
    ? []
    : ["", waits.kind === "child" ? `It ${waits.text}.` : `It has not started: ${queuedText(waits)}.`];
}

const MAX_WAITING = 1_000;

type WaitingJob = JobRecord & { readonly waits_for: WaitsFor };

async function waitingJobs(context: Context, run: RunRow): Promise<WaitingJob[]> {
  const { store } = context;
  const jobs = await store.listJobs({ runId: run.id, status: ["ready", "waiting"], limit: MAX_WAITING });
  const waits = new Waits(context);
  const found: WaitingJob[] = [];
  for (const row of jobs) {
    const job = jobRecord(run, row);
    const waits_for = await waits.of(run, job);
    if (waits_for !== null) found.push({ ...job, waits_for });
  }
  return found;
}

/** Waiting jobs by reason. What the story already says is left out. Only a server knows which workers exist. */
function waitingLines(jobs: readonly WaitingJob[], knowsWorkers: boolean): string[] {
  const byReason = new Map<string, WaitingJob[]>();
  for (const job of jobs) {
    const { kind, text } = job.waits_for;
    const isTold = kind === "breaker" || kind === "workspace" || (knowsWorkers && ROOM.has(kind));
    if (isTold) byReason.set(text, [...(byReason.get(text) ?? []), job]);
  }
  if (byReason.size === 0) return [];
  const lines = [...byReason].map(([reason, alike]) => {
    const names = listNames(alike, ({ step, scope }) => nameOf(step, scope));
    const what = alike[0]!.waits_for.kind === "breaker" ? "Waiting for a breaker" : "Ready and waiting";
    return `${what}: ${names}; ${reason}.`;
  });
  return ["", ...lines];
}

const ROOM: ReadonlySet<WaitsFor["kind"]> = new Set(["slot", "worker"]);
