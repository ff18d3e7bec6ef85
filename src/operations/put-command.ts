import { z } from "zod";
import { decide } from "../core/decide/decide.js";
import { refusedWhereNobodyRuns } from "../core/decide/operator.js";
import { type CommandOutcome, takeCommand } from "../core/decide/take-command.js";
import type { OperatorCommand } from "../core/model/commands.js";
import type { Run } from "../core/model/run.js";
import { systemClock } from "../engine/clock.js";
import { loadRun } from "../engine/load-run.js";
import { ownerOf } from "../report/lookup/run-owner.js";
import type { LeaseOwner, Store } from "../store/store.js";
import { outcomeOf } from "./command-outcome.js";
import type { Context, Principal } from "./context.js";
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
export interface CommandAnswer extends CommandOutcome {
  readonly runId: number;
  /** Who goes on with the run by itself; null: somebody must resume it. */
  readonly owner: LeaseOwner | null;
}

/** Put a command to a run, whoever runs it, and tell what changed. A refusal is thrown with its code. */
export async function putCommand(
  { store, operate, principal }: Pick<Context, "store" | "operate" | "principal">,
  runId: number,
  command: OperatorCommand,
): Promise<CommandAnswer> {
  const outcome = await operate(runId, { ...command, by: nameOfPrincipal(principal) });
  return { runId, ...outcome, owner: await ownerOf(store, runId) };
}

/** `ci`, or `agent (ci)` for an agent with that token. */
export function nameOfPrincipal({ name, as }: Principal): string {
  return as === undefined ? name : `${as} (${name})`;
}

/** The same answer for a run in memory only: nothing is written. */
export async function tryCommand(
  store: Store,
  runId: number,
  command: OperatorCommand,
): Promise<CommandAnswer> {
  return tryCommandOn(store, (await loadRun(store, runId)).run, command);
}

/** For somebody who has loaded the run already, and is done with it. */
export async function tryCommandOn(store: Store, run: Run, command: OperatorCommand): Promise<CommandAnswer> {
  const { id: runId } = run;
  const owner = await ownerOf(store, runId);
  const taken = takeCommand(run, command, () => decide(run, command, systemClock.now()));
  const refusal =
    taken.refusal && owner === null ? refusedWhereNobodyRuns(runId, taken.refusal) : taken.refusal;
  const outcome = await outcomeOf(store, { runId, command }, { ...taken, refusal });
  return { runId, ...outcome, owner };
}
