import { shortSignature } from "../../../core/failure/signature.js";
import { passedResource } from "../../../core/model/resources.js";
import { counted } from "../../../core/text/amount-text.js";
import { oneLine } from "../../../core/text/plain-text.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import { thenText } from "../../../tell/words/expiry-text.js";
import { shellWord } from "../../../tell/words/shell-word.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/declaration.js";
import { lookAt } from "../../look.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/columns.js";
import { holdLines, sendBackCommands, withCommands } from "../../render/hold-lines.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type Problem = OutputOf<"list_problems">["items"][number];

const KIND_WORDS: { readonly [kind in Problem["kind"]]: string } = {
  hold: "hold",
  dead_letter: "dead letter",
  question: "question",
  failed: "failed",
};
/** How many kinds of failure are shown per problem. The others are in `--json` and on the page. */
const MAX_KINDS = 5;
const MAX_NAMED_ITEMS = 3;
const HEADER = ["kind", "runs", "blocks", "step", "last seen (UTC)", "signature", "what"];

/**
 * Lists what needs a person. There is one line for all runs with the same cause, and for all jobs of a run that come
 * from one step of its file.
 */
export const inbox: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("list_problems", input as InputOf<"list_problems">);
  if (options.json) {
    writeJson(out, answer);
    return 0;
  }
  const { items, total } = answer;
  if (items.length === 0) writeLines(out, ["nothing needs a person"]);
  else writeLines(out, tableLines(HEADER, items.flatMap(rowsOf), out.width()));
  if (total > items.length) writeLines(out, [`${total - items.length} more: use a larger --limit`]);
  const [first] = items;
  if (first !== undefined && first.items.length > 0) {
    const type = (command: string): string => commandLine(options, command);
    const back = (await waysBack(first, client)).map((command) => `send back:  ${type(command)}`);
    writeLines(out, ["", ...nextLines(first, type), ...back]);
  }
  return 0;
};

/** To the step whose work a single held job examined. */
async function waysBack({ kind, jobs, items }: Problem, client: Client): Promise<string[]> {
  if (kind !== "hold" || jobs > 1) return [];
  const { run_id, job_id } = items[0]!;
  const held = (await client.call("list_holds", { run_id })).items;
  return held.filter(({ id }) => id === job_id).flatMap(sendBackCommands);
}

/** One row, followed by a row for each kind of failure if there are several. */
function rowsOf(problem: Problem): string[][] {
  const { kinds } = problem;
  if (kinds.length < 2) return [rowOf(problem)];
  return [
    rowOf(problem),
    ...kinds
      .slice(0, MAX_KINDS)
      .map(({ signature, code, title, jobs }) => [
        ...["", "", "", "", ""],
        signature === null ? "" : shortSignature(signature),
        oneLine(`  ${counted(jobs, "item")}: ${code === null ? title : `${code}: ${title}`}`),
      ]),
    ...(kinds.length > MAX_KINDS
      ? [["", "", "", "", "", "", `  and ${kinds.length - MAX_KINDS} more kinds`]]
      : []),
  ];
}

/**
 * Describes a problem, such as "12 items failed in 3 ways (cat.jpg, dog.jpg and 10 more)" for several jobs of one step.
 */
function whatOf({ kinds, jobs, items, title, error }: Problem): string {
  const names = items.flatMap(({ item }) => item ?? []);
  const named = names.length === 0 ? "" : ` (${listNames(names, jobs)})`;
  if (kinds.length > 1) return `${title}${named}`;
  const what = error === null ? title : `${error.code}: ${title}`;
  return jobs > 1 && names.length > 0 ? `${counted(jobs, "item")}${named}: ${what}` : what;
}

function listNames(names: readonly string[], jobs: number): string {
  const shown = names.slice(0, MAX_NAMED_ITEMS);
  const more = jobs - shown.length;
  return oneLine(more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", "));
}

function rowOf(problem: Problem): string[] {
  const { kind, runs, blocks, workflow, step, last_at, signature, expiry } = problem;
  const until = expiry === null ? "" : ` (${thenText(expiry)} at ${clockTime(expiry.at)})`;
  return [
    KIND_WORDS[kind],
    String(runs),
    blocks.steps === 0 ? "" : `${blocks.steps} step${blocks.steps === 1 ? "" : "s"}`,
    oneLine(`${workflow}/${step}`),
    clockTime(last_at),
    signature === null ? "" : shortSignature(signature),
    oneLine(`${whatOf(problem)}${until}`),
  ];
}

/** Nobody wants to type more ids than this. */
const MAX_TYPED_JOBS = 10;

/**
 * The jobs of a problem as arguments: in one run those of the step; in several runs the flags of a campaign, with the
 * signature if all failed in the same way.
 */
function whichOf({ runs, signature, workflow, step, items }: Problem): string {
  const { run_id, scope } = items[0]!;
  if (runs === 1) return `${run_id} ${shellWord(scope === "root" ? step : `${step}@*`)}`;
  const alike = signature === null ? "" : `--signature ${shortSignature(signature)} `;
  return `${alike}--workflow ${shellWord(workflow)} --step ${shellWord(step)}`;
}

/** Suggests a command for the first problem and all of its jobs, after `recover` where some of them want more memory or time. */
function nextLines(problem: Problem, type: (command: string) => string): string[] {
  const { kinds, runs, items } = problem;
  const wantsMore = kinds.some(({ code }) => code !== null && passedResource(code) !== null);
  const recover = `more memory or time:  ${type(`recover ${items[0]!.run_id}`)}`;
  return [...(wantsMore && runs === 1 ? [recover] : []), ...decisionLines(problem, type)];
}

function decisionLines(problem: Problem, type: (command: string) => string): string[] {
  const { kind, items, jobs, signature } = problem;
  const { run_id, step, scope, job_id } = items[0]!;
  const job = scope === "root" ? step : job_id;
  if (kind === "hold" && jobs > 1) {
    const isTyped = jobs <= Math.min(items.length, MAX_TYPED_JOBS);
    const ids = items.map((item) => item.job_id).join(" ");
    const them = isTyped ? `decide ${ids} --action retry` : `resolve ${whichOf(problem)} --retry`;
    return [`decide them:  ${type(`${them} --reason "..."`)}`];
  }
  switch (kind) {
    case "question":
      return (problem.question?.choices ?? []).map(
        (choice) =>
          `to answer ${oneLine(choice)}:  ${type(`answer ${run_id} ${job} --choose ${shellWord(choice)}`)}`,
      );
    case "hold":
      return [`decide it:  ${type(`resolve ${run_id} ${job} --retry --reason "..."`)}`];
    case "dead_letter":
      return [`again:      ${type(`redrive ${run_id} ${job} --reason "..."`)}`];
    case "failed":
      if (signature === null)
        return [
          `again:      ${type(`retry ${jobs > 1 ? whichOf(problem) : `${run_id} ${job}`} --reason "..."`)}`,
        ];
      return [`set aside:  ${type(`failures resolve ${shortSignature(signature)}`)}`];
  }
}

/** Lists jobs that wait for a decision or an answer, of one run or of all. */
export const holds: Present = async ({ input }, session, client) => {
  const { out, options } = session;
  const wanted = input as InputOf<"list_holds">;
  const { items: found } = await client.call("list_holds", wanted);
  const type = (command: string): string => commandLine(options, command);
  if (options.json)
    writeJson(
      out,
      found.map((each) => withCommands(each, type)),
    );
  else if (found.length === 0) writeLines(out, ["nothing is waiting for a decision or an answer"]);
  else {
    const look = await lookAt(
      session,
      client,
      found.map(({ run_id }) => run_id),
    );
    writeLines(out, holdLines(found, look));
  }
  return 0;
};

export const notifications: Present = async ({ input }, { out, options }, client) => {
  const { items, next } = await client.call("list_notifications", input as never);
  if (options.json) writeJson(out, { items, next });
  else if (items.length === 0) writeLines(out, ["no notifications"]);
  else {
    const rows = items.map(({ at, channel, kind, state, tries, subject, error }) => [
      ...[clockTime(at), channel, kind, state, tries === 0 ? "" : String(tries)],
      oneLine(error === null ? subject : `${subject} — ${error}`),
    ]);
    const header = ["at (UTC)", "channel", "kind", "state", "tries", "what"];
    writeLines(out, tableLines(header, rows, out.width()));
    if (next !== null) writeLines(out, [`more: --after '${next}'`]);
  }
  return 0;
};
