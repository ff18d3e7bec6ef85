import type { EventOf } from "../../core/model/events.js";
import type { Client } from "../../operations/client.js";
import type { EventItem } from "../../operations/runs/event-item.js";
import type { GlobalOptions } from "../terminal/channel.js";

/** A child of a child and so on: more are not started inside each other. */
const MAX_PARENTS = 32;

/** True where a server was asked and it goes on with the run by itself, once there is something to do. */
export async function isServersRun(
  client: Client,
  { server }: Pick<GlobalOptions, "server">,
  runId: number,
): Promise<boolean> {
  if (server === undefined) return false;
  let id = runId;
  for (let depth = 0; depth < MAX_PARENTS; depth += 1) {
    const { items } = await client.call("list_run_events", { run_id: id, limit: 1 });
    const created = items[0] as (EventItem & Partial<EventOf<"run.created">>) | undefined;
    if (created?.managed === true) return true;
    // Whoever goes on with the parent goes on with its children.
    if (created?.parent === null || created?.parent === undefined) return false;
    id = created.parent.run_id;
  }
  return false;
}

/** Those of the runs that the server goes on with. */
export async function serversRuns(
  client: Client,
  options: Pick<GlobalOptions, "server">,
  runIds: Iterable<number>,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  for (const id of new Set(runIds)) if (await isServersRun(client, options, id)) found.add(id);
  return found;
}
