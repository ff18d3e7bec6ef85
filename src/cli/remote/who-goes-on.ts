import type { EventOf } from "../../core/model/events.js";
import type { Client } from "../../operations/client.js";
import type { EventItem } from "../../operations/runs/event-item.js";
import { programOf, type RunProgram } from "../../tell/lookup/run-program.js";
import type { GlobalOptions } from "../terminal/channel.js";

/** Limit for child runs inside each other. */
const MAX_PARENTS = 32;

/** The run whose process also runs this one: the run itself, or its topmost parent. */
export interface TopRun {
  readonly runId: number;
  /** Servers continue it by themselves. */
  readonly managed: boolean;
  /** The only program that can continue it. Null if any process can. */
  readonly program: RunProgram | null;
}

export async function topRunOf(client: Client, runId: number): Promise<TopRun> {
  let id = runId;
  for (let depth = 0; depth < MAX_PARENTS; depth += 1) {
    const { items } = await client.call("list_run_events", { run_id: id, limit: 1 });
    const created = items[0] as (EventItem & Partial<EventOf<"run.created">>) | undefined;
    const parent = created?.parent ?? null;
    if (created?.managed === true || parent === null)
      return { runId: id, managed: created?.managed === true, program: startedBy(created) };
    id = parent.run_id;
  }
  return { runId: id, managed: false, program: null };
}

function startedBy(created: Partial<EventOf<"run.created">> | undefined): RunProgram | null {
  if (created?.options === undefined) return null;
  return programOf({ options: created.options, cause: created.cause?.mark ?? null });
}

/** Whether this command talks to a server that continues the run by itself. */
export async function isServersRun(
  client: Client,
  { server }: Pick<GlobalOptions, "server">,
  runId: number,
): Promise<boolean> {
  return server !== undefined && (await topRunOf(client, runId)).managed;
}

/** Those of the runs that the server continues. */
export async function serversRuns(
  client: Client,
  options: Pick<GlobalOptions, "server">,
  runIds: Iterable<number>,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  for (const id of new Set(runIds)) if (await isServersRun(client, options, id)) found.add(id);
  return found;
}
