import { oneLine } from "../../../core/text/plain-text.js";
import type { Present } from "../../declare/presenter.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const notifications: Present = async ({ input }, { out, options }, client) => {
  const { items, next } = await client.call("list_notifications", input as never);
  if (options.json) writeJson(out, { items, next });
  else if (items.length === 0) writeLines(out, ["no notifications"]);
  else {
    const rows = items.map(({ at, channel, kind, state, tries, subject, error }) => [
      ...[clockTime(at), channel, kind, state, tries === 0 ? "" : String(tries)],
      oneLine(error === null ? subject : `${subject} — ${error}`),
    ]);
    const header = ["at (UTC)", "channel", "kind", "state", "tries", "what"];
    writeLines(out, tableLines(header, rows, out.width()));
    if (next !== null) writeLines(out, [`more: --after '${next}'`]);
  }
  return 0;
};
