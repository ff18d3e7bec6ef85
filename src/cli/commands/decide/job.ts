import type { Client, InputOf } from "../../../operations/client.js";

import { jobPlace } from "../../declare/job-words.js";
import type { Present } from "../../declare/presenter.js";
import { topRunOf } from "../../remote/who-goes-on.js";
import { goingOn } from "../../tell-change.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";

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
