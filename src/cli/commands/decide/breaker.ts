import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const controlBreaker: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("control_breaker", input as never);
  const { name, was, state } = answer;
  const said = was === state ? `was ${state} already` : `is ${state}; it was ${was}`;
  if (options.json) writeJson(out, answer);
  else writeLines(out, [`${name} ${said}`]);
  return 0;
};
