import type { InputOf, OutputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

const HEADER = ["action", "now", "why not"];

type Control = OutputOf<"list_controls">["items"][number];

/** Only this command has no runner: `daruma resume` and `daruma fork` bring their own. */
function controlRow({ action, allowed, needs_force, reason, code }: Control): string[] {
  if (code === "NO_RUNNER") return [action, "yes", ""];
  const now = needs_force ? "with --force" : allowed ? "yes" : "no";
  return [action, now, `${reason ?? ""}${code === null ? "" : ` (${code})`}`];
}

/** What can be done with a run or a step, and why the rest cannot. */
export const controls: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("list_controls", input as InputOf<"list_controls">);
  if (options.json) writeJson(out, answer);
  else writeLines(out, tableLines(HEADER, answer.items.map(controlRow), out.width()));
  return 0;
};
