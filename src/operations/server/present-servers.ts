import type { ServerRow, ServerStore } from "../../store/server-rows.js";
import { iso } from "../../tell/run-report.js";

/** The servers of the store that are there, by their addresses. */
export async function presentServers(store: ServerStore, now: number): Promise<ServerRow[]> {
  const servers = (await store.listServers(now)).filter(
    ({ hasLeft, expiresAt }) => !hasLeft && expiresAt > now,
  );
  return servers.sort((a, b) => (a.url < b.url ? -1 : 1));
}

export function serverItem({ owner, url, seenAt }: ServerRow) {
  return { host: owner.host, pid: owner.pid, url, seen_at: iso(seenAt) };
}
