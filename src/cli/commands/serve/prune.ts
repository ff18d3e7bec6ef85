import { aboutSize, counted } from "../../../core/text/amount-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import { countsText } from "../../../operations/retention/retention-words.js";
import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type Removed = OutputOf<"prune_runs">["removed"][number];

export const prune: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("prune_runs", input as InputOf<"prune_runs">);
  if (options.json) writeJson(out, answer);
  else if (!options.quiet) {
    const { removed, logs, artifacts, kept } = answer;
    const line =
      (what: string) =>
      ({ run_id, workflow, status, finished_at, because, bytes }: Removed): string =>
        `${what}run ${run_id} ${workflow}: ${status} ${finished_at} (${because}, ${aboutSize(bytes)})`;
    writeLines(out, [
      ...removed.map(line("")),
      ...logs.map(line("logs of ")),
      ...artifacts.map(line("artifacts of ")),
      ...kept.map(({ run_id, because }) => `run ${run_id} stays: ${because}`),
      lastLine(answer),
    ]);
  }
  return 0;
};

function lastLine({ dry_run, removed, logs, artifacts, bytes, ...rest }: OutputOf<"prune_runs">): string {
  const counts = { runs: removed.length, logs: logs.length, artifacts: artifacts.length, bytes };
  const what = [
    countsText(counts) ?? "0 runs",
    ...more(rest.allocations, "allocation"),
    ...more(rest.tokens, "token"),
  ].join(", ");
  if (dry_run) return `dry run: ${what} would be removed`;
  const before =
    rest.rules === "settings" || rest.ended_before === null ? "" : ` that ended before ${rest.ended_before}`;
  return `${what} removed${before}`;
}

/** A line for things that most servers do not have; empty if there are none. */
function more(count: number, noun: string): string[] {
  return count === 0 ? [] : [counted(count, noun)];
}
