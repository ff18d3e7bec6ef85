import type { InputOf, OutputOf } from "../../../operations/client.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import { goesOnWith } from "../../../tell/lookup/run-program.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/declaration.js";
import { printChange } from "../../print-change.js";
import { type TopRun, topRunOf } from "../../remote/who-goes-on.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";

/** How long processes may take to end. After that the command reports that the run is still ending. */
const END_TIMEOUT_MS = 10_000;

export const cancel: Present = async ({ input, flags }, session, client) => {
  const { out, options } = session;
  const reason = flags.reason as string;
  const request = { ...input, reason, wait_ms: END_TIMEOUT_MS } as unknown as InputOf<"control_run">;
  const answer = await client.call("control_run", request);
  if (answer.dry_run) return printChange(session, client, answer, "");
  if (options.json) writeJson(out, { run_id: answer.run_id, status: answer.status, reason: answer.reason });
  else if (!options.quiet)
    writeLines(out, [sentence(answer, session, await topRunOf(client, answer.run_id))]);
  return 0;
};

function sentence(answer: OutputOf<"control_run">, { options }: Session, { program }: TopRun): string {
  const { run_id, status, phase, owner } = answer;
  if (status === "canceled") return `run ${run_id} is canceled`;
  if (phase !== null) {
    const doing = phase === "undo" ? "what it did is being undone" : "its finally steps are running";
    if (owner === null && status === "running" && program !== null)
      return `run ${run_id} is canceled; ${doing} once its program runs: it ${goesOnWith(program, run_id)}`;
    const next = owner === null && status !== "held" ? "resume" : "show";
    return `run ${run_id} is canceled; ${doing}: ${commandLine(options, `${next} ${run_id}`)}`;
  }
  if (status === "completed" || status === "failed")
    return `run ${run_id} ended before the cancel reached it: ${status}`;
  return `run ${run_id} is being canceled; its processes are still ending: ${commandLine(options, `show ${run_id}`)}`;
}

/**
 * Pauses a run: nothing new starts until somebody resumes it. A takeover is a pause with which an operator claims the
 * run.
 */
export const pause: Present = async ({ input }, session, client) => {
  const answer = await client.call("control_run", input as InputOf<"control_run">);
  const { run_id, status, running, owner, action, target } = answer;
  const what =
    status === "paused" ? `is paused${action === "takeover" ? ", taken over" : ""}` : `is ${status}`;
  const still = running > 0 && owner !== null ? `; running steps may finish (${running})` : "";
  const hint =
    target === null || input.hint === undefined
      ? ""
      : `; the next attempt of ${nameOf(target.step, target.scope)} hears the hint`;
  return printChange(session, client, answer, `run ${run_id} ${what}${still}${hint}`);
};
