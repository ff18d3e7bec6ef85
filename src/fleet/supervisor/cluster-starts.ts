import type { LoggedEvent } from "../../core/model/events.js";

/** How many attempts have begun on each cluster, as far as this process knows. */
export class ClusterStarts {
  private readonly starts = new Map<string, number>();

  take(events: readonly LoggedEvent[]): void {
    for (const { event } of events) {
      if (event.type !== "attempt.started") continue;
      const [cluster] = (event.allocation ?? "").split("/");
      if (cluster) this.starts.set(cluster, this.on(cluster) + 1);
    }
  }

  on(cluster: string): number {
    return this.starts.get(cluster) ?? 0;
  }
}
