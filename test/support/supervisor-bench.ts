import { loadSettings } from "../../src/file/settings/load-settings.js";
import type { ClusterSettings } from "../../src/file/settings/settings.js";
import type { Demand, JobNeeds } from "../../src/fleet/allocations/scale/demand.js";
import type { EndedAllocation } from "../../src/fleet/desk/pool-allocations.js";
import { ClusterSupervisor, POLL_MS } from "../../src/fleet/supervisor/cluster-supervisor.js";
import type { SupervisorPorts } from "../../src/fleet/supervisor/supervisor-ports.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import type { LeaseOwner, Store } from "../../src/store/store.js";
import { FakeCluster } from "./fake-cluster.js";
import { ManualClock } from "./manual-clock.js";

export const URL = "http://login1:7420";

export function settingsOf(keys = ""): ClusterSettings {
  const loaded = loadSettings(`clusters:\n  hpc:\n    type: slurm\n${keys}`, "daruma.config.yaml");
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.value.clusters[0]!;
}

export function demand(jobId: number, needs: Partial<JobNeeds> = {}): Demand {
  return {
    jobId,
    needs: { nodes: 1, cpus: 1, memoryBytes: null, gpus: 0, runtimeMs: null, ...needs },
  };
}

export function jobs(count: number, needs: Partial<JobNeeds> = {}): Demand[] {
  return Array.from({ length: count }, (_, at) => demand(at + 1, needs));
}

function ownerOf(pid: number): LeaseOwner {
  return { host: "login1", bootId: "b", pid, processStart: "s", engine: `engine-${pid}` };
}

/** Servers that look after one cluster, with a clock that stands still. */
export class SupervisorBench {
  readonly clock = new ManualClock();
  readonly cluster = new FakeCluster();
  readonly ended: EndedAllocation[] = [];
  readonly told: string[] = [];
  readonly pilots = new Set<string>();
  readonly gone = new Set<string>();
  readonly draining = new Set<string>();
  readonly dead = new Set<number>();
  readonly files = new Map<string, string>();
  demands: Demand[] = [];
  nodesInQuarantine: string[] = [];
  /** Attempts that have begun on the cluster. */
  starts = 0;
  private serial = 0;

  constructor(
    readonly settings: ClusterSettings = settingsOf(),
    readonly store: Store = createMemoryStore(),
  ) {}

  /** A server process. */
  supervisor(pid = 1, changes: Partial<SupervisorPorts> = {}): ClusterSupervisor {
    return new ClusterSupervisor({ ...this.ports(pid), ...changes });
  }

  ports(pid: number): SupervisorPorts {
    const { clock, cluster, store, settings, files } = this;
    return {
      settings,
      provider: cluster,
      store,
      clock,
      owner: ownerOf(pid),
      isDead: (owner) => this.dead.has(owner.pid),
      server: () => URL,
      folder: "/shared",
      pilots: {
        hadPilot: (allocation, restart) => this.pilots.has(`${allocation}#${restart}`),
        isDraining: (allocation) => this.draining.has(allocation),
        isHere: (allocation) => !this.gone.has(allocation),
        allocationEnded: (ended) => this.ended.push(ended),
      },
      demands: () => this.demands,
      starts: () => this.starts,
      nodesInQuarantine: () => this.nodesInQuarantine,
      files: {
        write: (folder, token) => files.set(folder, token),
        remove: (folder) => files.delete(folder),
      },
      newKey: () => `daruma-hpc-${++this.serial}`,
      newToken: () => `token-${this.serial}`,
      hashOf: (token) => `hash of ${token}`,
      tell: (text) => this.told.push(text),
    };
  }

  /** This process is known to be there for as long. */
  async keepServer(pid = 1, ms = 30_000, url = URL): Promise<void> {
    const now = this.clock.now();
    const server = { owner: ownerOf(pid), url, settings: "", hasLeft: false, expiresAt: now + ms };
    await this.store.keepServer(server, now);
  }

  /** So many polls go by. */
  async polls(count = 1): Promise<void> {
    for (let poll = 0; poll < count; poll += 1) {
      this.clock.advance(POLL_MS);
      await settled();
    }
  }

  /** The allocation begins, and its worker comes. */
  begin(id: string, node = "node1"): void {
    this.cluster.start(id, node, this.clock.now());
    this.pilots.add(`hpc/${id}#0`);
  }

  async rows(): Promise<string[]> {
    const rows = await this.store.listAllocations({});
    return rows
      .reverse()
      .map(({ id, state, outcome }) => `${id ?? "-"} ${state}${outcome === null ? "" : ` ${outcome.code}`}`);
  }
}

/** What is under way in memory is over. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
}
