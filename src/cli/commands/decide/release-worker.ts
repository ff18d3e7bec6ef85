import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const releaseWorker: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("release_worker", input as never);
  const { name, was } = answer;
  if (options.json) writeJson(out, answer);
  else writeLines(out, [was === "healthy" ? `${name} was not in quarantine` : `${name} gets attempts again`]);
  return 0;
};
