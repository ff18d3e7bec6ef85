import type { Message } from "../core/notify/message.js";
import { firstChars } from "../core/text/head-tail.js";
import type { SlackChannel } from "../settings/channels.js";
import type { Environment } from "./find-secret.js";
import { type Post, post } from "./post.js";
import { slackAddress } from "./secrets.js";

/** Characters of one section: the limit of Slack less some room for the fence. */
const MAX_SECTION_CHARS = 2_900;

/** To an incoming webhook: a title, the message as it is, and a button to the page. */
export function sendSlack(
  { secret }: SlackChannel,
  { subject, text, link }: Message,
  { env, ...sending }: { readonly env: Environment } & Pick<Post, "signal" | "redact">,
): Promise<string | null> {
  const title = `*${escaped(subject)}*${link === null ? "" : `\n<${link}|Open in Daruma>`}`;
  const shown = escaped(text).replaceAll("```", "'''");
  const body = JSON.stringify({
    text: escaped(subject),
    blocks: [
      { type: "section", text: { type: "mrkdwn", text: title } },
      {
        type: "section",
        text: { type: "mrkdwn", text: `\`\`\`${firstChars(shown, MAX_SECTION_CHARS)}\`\`\`` },
      },
    ],
  });
  return post({ url: slackAddress(secret, env), headers: {}, body, ...sending });
}

/** The three characters that Slack reads as its own; what steps print must mention nobody. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
