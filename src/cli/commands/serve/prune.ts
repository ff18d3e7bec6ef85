import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const prune: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("prune_runs", input as InputOf<"prune_runs">);
  if (options.json) writeJson(out, answer);
  else if (!options.quiet) {
    const { removed, kept, dry_run, ended_before } = answer;
    const runs = `${removed.length} run${removed.length === 1 ? "" : "s"}`;
    writeLines(out, [
      ...removed.map(
        ({ run_id, workflow, status, finished_at }) => `run ${run_id} ${workflow}: ${status} ${finished_at}`,
      ),
      ...kept.map(({ run_id, because }) => `run ${run_id} stays: ${because}`),
      dry_run ? `dry run: ${runs} would be removed` : `${runs} removed that ended before ${ended_before}`,
    ]);
  }
  return 0;
};
