import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

const HEADER = ["action", "now", "why not"];

/** What can be done with a run or a step, and why the rest cannot. */
export const controls: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("list_controls", input as InputOf<"list_controls">);
  if (options.json) writeJson(out, answer);
  else
    writeLines(
      out,
      tableLines(
        HEADER,
        answer.items.map(({ action, allowed, needs_force, reason, code }) => [
          action,
          needs_force ? "with --force" : allowed ? "yes" : "no",
          `${reason ?? ""}${code === null ? "" : ` (${code})`}`,
        ]),
        out.width(),
      ),
    );
  return 0;
};
