import type { Message } from "../../core/notices/message.js";
import type { ChannelSettings } from "../../file/settings/channels.js";
import type { Environment } from "../../tell/channels/find-secret.js";
import { sendMessage } from "../../tell/channels/send-message.js";

/** Sends a message that says only that it arrives. Null: it did; else why not. */
export function sendTest(
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
