import { counted, durationAmount } from "../../../core/text/amount-text.js";
import { readSettings, SETTINGS_FILE } from "../../../host/read-settings.js";
import { settingsJsonSchema } from "../../../settings/load-settings.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";

/** Problems are told as those of a workflow file are. */
export function checkConfig(file: string | undefined, { out, options }: Session): number {
  const name = file ?? options.config ?? SETTINGS_FILE;
  const { clusters, breakers } = readSettings(name);
  const names = { clusters: clusters.map((each) => each.name), breakers: breakers.map((each) => each.name) };
  const parts = [
    ...(clusters.length === 0 ? [] : [counted(clusters.length, "cluster")]),
    ...(breakers.length === 0 ? [] : [counted(breakers.length, "breaker")]),
  ];
  const what = parts.length === 0 ? "nothing is set" : parts.join(", ");
  if (options.json) writeJson(out, { ok: true, file: name, ...names });
  else
    writeLines(out, [
      `${name}: ${out.paint("green", "valid")}, ${what}`,
      ...clusters.map(({ name: cluster, type, tags }) => `  ${cluster} (${type}), tags ${tags.join(", ")}`),
      ...breakers.map(
        ({ name: breaker, failures, withinMs }) =>
          `  ${breaker}, opens after ${counted(failures, "failure")} within ${durationAmount(withinMs)}`,
      ),
    ]);
  return EXIT.completed;
}

export function configSchema({ out }: Session): number {
  out.write(`${JSON.stringify(settingsJsonSchema(), null, 2)}\n`);
  return EXIT.completed;
}
