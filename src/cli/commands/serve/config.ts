import { DarumaError } from "../../../core/errors/errors.js";
import { counted, durationAmount } from "../../../core/text/amount-text.js";
import { readSettings, SETTINGS_FILE } from "../../../host/read-settings.js";
import { differingParts, hashSettings } from "../../../operations/server/server-settings.js";
import { settingsJsonSchema } from "../../../settings/load-settings.js";
import type { Settings } from "../../../settings/settings.js";
import { openClient } from "../../remote/open-client.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { limitLines, retentionLines, shownLimits, shownRetention } from "./settings-lines.js";

/** Problems are told as those of a workflow file are. */
export async function checkConfig(file: string | undefined, { out, options }: Session): Promise<number> {
  const name = file ?? options.config ?? SETTINGS_FILE;
  const settings = readSettings(name);
  const { clusters, breakers } = settings;
  const names = { clusters: clusters.map((each) => each.name), breakers: breakers.map((each) => each.name) };
  const parts = [
    ...(clusters.length === 0 ? [] : [counted(clusters.length, "cluster")]),
    ...(breakers.length === 0 ? [] : [counted(breakers.length, "breaker")]),
    ...limitLines(settings.limits)
      .slice(0, 1)
      .map(() => "limits"),
    ...retentionLines(settings.retention)
      .slice(0, 1)
      .map(() => "retention"),
  ];
  const what = parts.length === 0 ? "nothing is set" : parts.join(", ");
  const differs = await differingServers(options, settings);
  if (options.json)
    writeJson(out, {
      ok: true,
      file: name,
      ...names,
      limits: shownLimits(settings.limits),
      retention: shownRetention(settings.retention),
      differs,
    });
  else
    writeLines(out, [
      `${name}: ${out.paint("green", "valid")}, ${what}`,
      ...clusters.map(({ name: cluster, type, tags }) => `  ${cluster} (${type}), tags ${tags.join(", ")}`),
      ...breakers.map(
        ({ name: breaker, failures, withinMs }) =>
          `  ${breaker}, opens after ${counted(failures, "failure")} within ${durationAmount(withinMs)}`,
      ),
      ...limitLines(settings.limits),
      ...retentionLines(settings.retention),
      ...differs.map(({ url, parts: other }) => `  the server at ${url} has other ${other.join(" and ")}`),
    ]);
  return EXIT.completed;
}

/** Servers of the store, or beside the one that is named, which have other settings. Nobody there, or no answer: none. */
async function differingServers(options: Session["options"], settings: Settings) {
  try {
    const client = await openClient(options);
    const { servers } = await client.call("list_workers", {}).finally(() => client.close());
    const own = hashSettings(settings);
    return servers
      .map(({ url, settings: other }) => ({ url, parts: differingParts(own, other) }))
      .filter(({ parts }) => parts.length > 0);
  } catch (error) {
    if (error instanceof DarumaError) return [];
    throw error;
  }
}

export function configSchema({ out }: Session): number {
  out.write(`${JSON.stringify(settingsJsonSchema(), null, 2)}\n`);
  return EXIT.completed;
}
