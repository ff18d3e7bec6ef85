import type { Present } from "../../declare/declaration.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const controlBreaker: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("control_breaker", input as never);
  const { name, was, state } = answer;
  const said = was === state ? `was ${state} already` : `is ${state}; it was ${was}`;
  if (options.json) writeJson(out, answer);
  else writeLines(out, [`${name} ${said}`]);
  return 0;
};

export const releaseWorker: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("release_worker", input as never);
  const { name, was } = answer;
  if (options.json) writeJson(out, answer);
  else writeLines(out, [was === "healthy" ? `${name} was not in quarantine` : `${name} gets attempts again`]);
  return 0;
};

export const testChannel: Present = async ({ input }, { out, options }, client) => {
  const sent = await client.call("test_channel", input as never);
  if (options.json) writeJson(out, sent);
  else writeLines(out, [`channel ${sent.channel} (${sent.type}, ${sent.target}): a test message was sent`]);
  return 0;
};
