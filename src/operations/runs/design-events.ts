import { selfHealRecord } from "../../core/failure/self-heal-record.js";
import type { Definition } from "../../core/model/definition.js";
import type { LoggedEvent } from "../../core/model/events.js";
import { readDefinition } from "../../run/engine/load-run.js";
import type { Store } from "../../store/store.js";
import { namesIn } from "../../tell/lookup/event-names.js";
import { ReplayedRun } from "../../tell/lookup/replayed-log.js";
import { requireRun } from "../../tell/lookup/run-reference.js";
import { type DesignEvent, designEvent, type EventItem } from "./event-item.js";

/** Under whose names events can be asked for beside ours. */
export const NAMINGS = ["design-004"] as const;
export type Naming = (typeof NAMINGS)[number];

/**
 * A log under the names of design 004. Its payload says of a step what only the run knows, so the log is heard from its
 * beginning, whatever is asked for.
 */
export class DesignTeller {
  private constructor(private readonly replay: ReplayedRun) {}

  static async of(store: Store, runId: number): Promise<DesignTeller> {
    const { definition_hash: hash } = await requireRun(store, runId);
    const definition: Definition = await readDefinition(store, runId, hash);
    return new DesignTeller(new ReplayedRun(runId, () => definition));
  }

  /** Converts an event; null if the design has no name for it. */
  hear(logged: LoggedEvent): EventItem | null {
    const run = this.replay.fold(logged);
    const record = selfHealRecord(run, logged.event);
    if (record === null) return null;
    const told: DesignEvent = designEvent(logged, record, namesIn(run, logged.event));
    return told as unknown as EventItem;
  }
}
