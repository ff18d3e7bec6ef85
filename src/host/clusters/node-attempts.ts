import { FailingNodes } from "../../cluster/scale/failing-nodes.js";
import type { LoggedEvent } from "../../core/model/events.js";

/** Follows the attempts on nodes of clusters, and finds nodes on which everything fails at once. */
export class NodeAttempts {
  /** By job: where its attempt runs. */
  private readonly underWay = new Map<number, { readonly cluster: string; readonly node: string }>();
  private readonly nodes = new Map<string, FailingNodes>();
  /** By cluster: attempts that have begun on it. */
  private readonly starts = new Map<string, number>();

  take(events: readonly LoggedEvent[]): void {
    for (const { event } of events) {
      if (event.type === "attempt.started") {
        const [cluster] = (event.allocation ?? "").split("/");
        if (cluster) this.starts.set(cluster, this.startsOn(cluster) + 1);
        if (cluster && event.node) this.underWay.set(event.job, { cluster, node: event.node });
      } else if (event.type === "attempt.stopped") this.underWay.delete(event.job);
      else if (event.type === "attempt.succeeded" || event.type === "attempt.failed") {
        const place = this.underWay.get(event.job);
        this.underWay.delete(event.job);
        // What the node's allocation took down with it is judged by the allocation's own end.
        const isOwn = event.type === "attempt.succeeded" || event.error.class !== "infrastructure";
        if (place === undefined || !isOwn) continue;
        const { durationMs, job: jobId } = event;
        const succeeded = event.type === "attempt.succeeded";
        this.of(place.cluster).note({ node: place.node, jobId, succeeded, durationMs });
      }
    }
  }

  startsOn(cluster: string): number {
    return this.starts.get(cluster) ?? 0;
  }

  failing(cluster: string): readonly string[] {
    return this.nodes.get(cluster)?.failing() ?? [];
  }

  /** They are left out by now: what comes from them later begins anew. */
  forget(cluster: string, nodes: readonly string[]): void {
    for (const node of nodes) this.nodes.get(cluster)?.forget(node);
  }

  private of(cluster: string): FailingNodes {
    const known = this.nodes.get(cluster);
    if (known !== undefined) return known;
    const made = new FailingNodes();
    this.nodes.set(cluster, made);
    return made;
  }
}
