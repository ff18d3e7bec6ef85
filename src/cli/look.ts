import type { Client } from "../operations/client.js";
import { commandLine } from "./declare/command-words.js";
import { serversRuns } from "./remote/who-goes-on.js";
import type { SummaryLook } from "./render/summary.js";
import type { Session } from "./terminal/channel.js";

/** How a run is described on this machine: with commands to type, and with paths only if they are local. */
export function localLook({ out, options }: Session): SummaryLook {
  return {
    paint: out.paint,
    width: out.width(),
    commandLine: (command) => commandLine(options, command),
    isElsewhere: options.server !== undefined,
    serversRuns: new Set(),
  };
}

/** The same, for runs that a server may continue by itself. */
export async function lookAt(
  session: Session,
  client: Client,
  runIds: Iterable<number>,
): Promise<SummaryLook> {
  return { ...localLook(session), serversRuns: await serversRuns(client, session.options, runIds) };
}
