import { DarumaError } from "../../../core/errors/errors.js";
import type { Client, InputOf } from "../../../operations/client.js";
import { nameOf } from "../../../report/lookup/job-name.js";
import { jobPlace } from "../../declare/job-words.js";
import type { Present } from "../../declare/presenter.js";
import { topRunOf } from "../../remote/who-goes-on.js";
import { goingOn } from "../../tell-change.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";

/** `ready` or `failed`: a hold is decided. */
export const setJob: Present = async ({ args, input }, session, client) => {
  const words = args[0] as string[];
  const status = chosenStatus(words.at(-1)!);
  const request = { ...input, ...jobPlace(words.slice(0, -1)), status } as InputOf<"update_job">;
  const job = await client.call("update_job", request);
  const { out, options } = session;
  if (options.json) writeJson(out, job);
  else if (!options.quiet) {
    const what = status === "ready" ? "runs again with fresh budgets" : "fails";
    writeLines(out, [
      `job ${job.id}, ${nameOf(job.step, job.scope)} of run ${job.run_id}, ${what}; it is ${job.status} now`,
      ...(await nextLines(session, client, job.run_id)),
    ]);
  }
  return 0;
};

export const retryJob: Present = async ({ args, input }, session, client) => {
  const request = { ...input, ...jobPlace(args[0] as string[]) } as InputOf<"retry_job">;
  // Over REST the run stands in the path.
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

function chosenStatus(word: string): "ready" | "failed" {
  if (word === "ready" || word === "failed") return word;
  throw new DarumaError("USAGE", `invalid status ${word}: a job can be set to ready or failed`, {
    hint: "See `daruma job set --help`.",
  });
}

/** What becomes of the run now. */
async function nextLines({ options }: Session, client: Client, runId: number): Promise<string[]> {
  const { status } = await client.call("get_run", { run_id: runId });
  const top = await topRunOf(client, runId);
  return goingOn({ run_id: runId, status, before: "", owner: null }, { ...top, options });
}
