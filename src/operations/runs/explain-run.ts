import { isHandled } from "../../core/model/handled.js";
import type { Job, Run } from "../../core/model/run.js";
import { advice, adviceLines, commandOf } from "../../report/advice.js";
import { explainCommand } from "../../report/advised-commands.js";
import { explain } from "../../report/explain.js";
import { jobName, listNames } from "../../report/lookup/job-name.js";
import { interruptedRuns, ownerOf } from "../../report/lookup/run-owner.js";
import { type RunReference, requireRun, resolveRun } from "../../report/lookup/run-reference.js";
import { adviseOn } from "../../report/next-steps.js";
import type { Store } from "../../store/store.js";
import type { Context, Runner } from "../context.js";
import { storedDefinition } from "../workflows/stored-workflows.js";

interface ExplainRequest {
  readonly run_id: RunReference;
  readonly step?: string | undefined;
  readonly full: boolean;
}

const typed = (command: string): string => `daruma ${command}`;

/** Why a run went as it did, and what can be done about it. */
export async function explainRun({ store, runner }: Context, { run_id, step, full }: ExplainRequest) {
  const runId = await resolveRun(store, run_id);
  const row = await requireRun(store, runId);
  const interrupted = (await interruptedRuns(store, [row])).has(runId);
  const { definition } = await storedDefinition(store, { ...row, name: row.workflow });
  const story = explain(
    { runId, definition, log: await store.readEvents(runId) },
    { full, interrupted, ...(step === undefined ? {} : { step }) },
  );
  const { run } = story;
  const lines = [...story.lines, ...(runner === null ? [] : waitingForWorkers(run, runner))];
  const advised = adviseOn(run, {
    interrupted,
    owner: await ownerOf(store, runId),
    childRuns: await childRunsOf(store, run),
    asked: story.asked,
  });
  if (story.hasMore && advised.every(({ kind }) => kind !== "nothing"))
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
function waitingForWorkers(run: Run, runner: Runner): string[] {
  if (run.status !== "running" || run.ready.size === 0) return [];
  const byReason = new Map<string, Job[]>();
  for (const job of run.ready) {
    const reason = runner.whyNot(job.step.definition);
    byReason.set(reason, [...(byReason.get(reason) ?? []), job]);
  }
  return [
    "",
    ...[...byReason].map(([reason, jobs]) => `Ready and waiting: ${listNames(jobs, jobName)}; ${reason}.`),
  ];
}
