import type { RunStatus } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";
import { listAllRuns } from "./list-runs.js";

const NOT_OVER: readonly RunStatus[] = ["pending", "running", "paused", "held"];
/** `run.forked` is among a run's first events. */
const FIRST_EVENTS = 3;
const MAX_CAMPAIGNS = 10_000;

/** Why runs that are over must stay: somebody is not done with them. */
export class NeededRuns {
  private readonly unfinished = new Set<number>();
  private readonly sources = new Map<number, number>();
  private readonly inCampaign = new Map<number, number>();

  static async read(store: Store): Promise<NeededRuns> {
    const needed = new NeededRuns();
    for await (const { id } of listAllRuns(store, NOT_OVER)) {
      needed.unfinished.add(id);
      await needed.addSources(store, id, id);
    }
    for (const { id, items } of await store.listCampaigns({ unfinished: true, limit: MAX_CAMPAIGNS }))
      for (const { run_id } of items) needed.inCampaign.set(run_id, id);
    return needed;
  }

  /** Why the run is needed; null if it is not. */
  why({ id, parent }: { readonly id: number; readonly parent: number | null }): string | null {
    const fork = this.sources.get(id);
    // A fork reads outputs from the folder of the run that it was made from; so does a run that reuses jobs.
    if (fork !== undefined) return `run ${fork}, which is not over, was made from it`;
    // A parent that is killed before it has noted the end of its child asks for it again.
    if (parent !== null && this.unfinished.has(parent)) return `its parent, run ${parent}, is not over`;
    const campaign = this.inCampaign.get(id);
    return campaign === undefined ? null : `campaign ${campaign} is not over`;
  }

  /** What a fork has taken over it may have taken over itself. */
  private async addSources(store: Store, runId: number, by: number): Promise<void> {
    for (const { event } of await store.readEvents(runId, { limit: FIRST_EVENTS })) {
      if (event.type !== "run.forked" || this.sources.has(event.from)) continue;
      this.sources.set(event.from, by);
      await this.addSources(store, event.from, by);
    }
  }
}
