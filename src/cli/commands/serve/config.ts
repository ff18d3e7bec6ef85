import { counted, durationAmount } from "../../../core/text/amount-text.js";
import { channelTarget } from "../../../file/settings/channels.js";
import { settingsJsonSchema } from "../../../file/settings/load-settings.js";
import { readSettings } from "../../../host/read-settings.js";
import { shownLimits, shownRetention } from "../../../operations/server/shown-settings.js";
import { SETTINGS_FILE } from "../../../run/wiring/find-settings.js";
import { secretProblem } from "../../../tell/channels/secrets.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { channelLines, clusterLines, limitLines, notifyLines, retentionLines } from "./settings-lines.js";

/** Checks a settings file. Problems are shown like those of a workflow file. */
export function checkConfig(file: string | undefined, { out, options }: Session): number {
  const name = file ?? options.config ?? SETTINGS_FILE;
  const settings = readSettings(name);
  const { clusters, breakers, channels, notify } = settings;
  const limits = shownLimits(settings.limits);
  const retention = shownRetention(settings.retention);
  const names = {
    clusters: clusters.map((each) => each.name),
    breakers: breakers.map((each) => each.name),
    channels: channels.map((each) => each.name),
  };
  const missing = channels.flatMap((channel) => {
    const problem = secretProblem(channel, process.env);
    return problem === null ? [] : [{ channel: channel.name, problem }];
  });
  const parts = [
    ...(clusters.length === 0 ? [] : [counted(clusters.length, "cluster")]),
    ...(breakers.length === 0 ? [] : [counted(breakers.length, "breaker")]),
    ...(limitLines(limits).length === 0 ? [] : ["limits"]),
    ...(retentionLines(retention).length === 0 ? [] : ["retention"]),
    ...(channels.length === 0 ? [] : [counted(channels.length, "channel")]),
    ...(notify.length === 0 ? [] : [counted(notify.length, "rule")]),
  ];
  const what = parts.length === 0 ? "nothing is set" : parts.join(", ");
  if (options.json)
    writeJson(out, {
      ok: missing.length === 0,
      file: name,
      ...names,
      limits,
      retention,
      missing_secrets: missing,
    });
  else
    writeLines(out, [
      `${name}: ${out.paint("green", "valid")}, ${what}`,
      ...clusterLines(clusters.map(({ name, type, tags }) => ({ name, type, tags: [...tags] }))),
      ...breakers.map(
        ({ name: breaker, failures, withinMs }) =>
          `  ${breaker}, opens after ${counted(failures, "failure")} within ${durationAmount(withinMs)}`,
      ),
      ...limitLines(limits),
      ...retentionLines(retention),
      ...channelLines(channels.map((each) => ({ ...each, target: channelTarget(each) }))),
      ...notifyLines(notify.map(({ on, to }) => ({ on: [...on], to: [...to] }))),
      ...missing.map(
        ({ channel, problem }) => `  ${out.paint("red", "secret missing")}: channel ${channel}: ${problem}`,
      ),
    ]);
  return missing.length === 0 ? EXIT.completed : EXIT.usage;
}

export function configSchema({ out }: Session): number {
  out.write(`${JSON.stringify(settingsJsonSchema(), null, 2)}\n`);
  return EXIT.completed;
}
