import type { Clock } from "../engine/clock.js";
import {
  differingParts,
  keepKnownServer,
  SETTINGS_BEAT_MS,
  type SettingsHashes,
} from "../operations/server/server-settings.js";
import type { SharedStore } from "../store/shared-rows.js";
import type { LeaseOwner } from "../store/store.js";

export interface SettingsBeatOptions {
  readonly store: SharedStore;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
  readonly url: () => string;
  readonly settings: SettingsHashes;
  /** Called with a sentence for the log, once for each server that differs. */
  readonly tell: (text: string) => void;
}

/** Lets other servers of the store know which settings this one has, and says where theirs differ. */
export class SettingsBeat {
  private readonly told = new Set<string>();
  private cancelNext: () => void = () => {};
  private stopped = false;

  constructor(private readonly options: SettingsBeatOptions) {}

  async start(): Promise<void> {
    await this.keep(this.options.settings).catch(() => {});
    if (!this.stopped) this.cancelNext = this.options.clock.after(SETTINGS_BEAT_MS, () => void this.start());
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelNext();
    await this.keep(null).catch(() => {});
  }

  private async keep(settings: SettingsHashes | null): Promise<void> {
    const { store, clock, owner, url, tell } = this.options;
    const { engine, host, pid } = owner;
    const others = await keepKnownServer(store, { engine, host, pid, url: url(), settings }, clock.now());
    for (const other of settings === null ? [] : others) {
      const parts = differingParts(this.options.settings, other.settings);
      const key = JSON.stringify([other.engine, other.settings]);
      if (parts.length === 0 || this.told.has(key)) continue;
      this.told.add(key);
      tell(
        `the server at ${other.url} (process ${other.pid} on ${other.host}) has other settings: ${parts.join(" and ")}. Servers of one store should have the same`,
      );
    }
  }
}
