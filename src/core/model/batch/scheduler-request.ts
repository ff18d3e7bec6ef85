/** What a file asks of a batch system for some of its steps. A cluster's settings say how much of it is allowed. */
export interface SchedulerRequest {
  readonly name: string;
  /** The tag of workers that a cluster starts for it; missing: no cluster has taken it on. */
  readonly tag?: string;
  readonly account: string | null;
  readonly partition: string | null;
  readonly qos: string | null;
  /** The kind of GPU, such as `gpu:a100`. */
  readonly gres: string | null;
  /** What an allocation has on each node at least; null: what its jobs need. */
  readonly gpus: number | null;
  readonly cpus: number | null;
  readonly memoryBytes: number | null;
  readonly runtimeMs: number | null;
  /** Long options of the submission: `--constraint=skylake`. */
  readonly options: readonly string[];
  /** Nodes at a time; null: as many as the cluster allows. */
  readonly maxNodes: number | null;
  /** Jobs at a time in one allocation; null: as many as fit. */
  readonly maxParallelJobs: number | null;
  /** How long before its end an allocation takes no new jobs, and how long it stays without any. */
  readonly drainMs: number | null;
  readonly idleExitMs: number | null;
}
