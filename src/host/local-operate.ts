import { randomUUID } from "node:crypto";
import type { Context, Principal } from "../operations/context.js";
import { endProcessesWithToken } from "../run/process/attempt-processes.js";
import { currentOwner, isDead } from "../store/lease-owner.js";
import type { Store } from "../store/store.js";
import { operateRun } from "./operate-run.js";

/** The default caller. */
export const COMMAND_LINE: Principal = { name: "command line", role: "admin" };

/** How a process that runs nothing itself puts commands to runs: as their owner for a moment, or through the inbox. */
export function operateThrough(store: Store): Context["operate"] {
  return (runId, command) =>
    operateRun(store, {
      runId,
      command,
      owner: currentOwner(randomUUID()),
      isDead,
      endLeftovers: async (token) => {
        if (token !== "") await endProcessesWithToken(token);
      },
    });
}
