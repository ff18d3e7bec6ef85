import type { OutputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { clockTime } from "../../render/clock-time.js";
import { writeJson, writeLines } from "../../terminal/channel.js";
import { channelLines, clusterLines, limitLines, notifyLines, retentionLines } from "./settings-lines.js";

type Shown = OutputOf<"get_settings">;

export const settings: Present = async (_given, { out, options }, client) => {
  const shown = await client.call("get_settings", {});
  if (options.json) writeJson(out, shown);
  else writeLines(out, settingsLines(shown));
  return 0;
};

function settingsLines(shown: Shown): string[] {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ["clusters", clusterLines(shown.clusters)],
    ["breakers", shown.breakers.map((name) => `  ${name}`)],
    ["limits", limitLines(shown.limits)],
    ["retention", retentionLines(shown.retention)],
    ["channels", channelLines(shown.channels)],
    ["notify", notifyLines(shown.notify)],
    ["servers", shown.servers.map(serverLine)],
  ];
  const set = parts.filter(([, lines]) => lines.length > 0);
  if (set.length === 0) return ["nothing is set"];
  return [...set.flatMap(([heading, lines]) => [`${heading}:`, ...lines])];
}

function serverLine({ url, host, pid, seen_at }: Shown["servers"][number]): string {
  return `  ${url} (process ${pid} on ${host}), last seen ${clockTime(seen_at)} UTC`;
}
