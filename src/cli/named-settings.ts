import { NO_SETTINGS, type Settings } from "../file/settings/settings.js";
import type { GlobalOptions } from "./terminal/channel.js";

/** Reads the named settings file, if any. Otherwise nothing is loaded, to keep a plain run fast. */
export async function namedSettings({ config }: Pick<GlobalOptions, "config">): Promise<Settings> {
  if (config === undefined) return NO_SETTINGS;
  return (await import("../host/read-settings.js")).readSettings(config);
}
