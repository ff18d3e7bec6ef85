import { writeFileSync } from "node:fs";
import type { InputOf } from "../../../operations/client.js";
import { readSource } from "../../../operations/workflows/workflow-source.js";
import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines, writeText } from "../../terminal/channel.js";

/** Changes one transition of a file, and prints the result or writes it to the file. */
export const edge: Present = async ({ input, args, flags }, { out, options }, client) => {
  const file = args[0] as string;
  const source = readSource(file);
  const request = { ...input, source, file_name: file } as InputOf<"edit_workflow">;
  const edited = await client.call("edit_workflow", request);
  if (flags.write === true) writeFileSync(file, edited.source);
  if (options.json) writeJson(out, edited);
  else if (flags.write !== true) writeText(out, edited.source);
  else if (!options.quiet) writeLines(out, [`${file} is changed`]);
  return 0;
};
