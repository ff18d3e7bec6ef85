import { DarumaError } from "../../../core/errors/errors.js";
import type { Client, InputOf } from "../../../operations/client.js";
import { isGlob } from "../../../tell/lookup/choose-job.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import type { RunReference } from "../../../tell/lookup/run-reference.js";
import type { Given, Present } from "../../declare/declaration.js";
import { jobPlace } from "../../declare/typed-names.js";
import { goingOn, printChange, tellAndGoOn } from "../../print-change.js";
import { topRunOf } from "../../remote/who-goes-on.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { choosesByFailure, chosenHere, refuseCampaignFlags, startFiltered } from "./campaign.js";
import { hintNotes, tellHintNotes } from "./hint-note.js";

/** Retries a step: with fresh budgets, in a fresh workspace, or as the step where the run goes back to. */
export const retry: Present = async (given, session, client) => {
  const { input, flags } = given;
  const names = (input.step_ids ?? []) as readonly string[];
  const isNamed = input.step_id !== undefined || names.length > 0;
  if (!isNamed && choosesByFailure(flags)) return retryMatching(given, session, client);
  // What somebody wants who names nothing but the run.
  if (!isNamed && input.run_id !== undefined)
    return reset({ ...given, input: { ...input, action: "reset_failed" } }, session, client);
  if (!isNamed)
    throw new DarumaError(
      "USAGE",
      "name a run and a step, or choose failed jobs with --signature, --workflow, --step, --class or --since",
      {
        hint: "Such as `daruma retry last` for all that failed in the last run, `daruma retry last build`, or `daruma retry --class transient_runtime --since 2h`.",
      },
    );
  refuseCampaignFlags(flags);
  const { step_ids: _names, ...rest } = input;
  const one = names.length === 1 && !isGlob(names[0]!) ? { ...rest, step_id: names[0] } : null;
  const isFor = input.action === "retry_step" ? input.hint : undefined;
  const notes = await hintNotes(session, client, input.run_id as RunReference, isFor);
  const answer = await client.call("control_run", (one ?? input) as InputOf<"control_run">);
  tellHintNotes(session, notes, ({ name }) =>
    answer.changed.some((job) => nameOf(job.step, job.scope) === name),
  );
  if (one === null && names.length > 0)
    return tellAndGoOn(session, client, answer, "retried with fresh budgets:", flags);
  const name = nameOf(answer.target!.step, answer.target!.scope);
  return tellAndGoOn(
    session,
    client,
    answer,
    `${name} ${MEANS[answer.action] ?? (answer.changed.every(({ from }) => from === "waiting") ? LET_THROUGH : "is retried with fresh budgets")}`,
    flags,
  );
};

/** Retries every job that matches the flags: by a campaign, or at once if no server runs the run. */
export const retryMatching: Present = async (given, session, client) => {
  const { input, flags } = given;
  const run_id = input.run_id as RunReference | undefined;
  const step_ids = await chosenHere(client, run_id, flags, {});
  if (step_ids === null) return startFiltered(given, session, client, { action: "retry", run_id });
  const { reason, hint, key, dry_run } = input;
  const request = { run_id, action: "retry_step", step_ids, reason, hint, key, dry_run };
  const answer = await client.call("control_run", request as InputOf<"control_run">);
  return tellAndGoOn(session, client, answer, "retried with fresh budgets:", flags);
};

/** The job waited for a breaker. Nothing has finally failed, so its budgets are unchanged. */
const LET_THROUGH = "no longer waits for its breaker and starts as soon as a worker has room";

const MEANS: { readonly [action: string]: string } = {
  resume_from_step: "and everything that depends on it run again",
  hard_reset_step: "runs again in a fresh workspace",
};

/** Resets jobs that failed unhandled, were canceled or are held. Completed jobs stay. */
export const reset: Present = async (given, session, client) => {
  const { input, flags } = given;
  if (choosesByFailure(flags)) return retryMatching(given, session, client);
  if (input.run_id === undefined)
    throw new DarumaError(
      "USAGE",
      "name a run, or choose failed jobs with --signature, --workflow, --step, --class or --since",
    );
  refuseCampaignFlags(flags);
  const answer = await client.call("control_run", input as InputOf<"control_run">);
  const sentence =
    answer.changed.length === 0
      ? `run ${answer.run_id} has no failed, canceled or held steps; nothing changed`
      : `run ${answer.run_id}: failed, canceled and held steps run again`;
  return tellAndGoOn(session, client, { ...answer, action: "reset" }, sentence, flags);
};

export const retryJob: Present = async ({ args, input }, session, client) => {
  const request = { ...input, ...jobPlace(args[0] as string[]) } as InputOf<"retry_job">;
  // The REST path needs the run, so the job is looked up first.
  const { id, run_id } = await client.call("get_job", jobPlace(args[0] as string[]));
  const job = await client.call("retry_job", { ...request, job_id: id, run_id });
  const { out, options } = session;
  if (options.json) writeJson(out, job);
  else if (!options.quiet)
    writeLines(out, [
      `${request.dry_run === true ? "dry run; nothing changed. It would do this: " : ""}job ${job.id}, ${job.name}, is ${job.status}: attempt ${job.attempt_id} comes next`,
      ...(request.dry_run === true ? [] : await nextLines(session, client, run_id)),
    ]);
  return 0;
};

/** What happens to the run now. */
async function nextLines({ options }: Session, client: Client, runId: number): Promise<string[]> {
  const { status } = await client.call("get_run", { run_id: runId });
  const top = await topRunOf(client, runId);
  return goingOn({ run_id: runId, status, before: "", owner: null }, { ...top, options });
}

/** Puts a dead letter back into the queue. Without a job, starts a campaign for all failed jobs that match. */
export const redrive: Present = async (given, session, client) => {
  const { args, input, flags } = given;
  const words = (args[0] ?? []) as string[];
  if (words.length === 0) return startFiltered(given, session, client, { action: actionOf(flags) });
  refuseCampaignFlags(flags);
  const reason = flags.reason === undefined ? {} : { reason: flags.reason };
  const request = {
    ...input,
    ...reason,
    ...jobPlace(words),
  } as InputOf<"redrive_job">;
  const answer = await client.call("redrive_job", request);
  return printChange(
    session,
    client,
    { ...answer, action: "redrive" },
    `${nameOf(answer.step, answer.scope)} of run ${answer.run_id} goes back into the queue with fresh budgets`,
  );
};

const ACTIONS = ["retry", "fail", "skip"] as const;

function actionOf(flags: Given["flags"]): (typeof ACTIONS)[number] {
  const actions = ACTIONS.filter((action) => flags[action] === true);
  if (actions.length > 1) throw new DarumaError("USAGE", "give one of --retry, --fail and --skip");
  return actions[0] ?? "retry";
}
