import type { InputOf, OutputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { topRunOf } from "../../remote/who-goes-on.js";
import { changeText, goingOn } from "../../tell-change.js";
import { writeJson, writeLines } from "../../terminal/channel.js";
import { givenJson } from "./given-json.js";

type Answer = OutputOf<"decide_problems">;
type Action = InputOf<"decide_problems">["action"];

const DONE: { readonly [action in Action]: string } = {
  retry: "retried",
  complete: "completed",
  skip: "skipped",
  fail: "let fail",
  redrive: "redriven",
  resume_from: "resumed",
  hard_reset: "reset in a fresh workspace",
  answer: "answered",
  set_aside: "set aside until it fails again",
};
const MAX_RUNS_TOLD = 20;

/** Decides problems of the inbox, and reports what became of each run. */
export const decide: Present = async ({ input }, session, client) => {
  const { out, options } = session;
  const given = input as InputOf<"decide_problems">;
  const { output } = given;
  const request = typeof output === "string" ? { ...given, output: givenJson("--output", output) } : given;
  const answer = await client.call("decide_problems", request);
  if (options.json) {
    writeJson(out, answer);
    return 0;
  }
  if (options.quiet) return 0;
  const lines = [sentenceOf(answer, request.action)];
  for (const run of answer.runs.slice(0, MAX_RUNS_TOLD)) {
    const changes = run.changed.map(changeText).join(", ");
    lines.push(`  run ${run.run_id}: ${changes === "" ? run.status : changes}`);
    if (answer.dry_run) continue;
    const top = await topRunOf(client, run.run_id);
    for (const line of goingOn(run, { ...top, options })) lines.push(`    ${line}`);
  }
  const more = answer.runs.length - MAX_RUNS_TOLD;
  if (more > 0) lines.push(`  … and ${more} more runs`);
  for (const { job_id, ok, error } of answer.results)
    if (!ok) lines.push(`  job ${job_id}: refused, ${error!.message} (${error!.code})`);
  writeLines(out, lines);
  return 0;
};

function sentenceOf({ results, dry_run }: Answer, action: Action): string {
  const jobs = `${results.length} job${results.length === 1 ? "" : "s"}`;
  if (!dry_run) return `${jobs} ${DONE[action]}`;
  const refused = results.filter(({ ok }) => !ok).length;
  if (refused > 0) return `dry run; nothing would change: ${refused} of ${jobs} would be refused`;
  return `dry run; nothing changed. ${jobs} would be ${DONE[action]}:`;
}
