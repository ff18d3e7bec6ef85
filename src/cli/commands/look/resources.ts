import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { resourceLines } from "../../render/resource-lines.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const resources: Present = async ({ input }, { out, options }, client) => {
  const found = await client.call("get_resources", input as InputOf<"get_resources">);
  if (options.json) writeJson(out, found);
  else writeLines(out, resourceLines(found, out.width(), out.paint));
  return 0;
};
