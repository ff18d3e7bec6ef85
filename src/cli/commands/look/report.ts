import { resolve } from "node:path";
import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines, writeText } from "../../terminal/channel.js";
import { writeNamedFile } from "../../terminal/write-named-file.js";

export const report: Present = async ({ input, flags }, { out, options }, client) => {
  const { output: file } = flags as { readonly output?: string };
  const made = await client.call("report_run", input as InputOf<"report_run">);
  if (file !== undefined) writeNamedFile(file, made.text);
  if (options.json) writeJson(out, made);
  else if (file !== undefined) writeLines(out, [`wrote ${resolve(file)}`]);
  else writeText(out, made.text);
  return 0;
};
