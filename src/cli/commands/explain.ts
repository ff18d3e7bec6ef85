import type { InputOf } from "../../operations/client.js";
import { writeJson, writeLines } from "../channel.js";
import { commandLine } from "../command-words.js";
import type { Present } from "../presenters.js";

const COMMAND = /`daruma ([^`]*)`/g;

export const explainRun: Present = async ({ input }, { out, options }, client) => {
  const { run_id, step, lines } = await client.call("explain_run", input as InputOf<"explain_run">);
  // Commands as they must be typed here.
  const told = lines.map((line) =>
    line.replace(COMMAND, (_, command: string) => `\`${commandLine(options, command)}\``),
  );
  if (options.json) writeJson(out, { run_id, step, lines: told });
  else writeLines(out, told);
  return 0;
};
