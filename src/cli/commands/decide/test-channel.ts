import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const testChannel: Present = async ({ input }, { out, options }, client) => {
  const sent = await client.call("test_channel", input as never);
  if (options.json) writeJson(out, sent);
  else writeLines(out, [`channel ${sent.channel} (${sent.type}, ${sent.target}): a test message was sent`]);
  return 0;
};
