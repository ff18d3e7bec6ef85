import { oneLine } from "../../../core/text/plain-text.js";
import type { Present } from "../../declare/presenter.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const breakers: Present = async ({ input }, { out, options }, client) => {
  const { items } = await client.call("list_breakers", input as never);
  if (options.json) writeJson(out, items);
  else if (items.length === 0) writeLines(out, ["no breakers"]);
  else {
    const rows = items.map(({ name, state, since, failures, policy, next_probe_at, probe, reason }) => [
      name,
      state,
      clockTime(since),
      state === "closed" ? `${failures} of ${policy.failures}` : "",
      probe === null ? clockTime(next_probe_at) : `run ${probe.run_id}`,
      oneLine(reason ?? ""),
    ]);
    const header = ["breaker", "state", "since (UTC)", "failures", "next probe (UTC)", "why"];
    writeLines(out, tableLines(header, rows, out.width()));
  }
  return 0;
};
