import { z } from "zod";
import { isHandled } from "../../core/model/handled.js";
import type { Job, Run } from "../../core/model/run.js";
import { readPages } from "../../engine/load-run.js";
import { ADVICE_KINDS, advice, adviceLines, commandOf } from "../../report/advice.js";
import { explainCommand } from "../../report/advised-commands.js";
import { explainTold } from "../../report/explain.js";
import { jobName, listNames } from "../../report/lookup/job-name.js";
import { pastRun } from "../../report/lookup/past-run.js";
import { interruptedRuns, ownerOf } from "../../report/lookup/run-owner.js";
import { requireRun, resolveRun } from "../../report/lookup/run-reference.js";
import { adviseOn } from "../../report/next-steps.js";
import { RunTeller } from "../../report/words/job-story.js";
import type { Store } from "../../store/store.js";
import type { Context, Runner } from "../context.js";
import { operation } from "../operation.js";
import { at, flag, runReference, variables } from "../schemas.js";
import { storedDefinition } from "../workflows/stored-workflows.js";
import { interrupted, pastAt } from "./run-shapes.js";
import { waitingForBreakers } from "./waiting-for-breakers.js";

const input = z.strictObject({
  run_id: runReference,
  step: z.string().optional().describe("Only this job: a step, step@scope or a job id."),
  full: flag.default(false).describe("Every job separately."),
  at,
});
type ExplainRequest = z.output<typeof input>;

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

const NOTHING_BEHIND = { jobs: new Set<Job>(), lines: [] } as const;

const typed = (command: string): string => `daruma ${command}`;

/** Why a run went as it did, and what can be done about it. */
async function explainAndAdvise(context: Context, request: ExplainRequest) {
  const { run_id, step, full, at: seq } = request;
  const runId = await resolveRun(context.store, run_id);
  const past = seq === undefined ? null : await pastRun(context.store, runId, seq);
  const { store, runner } = past === null ? context : { store: past.store, runner: null };
  const row = await requireRun(store, runId);
  const interrupted = (await interruptedRuns(store, [row])).has(runId);
  const { definition } = await storedDefinition(store, { ...row, name: row.workflow });
  // A story needs the run as it was at each event, for its loops and budgets: the log is folded, once, page by page.
  const teller = new RunTeller(runId, definition);
  for await (const page of readPages(store, runId, { afterSeq: 0 }))
    for (const logged of page) teller.hear(logged);
  const story = explainTold(teller.told(), { full, interrupted, ...(step === undefined ? {} : { step }) });
  const { run } = story;
  // Breakers are as they are now, whatever was then.
  const behind = past === null ? await waitingForBreakers(context, run) : NOTHING_BEHIND;
  const lines = [
    ...story.lines,
    ...(behind.lines.length === 0 ? [] : ["", ...behind.lines]),
    ...(runner === null ? [] : waitingForWorkers(run, runner, behind.jobs)),
  ];
  // Nothing can be done in the past.
  const advised =
    past !== null
      ? []
      : adviseOn(run, {
          interrupted,
          owner: await ownerOf(store, runId),
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
    advice: advised.map(({ kind, text, argv, calls }) => ({
      kind,
      text,
      command: commandOf({ argv }, typed),
      argv: argv.map((words) => [...words]),
      calls: calls.map(({ operation, input }) => ({ operation, input: { ...input } })),
    })),
    text: [...lines, "", ...adviceLines(advised, typed)].join("\n"),
  };
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

/** Jobs that could begin and have no worker, by the reason. */
function waitingForWorkers(run: Run, runner: Runner, keptBack: ReadonlySet<Job>): string[] {
  const ready = [...run.ready].filter((job) => !keptBack.has(job));
  if (run.status !== "running" || ready.length === 0) return [];
  const byReason = new Map<string, Job[]>();
  for (const job of ready) {
    const reason = runner.whyNot(job, run.definition);
    byReason.set(reason, [...(byReason.get(reason) ?? []), job]);
  }
  return [
    "",
    ...[...byReason].map(([reason, jobs]) => `Ready and waiting: ${listNames(jobs, jobName)}; ${reason}.`),
  ];
}
