import { randomUUID } from "node:crypto";
import type { Message } from "../../core/notices/notice.js";
import type { ChannelSettings } from "../../file/settings/channels.js";
import type { ChannelControl } from "../../operations/context.js";
import type { Environment } from "../../tell/channels/find-secret.js";
import { checkSecret } from "../../tell/channels/secrets.js";
import { sendMessage } from "../../tell/channels/send-message.js";

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

/** Sends a message that says only that it arrives. Null: it did; else why not. */
function sendTest(
  channel: ChannelSettings,
  { id, env, page }: { readonly id: string; readonly env: Environment; readonly page: string },
): Promise<string | null> {
  const message: Message = {
    ...{ id, at: Date.now(), kind: "test", subject: `Test of the channel ${channel.name}` },
    text: `This message was sent by \`daruma notifications test ${channel.name}\`. If you can read it, the channel works.`,
    link: page === "" ? null : page,
    data: { id, kind: "test", channel: channel.name },
  };
  return sendMessage(channel, message, { env, now: Date.now });
}
