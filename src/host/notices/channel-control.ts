import { randomUUID } from "node:crypto";
import type { ChannelSettings } from "../../file/settings/channels.js";
import type { ChannelControl } from "../../operations/context.js";
import type { Environment } from "../../tell/channels/find-secret.js";
import { checkSecret } from "../../tell/channels/secrets.js";
import { sendTest } from "./send-test.js";

export function controlChannels(
  settings: readonly ChannelSettings[],
  { env, page }: { readonly env: Environment; readonly page: () => string },
): ChannelControl {
  return {
    settings,
    async test(channel) {
      checkSecret(channel, env);
      return sendTest(channel, { id: `msg_${randomUUID().replaceAll("-", "")}`, env, page: page() });
    },
  };
}
