import type { OperatorCommand } from "../core/commands.js";
import { decide } from "../core/decide.js";
import { type CommandOutcome, takeCommand } from "../core/take-command.js";
import { systemClock } from "../engine/clock.js";
import { loadRun } from "../engine/load-run.js";
import type { LeaseOwner, Store } from "../store/store.js";
import type { Context } from "./context.js";
import { outcomeOf } from "./operate-run.js";
import { ownerOf } from "./run-owner.js";

/** What an operator's command did, or would do. */
export interface CommandAnswer extends CommandOutcome {
  readonly runId: number;
  /** Who goes on with the run by itself; null: somebody must resume it. */
  readonly owner: LeaseOwner | null;
}

/** Put a command to a run, whoever runs it, and tell what changed. A refusal is thrown with its code. */
export async function putCommand(
  { store, operate }: Pick<Context, "store" | "operate">,
  runId: number,
  command: OperatorCommand,
): Promise<CommandAnswer> {
  const outcome = await operate(runId, command);
  return { runId, ...outcome, owner: await ownerOf(store, runId) };
}

/** The same answer for a run in memory only: nothing is written. */
export async function tryCommand(
  store: Store,
  runId: number,
  command: OperatorCommand,
): Promise<CommandAnswer> {
  const { run } = await loadRun(store, runId);
  const taken = takeCommand(run, command, () => decide(run, command, systemClock.now()));
  const outcome = await outcomeOf(store, { runId, command }, taken);
  return { runId, ...outcome, owner: await ownerOf(store, runId) };
}
