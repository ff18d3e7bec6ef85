import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { DarumaError } from "../../../core/errors/errors.js";
import { messageOf } from "../../../core/text/message-of.js";
import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines, writeText } from "../../terminal/channel.js";

export const report: Present = async ({ input, flags }, { out, options }, client) => {
  const { output: file } = flags as { readonly output?: string };
  const made = await client.call("report_run", input as InputOf<"report_run">);
  if (file !== undefined) writeReportFile(file, made.text);
  if (options.json) writeJson(out, made);
  else if (file !== undefined) writeLines(out, [`wrote ${resolve(file)}`]);
  else writeText(out, made.text);
  return 0;
};

function writeReportFile(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new DarumaError("USAGE", `${file} cannot be written: ${messageOf(error)}`);
  }
}
