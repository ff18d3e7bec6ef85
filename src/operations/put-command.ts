import { randomUUID } from "node:crypto";
import { z } from "zod";
import { decide } from "../core/decide/decide.js";
import { refusedWhereNobodyRuns } from "../core/decide/operator.js";
import { type CommandOutcome, takeCommand } from "../core/decide/take-command.js";
import type { OperatorCommand } from "../core/model/commands.js";
import type { JobRow } from "../core/model/rows.js";
import type { Run } from "../core/model/run.js";
import { systemClock } from "../run/engine/clock.js";
import { loadRun } from "../run/engine/load-run.js";
import type { Store } from "../store/store.js";
import { findJob, type JobRequest } from "../tell/lookup/choose-job.js";
import { ownerOf, type RunOwner } from "../tell/lookup/run-owner.js";
import { programGoesOn } from "../tell/lookup/run-program.js";
import { outcomeOf } from "./command-outcome.js";
import type { Context, Principal } from "./context.js";
import type { Answer } from "./operation.js";
import { hintSaid, redactorFor, type TypedWords } from "./operator-words.js";
import { jobChange, owner, runStatus } from "./schemas.js";

/** A run that operators' commands changed, or would change. */
export const changedRun = z.object({
  run_id: z.number(),
  before: runStatus,
  status: runStatus,
  changed: z.array(jobChange),
  owner,
});

/** What an operator's command did, or would do. */
export interface CommandAnswer {
  readonly done: CommandOutcome["done"];
  readonly goes_back: CommandOutcome["goes_back"];
  readonly run: Answer<typeof changedRun>;
}

const { run_id, before, status, changed } = changedRun.shape;

/** What a command about one job answers: which job, then what was done. */
export const jobNamed = { run_id, job_id: z.number(), step: z.string(), scope: z.string() };
export const commandDone = {
  ...{ dry_run: z.boolean(), before, status, changed },
  ...{ reason: z.string(), key: z.string(), owner },
};

/** What people say with every command. */
interface Asked {
  readonly reason: string;
  readonly hint?: string | undefined;
  readonly key?: string | undefined;
  readonly dry_run: boolean;
}

/** The operator's words as they go into the log. */
export interface Said {
  readonly reason: string;
  readonly key: string;
  readonly hint?: string;
}

/** Give a command to the run of a job, or try it, and answer what it did to the job's run. */
export async function commandJob(
  context: Context,
  { reason, hint, key = randomUUID(), dry_run, ...named }: JobRequest & Asked,
  commandFor: (job: JobRow, said: Said, words: TypedWords) => OperatorCommand | Promise<OperatorCommand>,
) {
  const job = await findJob(context.store, named);
  const { id: job_id, run_id, step, scope } = job;
  const words = await redactorFor(context.store, run_id);
  const said = { reason: words.redact(reason), key };
  const command = await commandFor(job, { ...said, ...hintSaid(hint, words) }, words);
  const { run } = await giveCommand(context, run_id, command, dry_run);
  return { job_id, step, scope, dry_run, ...run, ...said };
}

/** Put a command to a run, or only try it. */
export function giveCommand(
  context: Pick<Context, "store" | "operate" | "principal">,
  runId: number,
  command: OperatorCommand,
  isTrial: boolean,
): Promise<CommandAnswer> {
  return isTrial ? tryCommand(context.store, runId, command) : putCommand(context, runId, command);
}

/** Gives a command to a run, whichever process runs it, and returns what changed. Throws a refusal with its code. */
export async function putCommand(
  { store, operate, principal }: Pick<Context, "store" | "operate" | "principal">,
  runId: number,
  command: OperatorCommand,
): Promise<CommandAnswer> {
  const outcome = await operate(runId, { ...command, by: nameOfPrincipal(principal) });
  return answerOf(runId, outcome, await ownerOf(store, runId));
}

/** `ci`, or `agent (ci)` for an agent with that token. */
export function nameOfPrincipal({ name, as }: Principal): string {
  return as === undefined ? name : `${as} (${name})`;
}

/** The answer for a dry run, which changes only a run in memory. */
async function tryCommand(store: Store, runId: number, command: OperatorCommand): Promise<CommandAnswer> {
  return tryCommandOn(store, (await loadRun(store, runId)).run, command);
}

/** Tries a command on a loaded run, which the caller must not use afterwards. */
export async function tryCommandOn(store: Store, run: Run, command: OperatorCommand): Promise<CommandAnswer> {
  const { id: runId } = run;
  const owner = await ownerOf(store, runId);
  const taken = takeCommand(run, command, () => decide(run, command, systemClock.now()));
  const refusal =
    taken.refusal && owner === null
      ? refusedWhereNobodyRuns(runId, taken.refusal, programGoesOn(run))
      : taken.refusal;
  const outcome = await outcomeOf(store, { runId, command }, { ...taken, refusal });
  return answerOf(runId, outcome, owner);
}

function answerOf(
  runId: number,
  { done, goes_back, ...outcome }: CommandOutcome,
  owner: RunOwner | null,
): CommandAnswer {
  return { done, goes_back, run: { run_id: runId, ...outcome, owner } };
}
