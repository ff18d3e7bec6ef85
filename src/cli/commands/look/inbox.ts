import { shortSignature } from "../../../core/failure/short-signature.js";
import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import { thenText } from "../../../report/words/expiry-text.js";
import { shellWord } from "../../../report/words/shell-word.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/presenter.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type Problem = OutputOf<"list_problems">["items"][number];

const KIND_WORDS: { readonly [kind in Problem["kind"]]: string } = {
  hold: "hold",
  dead_letter: "dead letter",
  question: "question",
  failed: "failed",
};
const HEADER = ["kind", "runs", "blocks", "step", "last seen (UTC)", "signature", "what"];

/** What needs a person, one line for all runs with the same cause. */
export const inbox: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("list_problems", input as InputOf<"list_problems">);
  if (options.json) {
    writeJson(out, answer);
    return 0;
  }
  const { items, total } = answer;
  if (items.length === 0) writeLines(out, ["nothing needs a person"]);
  else writeLines(out, tableLines(HEADER, items.map(rowOf), out.width()));
  if (total > items.length) writeLines(out, [`${total - items.length} more: use a larger --limit`]);
  const [first] = items;
  if (first !== undefined && first.items.length > 0)
    writeLines(out, ["", nextLine(first, (command) => commandLine(options, command))]);
  return 0;
};

function rowOf(problem: Problem): string[] {
  const { kind, runs, blocks, workflow, step, last_at, signature, title, error, expiry } = problem;
  const until = expiry === null ? "" : ` (${thenText(expiry)} at ${clockTime(expiry.at)})`;
  return [
    KIND_WORDS[kind],
    String(runs),
    blocks.steps === 0 ? "" : `${blocks.steps} step${blocks.steps === 1 ? "" : "s"}`,
    oneLine(`${workflow}/${step}`),
    clockTime(last_at),
    signature === null ? "" : shortSignature(signature),
    oneLine(`${error === null ? title : `${error.code}: ${title}`}${until}`),
  ];
}

/** More than this nobody types: a campaign takes all that failed alike. */
const MAX_TYPED_JOBS = 10;

/** One way on for the first of them, with all its jobs. */
function nextLine(problem: Problem, type: (command: string) => string): string {
  const { kind, items, jobs, signature, workflow } = problem;
  const { run_id, step, scope, job_id } = items[0]!;
  const job = scope === "root" ? step : job_id;
  if (kind === "hold" && jobs > 1) {
    const isTyped = signature === null || jobs <= Math.min(items.length, MAX_TYPED_JOBS);
    const ids = items.map((item) => item.job_id).join(" ");
    return isTyped
      ? `decide them:  ${type(`decide ${ids} --action retry --reason "..."`)}`
      : `decide them:  ${type(`resolve --signature ${shortSignature(signature)} --workflow ${shellWord(workflow)} --step ${shellWord(step)} --retry --reason "..."`)}`;
  }
  switch (kind) {
    case "question":
      return `answer it:  ${type(`answer ${run_id} ${job} --choose ...`)}`;
    case "hold":
      return `decide it:  ${type(`resolve ${run_id} ${job} --retry --reason "..."`)}`;
    case "dead_letter":
      return `again:      ${type(`redrive ${run_id} ${job} --reason "..."`)}`;
    case "failed":
      return signature === null
        ? `again:      ${type(`retry ${run_id} ${job} --reason "..."`)}`
        : `set aside:  ${type(`failures resolve ${shortSignature(signature)}`)}`;
  }
}
