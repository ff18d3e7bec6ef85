import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

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
