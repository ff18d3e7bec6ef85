import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import { nameOf } from "../../../report/lookup/job-name.js";
import { type CommandLine, commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/presenter.js";
import { clockTime } from "../../render/clock-time.js";
import type { Paint } from "../../render/paint.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type DeadLetter = OutputOf<"list_dead_letters">["items"][number];

/** Jobs that the queue has given up, each with what to type once the cause is repaired. */
export const deadLetters: Present = async ({ input }, { out, options }, client) => {
  const { items } = await client.call("list_dead_letters", input as InputOf<"list_dead_letters">);
  if (options.json) writeJson(out, items);
  else if (items.length === 0) writeLines(out, ["no dead letters"]);
  else {
    const type = (command: string): string => commandLine(options, command);
    writeLines(
      out,
      items.flatMap((item) => lines(item, out.paint, type)),
    );
  }
  return 0;
};

function lines(letter: DeadLetter, paint: Paint, type: CommandLine): string[] {
  const { run_id, id, step, scope, error, queue_attempts: rounds, since } = letter;
  const name = nameOf(step, scope);
  const tries = `${rounds} ${rounds === 1 ? "round" : "rounds"} of the queue`;
  const why = error === null ? "failed" : `${oneLine(error.message)} (${error.code}, ${error.class})`;
  return [
    `${paint("red", name)} (run ${run_id}, job ${id}) became a dead letter at ${clockTime(since)} UTC, after ${tries}: ${why}`,
    `  why:    ${type(`explain ${run_id} ${step}`)}`,
    `  again:  ${type(`redrive ${id} --reason "..."`)}`,
  ];
}
