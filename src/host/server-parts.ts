import { existsSync } from "node:fs";
import type { BreakerState } from "../core/breakers/breaker.js";
import { DarumaError } from "../core/errors/errors.js";
import type { Definition } from "../core/model/definition.js";
import type { HealthState } from "../core/quarantine/quarantine.js";
import type { ChannelSettings } from "../file/settings/channels.js";
import { refuseWorkspaceOnCluster } from "../file/settings/cluster-steps.js";
import { NO_RETENTION, type RetentionSettings } from "../file/settings/retention.js";
import { type ClusterSettings, clusterFor } from "../file/settings/settings.js";
import { createAllocationProvider } from "../fleet/allocations/create-provider.js";
import { bindSchedulers } from "../fleet/allocations/requests/plan-lanes.js";
import { WorkerPool } from "../fleet/desk/pool.js";
import type { PoolDesk } from "../fleet/desk/pool-desk.js";
import type { NoPlace } from "../fleet/desk/why-no-place.js";
import { AllocationSupervisor } from "../fleet/supervisor/allocation-supervisor.js";
import { workOnCampaigns } from "../operations/campaigns/run-campaigns.js";
import type {
  ChannelControl,
  ClusterControl,
  Context,
  PlacedJob,
  Principal,
  Resuming,
  Runner,
  WaitingJobs,
  WorkerInfo,
} from "../operations/context.js";
import { ScheduleKeeper } from "../operations/schedules/schedule-keeper.js";
import { startScheduled } from "../operations/schedules/schedule-rows.js";
import { WebhookDesk, WebhookSecrets } from "../operations/triggers/webhook-desk.js";
import type { Workflow } from "../operations/workflows/workflow.js";
import { WorkflowReader } from "../operations/workflows/workflow-reader.js";
import { fromDefinition } from "../operations/workflows/workflow-source.js";
import { systemClock } from "../run/engine/clock.js";
import { bookDuty, Duty } from "../run/engine/duties/duty.js";
import type { Engine, RunListener } from "../run/engine/engine.js";
import { HealthBoard } from "../run/engine/health/health-board.js";
import { needsOf } from "../run/engine/needs.js";
import { RunClaimer } from "../run/engine/run-claimer.js";
import { findWaitingJobs } from "../run/engine/waiting-runs.js";
import type { Sandbox } from "../run/sandbox/sandbox.js";
import { isDead } from "../store/lease-owner.js";
import type { LeaseOwner } from "../store/store.js";
import { LiveControls } from "../tell/live-control.js";
import { controlClusters } from "./cluster-control.js";
import { Daruma } from "./daruma.js";
import { Heartbeat } from "./heartbeat.js";
import { inspectOpen } from "./inspected-store.js";
import { controlChannels } from "./notices/channel-control.js";
import { NoticeSender } from "./notices/notice-sender.js";
import type { DarumaOptions, WorkerOf } from "./parts.js";
import { RetentionKeeper } from "./retention-keeper.js";

const CAMPAIGN_REST_MS = 500;
/** A tick fires so much later at most, apart from what a busy server takes. */
const SCHEDULE_REST_MS = 500;
/** More of them say nothing new, and each is looked at. */
const MAX_WAITING_JOBS = 10_000;

export interface ServerPartsOptions extends DarumaOptions {
  /** How long a silent worker keeps its attempts. */
  readonly attemptLeaseMs?: number;
  /** Batch systems on which it may run steps. */
  readonly clusters?: readonly ClusterSettings[];
  /** The settings file that was read when it started. */
  readonly settingsFile?: string | null;
  /** The version of Daruma. */
  readonly version?: string;
  /** How long runs that are over, and their files, are kept; by default for ever. */
  readonly retention?: RetentionSettings;
  /** Ways to reach people. */
  readonly channels?: readonly ChannelSettings[];
  /** Called with a sentence for the log. */
  readonly onCluster?: (text: string) => void;
}

/** A server's engine with all its workers: runs that stay with whichever server has room for them. */
export class ServerParts {
  private readonly runner: Runner;
  private readonly workflowReader = new WorkflowReader();

  private constructor(
    private readonly daruma: Daruma,
    private readonly engine: Engine,
    private readonly pool: WorkerPool,
    private readonly claimer: RunClaimer,
    private readonly count: { taken: number },
    private readonly allocations: AllocationSupervisor | null,
    private readonly duties: readonly Duty[],
    private readonly health: HealthBoard,
    private readonly heartbeat: Heartbeat,
    private readonly retention: RetentionKeeper,
    private readonly sender: NoticeSender,
    private readonly sandbox: Sandbox,
    private readonly options: ServerPartsOptions,
  ) {
    const { clusters = [] } = options;
    this.runner = {
      start: startOn(daruma, clusters),
      resume: (runId, said) => goOn(daruma, runId, said),
      listWorkers: () => pool.list().map(shown),
      listWaiting: () => this.listWaiting(),
      whyNot: (job, definition) => this.whyNot(job, definition),
    };
  }

  private whyNot(job: PlacedJob, definition: Definition): NoPlace {
    const never = this.allocations?.whyNever(job.id) ?? null;
    return never === null
      ? this.pool.whyNot(needsOf(job, definition).needs)
      : { kind: "worker", text: never };
  }

  private listWaiting(): WaitingJobs[] {
    const { hosts, breakers } = this.engine;
    const found = new Map<string, WaitingJobs>();
    for (const { run, job } of findWaitingJobs(hosts.values(), breakers, MAX_WAITING_JOBS)) {
      const { kind, text: reason } = this.whyNot(job, run.definition);
      const before = found.get(reason);
      const first = { run_id: run.id, workflow: run.workflow, job_id: job.id, step: job.step.definition.id };
      found.set(reason, { ...first, ...before, kind, reason, jobs: (before?.jobs ?? 0) + 1 });
    }
    return [...found.values()].sort((a, b) => b.jobs - a.jobs);
  }

  static async open(options: ServerPartsOptions): Promise<ServerParts> {
    const { leaseMs, attemptLeaseMs } = options;
    let pool: WorkerPool | null = null;
    let health: HealthBoard | null = null;
    const controls = new LiveControls();
    const workerOf: WorkerOf = (local, { store, outputDir, tell }) => {
      health = new HealthBoard({
        ...{ store, clock: systemClock, wake: () => pool?.tellRoom(), tell },
        notify: options.notify ?? [],
      });
      pool = new WorkerPool({
        standings: health,
        local,
        outputDir,
        clock: systemClock,
        recorded: store,
        controlOf: (runId) => controls.of(runId),
        ...(attemptLeaseMs === undefined ? {} : { leaseMs: attemptLeaseMs }),
      });
      return pool;
    };
    const { daruma, engine, owner, sandbox } = await Daruma.assemble(options, workerOf, (workflow) =>
      withSchedulers(workflow, options.clusters ?? []),
    );
    daruma.onCommitted(controls.note);
    followHealth(daruma, engine, health!);
    const count = { taken: 0 };
    const claimer = new RunClaimer({
      store: daruma.store,
      engine,
      clock: systemClock,
      owner,
      isDead,
      worker: pool!,
      sees: existsSync,
      ...(leaseMs === undefined ? {} : { leaseMs }),
      cancelRun: (runId, command) => daruma.operate(runId, command),
      onTaken: () => {
        count.taken += 1;
      },
    });
    const allocations = openAllocations(options, daruma, { engine, owner, pool: pool!, health: health! });
    const shared = { store: daruma.store, clock: systemClock, leases: engine.leases };
    const lease = leaseMs === undefined ? {} : { leaseMs };
    const operate: Context["operate"] = (runId, command) => daruma.operate(runId, command);
    const campaigns = new Duty({
      ...{ ...shared, name: "campaigns", restMs: CAMPAIGN_REST_MS },
      work: () => workOnCampaigns({ store: daruma.store, operate, now: Date.now }),
    });
    const { clusters = [], breakers = [], channels = [], notify = [], retention = NO_RETENTION } = options;
    const { apiUrl = () => "", onCluster = () => {} } = options;
    const ticks = new ScheduleKeeper({
      ...{ ...shared, tell: onCluster },
      start: (asked) => startScheduled({ store: daruma.store, start: startOn(daruma, clusters) }, asked),
    });
    const schedules = new Duty({
      ...{ ...shared, name: "schedules", restMs: SCHEDULE_REST_MS },
      work: () => ticks.work(),
    });
    const duties = [bookDuty(daruma.store, shared), campaigns, schedules];
    const keeper = new RetentionKeeper({
      ...{ ...shared, outputDir: daruma.outputDir, host: owner.host, rules: retention, tell: onCluster },
    });
    const sender = new NoticeSender({
      ...{ store: daruma.store, owner, channels, page: apiUrl, ownRuns: null, tell: onCluster },
      env: options.env ?? process.env,
    });
    daruma.onNotices(() => sender.notifier.wake());
    daruma.onCommitted((run) => sender.heed(run));
    const heartbeat = new Heartbeat({
      ...{ store: daruma.store, clock: systemClock, owner, url: apiUrl, ...lease },
      settings: { clusters, breakers, channels, notify, retention },
    });
    return new ServerParts(
      ...([daruma, engine, pool!, claimer, count, allocations, duties, health!] as const),
      ...([heartbeat, keeper, sender, sandbox, options] as const),
    );
  }

  private get clusters(): ClusterControl | null {
    const { clusters = [], apiUrl = () => "" } = this.options;
    return this.allocations === null ? null : controlClusters(clusters, this.allocations, apiUrl);
  }

  private get channels(): ChannelControl {
    const { channels = [], env = process.env, apiUrl = () => "" } = this.options;
    return controlChannels(channels, { env, page: apiUrl });
  }

  /** Goes on, from now, with every run that wants an engine and has none. The answer is how many there were. */
  async takeUpRuns(): Promise<number> {
    await this.claimer.start();
    await this.heartbeat.start();
    // Runs first: their attempts are waited for by the time that the end of an allocation is heard of.
    await this.allocations?.start();
    for (const each of this.duties) each.start();
    this.sender.notifier.start();
    this.retention.start();
    return this.count.taken;
  }

  /** Serves workers on other machines. */
  get desk(): PoolDesk {
    return this.pool.desk;
  }

  onShortage(listener: (text: string) => void): void {
    this.daruma.onShortage(listener);
  }

  onCommitted(listener: RunListener): () => void {
    return this.daruma.onCommitted(listener);
  }

  /** What there is to do right now. */
  load(): { readonly runs: number; readonly slots: number; readonly workers: number } {
    const workers = this.pool.list();
    const slots = workers.reduce((sum, { used }) => sum + used, 0);
    return { runs: this.engine.ownedRuns().length, slots, workers: workers.length };
  }

  /** The breakers that this server's runs have used, as last read. */
  breakers(): ReadonlyMap<string, BreakerState> {
    return this.engine.breakers.states();
  }

  /** The health of workers and nodes by name, as last read. */
  workerHealth(): ReadonlyMap<string, HealthState> {
    return this.health.states();
  }

  onLoaded(listener: RunListener): () => void {
    return this.daruma.onLoaded(listener);
  }

  context(principal: Principal): Context {
    const { store, outputDir } = this.daruma;
    return {
      store,
      outputDir,
      principal,
      now: Date.now,
      operate: (runId, command) => this.daruma.operate(runId, command),
      runner: this.runner,
      clusters: this.clusters,
      retention: () => this.options.retention ?? NO_RETENTION,
      inspectStore: (full) => inspectOpen(store, full),
      describeSettings: () => ({ file: this.options.settingsFile ?? null, problem: null }),
      ...(this.options.version === undefined ? {} : { version: this.options.version }),
      customActions: [],
      breakers: this.options.breakers ?? [],
      sharedBreakers: (this.options.breakers ?? []).map(({ name }) => name),
      channels: this.channels,
      channelNames: (this.options.channels ?? []).map(({ name }) => name),
      notify: this.options.notify ?? [],
      workflowReader: this.workflowReader,
    };
  }

  /** Serves signed requests of other systems. */
  webhooks(admitRun: (principal: Principal) => void): WebhookDesk {
    const { env = process.env, onCluster = () => {} } = this.options;
    return new WebhookDesk({
      ...{ store: this.daruma.store, sandbox: this.sandbox, now: Date.now, tell: onCluster },
      secrets: new WebhookSecrets(env, systemClock.elapsed),
      start: this.runner.start,
      admitRun: (name) => admitRun({ name: `webhook of ${name}`, role: "operator" }),
    });
  }

  /** Lets go of every run in good order; another server, or this one when it is back, goes on with it. */
  async close(): Promise<void> {
    await this.workflowReader.close();
    await this.heartbeat.stop();
    await this.retention.stop();
    await this.sender.close();
    await this.allocations?.stop();
    await Promise.all(this.duties.map((each) => each.stop()));
    await this.claimer.stop();
    await this.health.stop();
    await this.daruma.close();
  }
}

function followHealth(daruma: Daruma, engine: Engine, health: HealthBoard): void {
  daruma.onLoaded((run) => health.load(run));
  daruma.onCommitted((run, events) => health.take(run, events));
  engine.onLost((run) => health.letGo(run));
}

/** What a workflow asks of Slurm stands fast when its run begins, as all of its definition. */
function withSchedulers(workflow: Workflow, clusters: readonly ClusterSettings[]): Workflow {
  const definition = bindSchedulers(workflow.definition, clusters);
  if (definition === workflow.definition) return workflow;
  const { hash, text } = fromDefinition(definition, workflow.folder);
  return { ...workflow, definition, hash, text };
}

function openAllocations(
  { clusters = [], apiUrl = () => "", onCluster = () => {} }: ServerPartsOptions,
  daruma: Daruma,
  {
    engine,
    owner,
    pool,
    health,
  }: {
    readonly engine: Engine;
    readonly owner: LeaseOwner;
    readonly pool: WorkerPool;
    readonly health: HealthBoard;
  },
): AllocationSupervisor | null {
  if (clusters.length === 0) return null;
  const allocations = new AllocationSupervisor({
    clusters,
    providerOf: ({ type }) => createAllocationProvider(type),
    store: daruma.store,
    clock: systemClock,
    owner,
    isDead,
    outputDir: daruma.outputDir,
    server: apiUrl,
    pilots: pool.allocations,
    ownedRuns: () => engine.ownedRuns(),
    breakers: () => ({
      keepsBack: (run, job) => engine.breakers.keepsBack({ run }, job),
      probes: engine.breakers.probesInNeed(),
    }),
    tell: onCluster,
    nodesInQuarantine: (cluster) => health.nodesInQuarantine(cluster),
  });
  pool.allocations.canBring = (runsOn) => clusterFor(runsOn, clusters) !== null;
  pool.allocations.mostOf = (runsOn, resource) => allocations.mostOf(runsOn, resource);
  daruma.onLoaded((run) => allocations.take(run, []));
  daruma.onCommitted((run, events) => allocations.take(run, events));
  return allocations;
}

function startOn(daruma: Daruma, clusters: readonly ClusterSettings[]): Runner["start"] {
  return async (workflow, options) => {
    refuseWorkspaceOnCluster(workflow.definition, clusters);
    return (await daruma.begin(workflow, { ...options, managed: true })).runId;
  };
}

async function goOn(daruma: Daruma, runId: number, said: Resuming): Promise<void> {
  try {
    await daruma.takeUp(runId, said);
  } catch (error) {
    // The process that has taken it meanwhile continues it.
    if (!(error instanceof DarumaError && error.code === "RUN_OWNED")) throw error;
  }
}

function shown(worker: ReturnType<WorkerPool["list"]>[number]): WorkerInfo {
  const { id: _id, actions: _actions, registered_at: _at, memory_bytes, attempts, ...rest } = worker;
  return {
    ...rest,
    memory_bytes: memory_bytes === 0 ? null : memory_bytes,
    attempts: attempts.map(({ job_id, attempt }) => ({ job_id, attempt })),
  };
}
