import { NO_SETTINGS, type Settings } from "../settings/settings.js";
import type { GlobalOptions } from "./terminal/channel.js";

/** Only where a file is named: whoever just runs a workflow waits for nothing that it does not need. */
export async function namedSettings({ config }: Pick<GlobalOptions, "config">): Promise<Settings> {
  if (config === undefined) return NO_SETTINGS;
  return (await import("../host/read-settings.js")).readSettings(config);
}
