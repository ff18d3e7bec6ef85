import type { Command } from "../model/commands.js";
import type { Job } from "../model/run.js";
import type { SettingAside } from "../model/workspace-state.js";
import { leftoverInTheWay, treeKeeper } from "../model/workspace-turn.js";
import type { Decision } from "./decision.js";
import { failJob } from "./ladder/fail.js";

/** The job whose failure has the tree lets go of it, and of the one that was built for it: a breaker keeps it back. */
export function letGoOfTree(decision: Decision, job: Job): { readonly kept_back?: number } {
  const { run } = decision;
  if (!job.step.definition.usesWorkspace) return {};
  const { rebuild } = run.workspace;
  if (rebuild !== null && rebuild.job !== job)
    decision.emit({
      type: "workspace.discarded",
      rebuild: rebuild.id,
      job: rebuild.job.id,
      path: rebuild.path,
      reason: "a breaker keeps the step back",
    });
  const keeper = treeKeeper(run);
  return keeper === null || keeper === job ? {} : { kept_back: keeper.id };
}

/** Before a job starts in the tree, what another attempt left there is set aside. True: that comes first. */
export function clearTheWay(
  decision: Decision,
  job: Job,
  letsGo: { readonly kept_back?: number } = {},
): boolean {
  if (!job.step.definition.usesWorkspace) return false;
  const found = leftoverInTheWay(decision.run, job);
  if (found === null) return false;
  const { leftover, rebuild } = found;
  decision.emit({
    type: "set_aside.started",
    job: leftover.job.id,
    attempt: leftover.attempt,
    for: job.id,
    rebuild,
    try: 1,
    ...letsGo,
  });
  return true;
}

export function finishSetAside(
  decision: Decision,
  command: Extract<Command, { type: "set_aside.finish" }>,
): void {
  const { aside } = decision.run.workspace;
  if (aside?.leftover.job.id !== command.job || aside.leftover.attempt !== command.attempt) return;
  const { ok, patch, files, message, duration_ms } = command;
  endSetAside(decision, aside, { ok, patch, files, message, duration_ms });
}

type Ended = Omit<Extract<Command, { type: "set_aside.finish" }>, "type" | "job" | "attempt">;

/** Ends the set-aside. If it failed, the waiting job cannot start, because the tree is not what the checkpoints say. */
function endSetAside(decision: Decision, { leftover, for: job }: SettingAside, ended: Ended): void {
  decision.emit({
    type: "set_aside.finished",
    job: leftover.job.id,
    attempt: leftover.attempt,
    for: job.id,
    ...ended,
  });
  if (ended.ok || job.status !== "ready") return;
  const whose = `attempt ${leftover.attempt} of ${leftover.job.step.definition.id}`;
  failJob(decision, job, "RESET_FAILED", `what ${whose} left could not be set aside: ${ended.message}`);
}

/**
 * Repeats a set-aside during which the engine died. The tree may be in between, so this happens even if no job waits
 * for it.
 */
export function repeatSetAside(decision: Decision): void {
  const { workspace, definition } = decision.run;
  const { aside } = workspace;
  if (aside === null) return;
  const { leftover, rebuild, tries } = aside;
  if (tries > Math.max(1, definition.maxRecoveries)) {
    const message = "lost with its engine";
    return endSetAside(decision, aside, { ok: false, patch: null, files: 0, message, duration_ms: 0 });
  }
  decision.emit({
    type: "set_aside.started",
    job: leftover.job.id,
    attempt: leftover.attempt,
    for: aside.for.id,
    rebuild,
    try: tries + 1,
  });
}
