import { shortSignature } from "../../../core/failure/signature.js";
import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import { actionText, isRemedy } from "../../../tell/words/remedy-words.js";
import { shellWord } from "../../../tell/words/shell-word.js";
import { type CommandLine, commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/declaration.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/columns.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type Failure = OutputOf<"list_failures">["items"][number];
type Occurrence = OutputOf<"get_failure">["occurrences"][number];

/** Lists failures, one line each: what it is, how often it occurred, and what rescued it. */
export const failures: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("list_failures", input as InputOf<"list_failures">);
  if (options.json) {
    writeJson(out, answer);
    return 0;
  }
  const { items, next } = answer;
  if (items.length === 0) writeLines(out, ["no failures"]);
  else writeLines(out, tableLines(HEADER, items.map(rowOf), out.width()));
  const type = (command: string): string => commandLine(options, command);
  if (next !== null) writeLines(out, [`more: ${type(`failures --after ${next}`)}`]);
  return 0;
};

const HEADER = ["signature", "state", "seen", "runs", "last seen (UTC)", "step", "rescued by", "what"];

function rowOf(item: Failure): string[] {
  return [
    shortSignature(item.signature),
    item.state,
    String(item.occurrences),
    String(item.runs),
    clockTime(item.last_seen),
    oneLine(`${item.workflow}/${item.step}`),
    item.rescued_by,
    `${item.code}: ${oneLine(item.sample)}`,
  ];
}

export const showFailure: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("get_failure", input as InputOf<"get_failure">);
  if (options.json) writeJson(out, answer);
  else {
    const type = (command: string): string => commandLine(options, command);
    const { items, occurrences } = answer;
    writeLines(out, [
      ...items.flatMap((item) => [...failureLines(item), ""]),
      ...(occurrences.length === 0
        ? ["no occurrence is left: their runs were pruned"]
        : ["Last occurrences:"]),
      ...occurrenceLines(occurrences, out.width()),
      ...nextLines(items[0]!, occurrences[0], type),
    ]);
  }
  return 0;
};

export function failureLines(item: Failure): string[] {
  const { occurrences: seen, runs, state } = item;
  const since =
    item.muted_until === null || state !== "muted" ? "" : ` until ${clockTime(item.muted_until)} UTC`;
  const by =
    item.triaged_by === null ? "" : ` (${oneLine(item.triaged_by)}, ${clockTime(item.triaged_at)} UTC)`;
  const word = (label: string, text: string | null): string[] =>
    text === null ? [] : [`  ${label}${oneLine(text)}`];
  return [
    `${oneLine(item.workflow)}/${oneLine(item.step)}  ${item.signature}`,
    `  state:       ${state}${since}${by}`,
    `  what:        ${item.code} (${item.class}): ${oneLine(item.sample)}`,
    `  seen:        ${seen} ${seen === 1 ? "time" : "times"} in ${runs} ${runs === 1 ? "run" : "runs"}, ${clockTime(item.first_seen)} to ${clockTime(item.last_seen)} UTC`,
    `  rescued by:  ${item.rescued_by}`,
    ...triedLines(item),
    `  since then:  ${item.completed_since === null ? "no run of the workflow has completed" : `run ${item.completed_since} completed`}`,
    ...word("note:        ", item.note),
    ...word("link:        ", item.link),
    ...word("owner:       ", item.owner),
  ];
}

function triedLines({ rescues }: Failure): string[] {
  const inVain = rescues.filter(
    ({ by, rescued, not_rescued }) => rescued === 0 && not_rescued > 0 && isRemedy(by),
  );
  return inVain.length === 0
    ? []
    : [
        `  in vain:     ${inVain.map(({ by, not_rescued }) => `${actionText(by)} (${not_rescued})`).join(", ")}`,
      ];
}

function occurrenceLines(occurrences: readonly Occurrence[], width: number): string[] {
  if (occurrences.length === 0) return [];
  const rows = occurrences.map((each) => [
    clockTime(each.at),
    String(each.run_id),
    oneLine(nameOf(each.step, each.scope)),
    String(each.attempt),
    each.rung,
    oneLine(each.sample),
  ]);
  return tableLines(["at (UTC)", "run", "step", "attempt", "rung", "what"], rows, width);
}

function nextLines(item: Failure, last: Occurrence | undefined, type: CommandLine): string[] {
  const signature = shortSignature(item.signature);
  return [
    "",
    ...(last === undefined
      ? []
      : [`why:      ${type(`explain ${last.run_id} ${shellWord(nameOf(last.step, last.scope))}`)}`]),
    `known:    ${type(`failures note ${signature} --note "..."`)}`,
    `resolved: ${type(`failures resolve ${signature}`)}`,
  ];
}

interface Rule {
  readonly exit_codes?: readonly number[];
  readonly match_all_exit_codes?: boolean;
  readonly recovery_script?: string | null;
  readonly max_retries?: number;
}

/** Prints a failure handler with its rules, in the order in which they are tried. */
export const handler: Present = async ({ input }, { out, options }, client) => {
  const found = await client.call("get_failure_handler", input as InputOf<"get_failure_handler">);
  if (options.json) writeJson(out, found);
  else {
    const rules = JSON.parse(found.rules) as readonly Rule[];
    const rows = rules.map((rule, index) => [
      String(index + 1),
      rule.match_all_exit_codes === true ? "all" : (rule.exit_codes ?? []).join(" "),
      String(rule.max_retries ?? ""),
      oneLine(rule.recovery_script ?? ""),
    ]);
    writeLines(out, [
      `failure handler ${found.id}, ${found.name} of workflow ${found.workflow_id}`,
      ...tableLines(["rule", "exit codes", "max retries", "recovery script"], rows, out.width()),
    ]);
  }
  return 0;
};
