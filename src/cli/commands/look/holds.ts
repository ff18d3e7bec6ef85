import type { InputOf } from "../../../operations/client.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/presenter.js";
import { lookAt } from "../../look.js";
import { holdLines, withCommands } from "../../render/hold-lines.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

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
