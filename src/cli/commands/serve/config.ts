import { readSettings, SETTINGS_FILE } from "../../../host/read-settings.js";
import { settingsJsonSchema } from "../../../settings/load-settings.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";

/** Problems are told as those of a workflow file are. */
export function checkConfig(file: string | undefined, { out, options }: Session): number {
  const name = file ?? options.config ?? SETTINGS_FILE;
  const { clusters } = readSettings(name);
  if (options.json) writeJson(out, { ok: true, file: name, clusters: clusters.map((each) => each.name) });
  else
    writeLines(out, [
      `${name}: ${out.paint("green", "valid")}, ${clusters.length} cluster${clusters.length === 1 ? "" : "s"}`,
      ...clusters.map(({ name: cluster, type, tags }) => `  ${cluster} (${type}), tags ${tags.join(", ")}`),
    ]);
  return EXIT.completed;
}

export function configSchema({ out }: Session): number {
  out.write(`${JSON.stringify(settingsJsonSchema(), null, 2)}\n`);
  return EXIT.completed;
}
