import type { InputOf } from "../../../operations/client.js";
import { adviceLines, commandOf } from "../../../tell/advice.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/presenter.js";
import { pastLine } from "../../render/clock-time.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const explainRun: Present = async ({ input }, { out, options }, client) => {
  const { text: _, advice, ...told } = await client.call("explain_run", input as InputOf<"explain_run">);
  const type = (command: string): string => commandLine(options, command);
  if (options.json)
    writeJson(out, { ...told, advice: advice.map((each) => ({ ...each, command: commandOf(each, type) })) });
  else if (told.at !== null) writeLines(out, [pastLine(told.at), ...told.lines]);
  else writeLines(out, [...told.lines, "", ...adviceLines(advice, type)]);
  return 0;
};
