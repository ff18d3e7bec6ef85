import { createHash } from "node:crypto";
import type { Settings } from "../../settings/settings.js";
import type { SharedStore } from "../../store/shared-rows.js";

const KIND = "server";
/** One row for all: there are few servers, and who is gone leaves no row behind. */
const NAME = "settings";
const MAX_TRIES = 20;
export const SETTINGS_BEAT_MS = 60_000;
/** Who has not been heard of for so long is gone. */
const GONE_MS = 3 * SETTINGS_BEAT_MS;

const PARTS = ["breakers", "channels", "clusters", "notify", "retention"] as const;
export type SettingsPart = (typeof PARTS)[number];
/** What servers of one store should have alike, each as a hash: the settings themselves are nobody else's business. */
export type SettingsHashes = { readonly [part in SettingsPart]: string };
/** Servers of other versions may know fewer parts. */
type KnownHashes = Partial<SettingsHashes>;

export interface KnownServer {
  readonly engine: string;
  readonly host: string;
  readonly pid: number;
  readonly url: string;
  /** On the store's clock. */
  readonly seen_at: number;
  readonly settings: KnownHashes;
}

export function hashSettings(settings: Pick<Settings, SettingsPart>): SettingsHashes {
  const digest = (value: unknown): string =>
    createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
  const hashOf = (named: readonly { readonly name: string }[]): string =>
    digest([...named].sort((a, b) => (a.name < b.name ? -1 : 1)));
  const { breakers, channels, clusters, notify, retention } = settings;
  return {
    breakers: hashOf(breakers),
    channels: hashOf(channels),
    clusters: hashOf(clusters),
    notify: digest(notify),
    retention: digest(retention),
  };
}

/** The servers of the store that were heard of lately. */
export async function listKnownServers(store: SharedStore, now: number): Promise<KnownServer[]> {
  return (await read(store, now)).servers;
}

async function read(store: SharedStore, now: number) {
  const { rows, at } = await store.readShared(KIND, [NAME], now);
  const [row] = rows;
  const known = row === undefined ? [] : (JSON.parse(row.data) as KnownServer[]);
  const servers = known.filter(({ seen_at }) => seen_at > at - GONE_MS);
  return { servers, revision: row?.revision ?? 0, at };
}

/** Says that this server is there, or with null for its settings that it goes. The answer is who else is there. */
export async function keepKnownServer(
  store: SharedStore,
  own: Omit<KnownServer, "seen_at" | "settings"> & { readonly settings: SettingsHashes | null },
  now: number,
): Promise<KnownServer[]> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { servers, revision, at } = await read(store, now);
    const others = servers.filter(({ engine }) => engine !== own.engine);
    const { settings } = own;
    const data = JSON.stringify(settings === null ? others : [...others, { ...own, settings, seen_at: at }]);
    if (await store.writeShared([{ kind: KIND, name: NAME, revision, data }])) return others;
  }
  return [];
}

export function differingParts(one: KnownHashes, other: KnownHashes): SettingsPart[] {
  // A server of an earlier version says nothing of what it does not know.
  return PARTS.filter(
    (part) => one[part] !== undefined && other[part] !== undefined && one[part] !== other[part],
  );
}
