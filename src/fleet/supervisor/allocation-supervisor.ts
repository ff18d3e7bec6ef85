import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LoggedEvent } from "../../core/model/events.js";
import type { Limit, Resource } from "../../core/model/resources.js";
import { isOver, type Run } from "../../core/model/run.js";
import { type ClusterSettings, clusterFor } from "../../file/settings/settings.js";
import type { Clock } from "../../run/engine/clock.js";
import type { LeaseOwner, Store } from "../../store/store.js";
import { hashOfToken, newToken } from "../../store/token-text.js";
import type { AllocationProvider } from "../allocations/provider.js";
import { allocationPaths } from "../allocations/scale/allocation-spec.js";
import { type Demand, type KeptBack, readyDemands } from "../allocations/scale/demand.js";
import type { PoolAllocations } from "../desk/pool-allocations.js";
import { ClusterSupervisor } from "./cluster-supervisor.js";

/** How many attempts have begun on each cluster, as far as this process knows. */
class ClusterStarts {
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

const KEY_BYTES = 9;

interface AllocationSupervisorOptions {
  readonly clusters: readonly ClusterSettings[];
  readonly providerOf: (cluster: ClusterSettings) => AllocationProvider;
  readonly store: Store;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  readonly outputDir: string;
  readonly server: () => string;
  readonly pilots: PoolAllocations;
  /** The runs that this server has now. */
  readonly ownedRuns: () => readonly number[];
  /** The breakers of its engine. */
  readonly breakers: () => KeptBack;
  readonly tell: (text: string) => void;
  /** Nodes of a cluster on which what others complete fails. */
  readonly nodesInQuarantine: (cluster: string) => readonly string[];
}

/** What a server does for its clusters: knows which jobs wait for them, and looks after each. */
export class AllocationSupervisor {
  readonly supervisors: readonly ClusterSupervisor[];
  private readonly runs = new Map<number, Run>();
  private readonly starts = new ClusterStarts();
  private demands: ReadonlyMap<string, readonly Demand[]> | null = null;

  constructor(private readonly options: AllocationSupervisorOptions) {
    this.supervisors = options.clusters.map((settings) => this.supervisorOf(settings));
  }

  /** Resolves when it has looked once. Others must know of this server by then. */
  async start(): Promise<void> {
    await Promise.all(this.supervisors.map((supervisor) => supervisor.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.supervisors.map((supervisor) => supervisor.stop()));
  }

  /** A run of this server has gone on, or has been taken up. */
  take(run: Run, events: readonly LoggedEvent[]): void {
    this.runs.set(run.id, run);
    if (isOver(run)) this.runs.delete(run.id);
    this.starts.take(events);
    for (const supervisor of this.supervisors) supervisor.wake();
  }

  /** Jobs that no allocation can ever take, and why. */
  impossible(): { readonly cluster: string; readonly jobId: number; readonly reason: string }[] {
    return this.supervisors.flatMap(({ name: cluster, impossible }) =>
      Array.from(impossible, ([jobId, reason]) => ({ cluster, jobId, reason })),
    );
  }

  /** Why no allocation can take the job. Null if one can, or if this has not been checked yet. */
  whyNever(jobId: number): string | null {
    const supervisor = this.supervisors.find(({ impossible }) => impossible.has(jobId));
    if (supervisor === undefined) return null;
    return `cluster ${supervisor.name} can never run it: ${supervisor.impossible.get(jobId)}`;
  }

  /** The most of a resource that a job with these tags can be given, as far as it is known without asking now. */
  mostOf(runsOn: readonly string[], resource: Resource): Limit | null {
    const cluster = clusterFor(runsOn, this.options.clusters);
    const amount = cluster === null ? null : (this.supervisor(cluster.name)?.knownLimits()[resource] ?? null);
    return cluster === null || amount === null ? null : { amount, cluster: cluster.name };
  }

  supervisor(name: string): ClusterSupervisor | null {
    return this.supervisors.find((each) => each.name === name) ?? null;
  }

  private supervisorOf(settings: ClusterSettings): ClusterSupervisor {
    const { options } = this;
    const { name } = settings;
    const folder = settings.folder ?? join(options.outputDir, "clusters");
    return new ClusterSupervisor({
      settings,
      provider: options.providerOf(settings),
      store: options.store,
      clock: options.clock,
      owner: options.owner,
      isDead: options.isDead,
      server: options.server,
      folder: join(folder, name),
      pilots: {
        hadPilot: (...of) => options.pilots.hadPilot(...of),
        isHere: (...of) => options.pilots.isHere(...of),
        isDraining: (...of) => options.pilots.isDraining(...of),
        allocationEnded: (ended) => options.pilots.ended(ended),
      },
      demands: () => this.demandsOf(name),
      starts: () => this.starts.on(name),
      nodesInQuarantine: () => options.nodesInQuarantine(name),
      files: { write: writeAllocationFiles, remove: removeAllocationFiles },
      newKey: () => `daruma-${name}-${randomBytes(KEY_BYTES).toString("hex")}`,
      newToken,
      hashOf: hashOfToken,
      tell: options.tell,
    });
  }

  /** Counted once for all clusters that look at the same moment. */
  private demandsOf(cluster: string): readonly Demand[] {
    if (this.demands === null) {
      const owned = new Set(this.options.ownedRuns());
      for (const id of this.runs.keys()) if (!owned.has(id)) this.runs.delete(id);
      this.demands = readyDemands(this.runs.values(), this.options.clusters, this.options.breakers());
      queueMicrotask(() => {
        this.demands = null;
      });
    }
    return this.demands.get(cluster) ?? [];
  }
}

/** Writes files for this user only: somebody who reads the token could take jobs, with their secrets. */
function writeAllocationFiles(folder: string, token: string, script: string): void {
  const { tokenFile, scriptFile } = allocationPaths(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
  writeFileSync(scriptFile, script, { mode: 0o600 });
}

/** The log stays, for people who want to know why it ended. */
function removeAllocationFiles(folder: string): void {
  const { tokenFile, scriptFile } = allocationPaths(folder);
  for (const file of [tokenFile, scriptFile]) rmSync(file, { force: true });
}
