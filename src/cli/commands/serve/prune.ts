import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const prune: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("prune_runs", input as InputOf<"prune_runs">);
  if (options.json) writeJson(out, answer);
  else if (!options.quiet) {
    const { removed, kept, dry_run, ended_before, allocations, tokens } = answer;
    const counts = [
      counted(removed.length, "run"),
      ...more(allocations, "allocation"),
      ...more(tokens, "token"),
    ];
    const what = counts.join(", ");
    writeLines(out, [
      ...removed.map(
        ({ run_id, workflow, status, finished_at }) => `run ${run_id} ${workflow}: ${status} ${finished_at}`,
      ),
      ...kept.map(({ run_id, because }) => `run ${run_id} stays: ${because}`),
      dry_run ? `dry run: ${what} would be removed` : `${what} removed that ended before ${ended_before}`,
    ]);
  }
  return 0;
};

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Only where there are any: most servers have neither. */
function more(count: number, noun: string): string[] {
  return count === 0 ? [] : [counted(count, noun)];
}
