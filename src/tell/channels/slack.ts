import type { Message } from "../../core/notices/message.js";
import { firstChars } from "../../core/text/head-tail.js";
import type { SlackChannel } from "../../file/settings/channels.js";
import type { Environment } from "./find-secret.js";
import { type Post, post } from "./post.js";
import { slackAddress } from "./secrets.js";

/** Limit for one section: Slack's own less some room for the code fence. */
const MAX_SECTION_CHARS = 2_900;

/** Posts to an incoming webhook: a title, the message as it is, and a button that opens the page. */
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

/** Escapes the three special characters of Slack, so that output of steps cannot mention anybody. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
