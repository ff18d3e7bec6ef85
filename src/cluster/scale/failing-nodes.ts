/** An attempt on a node of a cluster, as it ended. */
export interface NodeAttempt {
  readonly node: string;
  readonly jobId: number;
  readonly succeeded: boolean;
  readonly durationMs: number;
}

/** An attempt that fails sooner than this has failed at once. */
const AT_ONCE_MS = 10_000;
/** Jobs in a row that must have failed at once. */
const STREAK = 3;

interface NodeRecord {
  /** Jobs that failed at once on it since anything else happened there. */
  readonly jobs: Set<number>;
}

/**
 * Finds nodes on which everything fails at once, while other nodes do the same work well: a lost file system, a missing
 * program. Without that contrast the fault is the jobs' own, and leaving out nodes would leave out all of them.
 */
export class FailingNodes {
  private readonly records = new Map<string, NodeRecord>();
  /** Nodes on which something has succeeded since they were last found failing. */
  private readonly good = new Set<string>();

  note({ node, jobId, succeeded, durationMs }: NodeAttempt): void {
    if (succeeded || durationMs >= AT_ONCE_MS) this.records.delete(node);
    if (succeeded) this.good.add(node);
    if (succeeded || durationMs >= AT_ONCE_MS) return;
    const record = this.records.get(node) ?? { jobs: new Set<number>() };
    record.jobs.add(jobId);
    this.records.set(node, record);
    if (record.jobs.size >= STREAK) this.good.delete(node);
  }

  /** Nodes to leave out now. */
  failing(): string[] {
    const found: string[] = [];
    for (const [node, { jobs }] of this.records) {
      const isContrasted = [...this.good].some((other) => other !== node);
      if (jobs.size >= STREAK && isContrasted) found.push(node);
    }
    return found.sort();
  }

  /** It is left out by now: what comes from it later begins anew. */
  forget(node: string): void {
    this.records.delete(node);
  }
}
