import { createHash } from "node:crypto";
import type { Settings } from "../file/settings/settings.js";
import type { Clock } from "../run/engine/clock.js";
import { DEFAULT_LEASE_MS } from "../run/engine/lease-keeper.js";
import { Loop } from "../run/engine/loop.js";
import type { ServerStore } from "../store/server-rows.js";
import type { LeaseOwner } from "../store/store.js";

/** Servers that have been gone for so long are forgotten. */
const FORGOTTEN_MS = 24 * 60 * 60_000;
const BEATS_PER_LEASE = 3;

export interface HeartbeatOptions {
  readonly store: ServerStore;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
  readonly url: () => string;
  readonly settings: SharedSettings;
  readonly leaseMs?: number;
}

/** What servers of one store should have alike. */
type SharedSettings = Pick<Settings, "breakers" | "channels" | "clusters" | "notify" | "retention">;

/** Says to all who use the store that this server is there. Others take over what is left of one that has not been heard of for a lease. */
export class Heartbeat {
  private readonly loop: Loop;
  private readonly settings: string;

  constructor(private readonly options: HeartbeatOptions) {
    this.settings = hashOf(options.settings);
    this.loop = new Loop(options.clock, {
      turn: () => this.beat(),
      restMs: () => this.leaseMs / BEATS_PER_LEASE,
    });
  }

  private get leaseMs(): number {
    return this.options.leaseMs ?? DEFAULT_LEASE_MS;
  }

  /** Resolves when others know of it. */
  start(): Promise<void> {
    this.loop.wake();
    return this.loop.idle();
  }

  async stop(): Promise<void> {
    await this.loop.stop();
    await this.keep(true).catch(() => {});
  }

  private async beat(): Promise<void> {
    const { store, clock } = this.options;
    await this.keep(false);
    const now = clock.now();
    for (const { owner, expiresAt } of await store.listServers(now))
      if (expiresAt + FORGOTTEN_MS < now) await store.forgetServer(owner);
  }

  private keep(hasLeft: boolean): Promise<void> {
    const { store, clock, owner, url } = this.options;
    const { settings, leaseMs } = this;
    const now = clock.now();
    return store.keepServer({ owner, url: url(), settings, hasLeft, expiresAt: now + leaseMs }, now);
  }
}

/** The settings themselves are no other server's business. */
function hashOf({ breakers, channels, clusters, notify, retention }: SharedSettings): string {
  const byName = (named: readonly { readonly name: string }[]) =>
    [...named].sort((a, b) => (a.name < b.name ? -1 : 1));
  const parts = [byName(breakers), byName(channels), byName(clusters), notify, retention];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}
