import { readFileSync } from "node:fs";
import { DarumaError } from "../../../core/errors/errors.js";
import type { InputOf } from "../../../operations/client.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

const STANDARD_INPUT = 0;

export const importRun: Present = async ({ args }, { out, options }, client) => {
  const document = readDocument(args[0] as string);
  const answer = await client.call("import_run", { document } as InputOf<"import_run">);
  if (options.json) writeJson(out, answer);
  else if (!options.quiet)
    writeLines(out, [
      `run ${answer.exported_run_id} of ${answer.workflow}, ${answer.status}, imported as run ${answer.run_id}`,
      `next: ${commandLine(options, `show ${answer.run_id}`)}`,
    ]);
  return 0;
};

function readDocument(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file === "-" ? STANDARD_INPUT : file, "utf8");
  } catch (error) {
    throw new DarumaError("FILE_NOT_FOUND", `${file}: ${(error as Error).message}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DarumaError("IMPORT_INVALID", `${file} is not JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
