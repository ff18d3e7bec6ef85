import { DarumaError } from "../core/errors/errors.js";
import type { NotifyRule } from "../core/model/definition.js";
import { NO_SETTINGS, type Settings } from "../file/settings/settings.js";
import { findSettings } from "../run/wiring/find-settings.js";
import type { Store } from "../store/store.js";
import { type RunReference, resolveRun } from "./declare/typed-names.js";
import { type GlobalOptions, type Session, writeLines } from "./terminal/channel.js";

/**
 * Settings for a run in this process: everything from a file that was named, but from one that was found only what
 * workflows refer to by name. Somebody who only runs a workflow did not ask for the settings of a whole site.
 */
export async function settingsForRun(session: Session, folder: string | null): Promise<Settings> {
  const { config, noConfig, quiet } = session.options;
  if (config !== undefined) return namedSettings(session.options);
  const found = noConfig === true ? null : findSettings(folder);
  if (found === null) return NO_SETTINGS;
  if (found.distrust !== null) {
    warn(session, `${found.file} is not used: ${found.distrust}; --config FILE names it all the same`);
    return NO_SETTINGS;
  }
  if (!quiet) writeLines(session.err, [`settings: ${found.file}`]);
  const { channels, breakers, limits } = (await import("../host/read-settings.js")).readSettings(found.file);
  return { ...NO_SETTINGS, channels, breakers, limits };
}

/** Settings for an existing run: those beside its workflow file. */
export async function settingsOfRun(
  session: Session,
  store: Store,
  reference: RunReference,
): Promise<Settings> {
  const run = await store.readRun(await resolveRun(store, reference));
  return settingsForRun(session, run?.folder ?? null);
}

/** Checks the secrets of the channels that these rules name. The user who named the file relies on them. */
export async function checkSecrets(
  session: Session,
  { channels, notify }: Settings,
  rules: readonly NotifyRule[],
): Promise<void> {
  const names = new Set([...rules, ...notify].flatMap(({ to }) => to));
  const told = channels.filter(({ name }) => names.has(name));
  if (told.length === 0) return;
  const { secretProblem } = await import("../tell/channels/secrets.js");
  for (const channel of told) {
    const problem = secretProblem(channel, process.env);
    if (problem === null) continue;
    const message = `channel ${channel.name}: ${problem}`;
    if (session.options.config !== undefined) throw new DarumaError("CHANNEL_SECRET", message);
    warn(session, `${message}; its messages go nowhere`);
  }
}

function warn({ err, options }: Session, text: string): void {
  if (!options.quiet) writeLines(err, [`${err.paint("yellow", "warning")}: ${text}`]);
}

/** Reads the named settings file, if any. Otherwise nothing is loaded, to keep a plain run fast. */
export async function namedSettings({ config }: Pick<GlobalOptions, "config">): Promise<Settings> {
  if (config === undefined) return NO_SETTINGS;
  return (await import("../host/read-settings.js")).readSettings(config);
}
