import type { Settings } from "../file/settings/settings.js";
import { Daruma } from "../host/daruma.js";
import type { DarumaOptions } from "../host/parts.js";
import type { Store } from "../store/store.js";
import type { RunReference } from "./declare/typed-names.js";
import { existingStore } from "./existing-store.js";
import { settingsOfRun } from "./run-settings.js";
import type { FollowFlags } from "./server/server-flags.js";
import type { Session } from "./terminal/channel.js";

/** Opens an engine in this process for an existing run, with the settings beside its file. */
export async function openHere(
  session: Session,
  reference: RunReference,
  { maxParallel }: Pick<FollowFlags, "maxParallel">,
  opened?: Store,
  flows: DarumaOptions["flows"] = [],
): Promise<{ readonly daruma: Daruma } & Pick<Settings, "channels" | "breakers">> {
  const { outputDir } = session.options;
  const store = opened ?? (await existingStore(session.options));
  const { breakers, notify, channels } = await settingsOfRun(session, store, reference);
  const daruma = await Daruma.open({
    ...{ outputDir, store, breakers, notify, flows },
    ...(maxParallel === undefined ? {} : { maxParallel }),
  });
  return { daruma, channels, breakers };
}
