import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { statsLines } from "../../render/stats-lines.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const stats: Present = async ({ input }, { out, options }, client) => {
  const found = await client.call("get_stats", input as InputOf<"get_stats">);
  if (options.json) writeJson(out, found);
  else writeLines(out, statsLines(found, out.width(), out.paint));
  return 0;
};
