import { messageOf } from "../../core/text/message-of.js";
import type { ClusterSettings } from "../../file/settings/settings.js";
import { Loop } from "../../run/engine/loop.js";
import type { AllocationRow, ClusterRow, ClusterState } from "../../store/cluster-rows.js";
import { isSameOwner } from "../../store/lease-rules.js";
import { isRefusal, type ProbeResult, type Target } from "../allocations/provider.js";
import { laneAmong } from "../allocations/requests/lane.js";
import { planLanes } from "../allocations/requests/plan-lanes.js";
import { jobLimits, targetOf } from "../allocations/scale/demand.js";
import type { ClusterHistory, LiveAllocation, ScalePlan } from "../allocations/scale/plan-allocations.js";
import { Cancels } from "./cancels.js";
import { adopt, Observer } from "./observe.js";
import { type Observed, reconcile, UselessPilots } from "./reconcile.js";
import { type Draft, Submitter } from "./submitter.js";
import { type Pilots, RETURN_MS, type SupervisorPorts } from "./supervisor-ports.js";

/**
 * How long other jobs wait to learn why an allocation ends. A node that does not answer may keep it ending for minutes.
 */
export const EXPLAINED_MS = 20_000;

function historyOf({ suspended, failures, retry_at, submitted_at }: ClusterRow): ClusterHistory {
  return { suspended, failures, retryAt: retry_at, submittedAt: submitted_at };
}

/** An allocation as planning sees it. */
function liveOf(
  row: AllocationRow,
  around: {
    readonly isMine: boolean;
    readonly settings: ClusterSettings;
    readonly pilots: Pilots;
    /** This server has just begun: workers that had come to it before are on their way back. */
    readonly expectsPilots: boolean;
    /** How long it has been leaving. */
    readonly endingForMs: number;
    readonly now: number;
  },
): LiveAllocation {
  const { shape, job_id: jobId, pilot_at, state, cancel } = row;
  const { isMine, endingForMs } = around;
  return {
    shape,
    jobId,
    hasPilot: pilot_at !== null,
    usableMs: usableMs(row, around),
    lane: laneAmong(row.tags, row.cluster),
    endsUnexplained: isMine && state === "ending" && cancel === null && endingForMs < EXPLAINED_MS,
  };
}

/** Workers of another server take none of our jobs, nor does one that is to end or has gone. */
function usableMs(
  row: AllocationRow,
  { isMine, settings, pilots, expectsPilots, now }: Parameters<typeof liveOf>[1],
): number {
  if (!isMine || row.cancel !== null || row.state === "ending") return 0;
  const isAway = row.pilot_at !== null && !pilots.isHere(`${row.cluster}/${row.id}`, row.token_id);
  if (isAway && !expectsPilots) return 0;
  const whole = row.shape.runtimeMs - settings.allocation.drainMs;
  return row.started_at === null ? whole : Math.max(0, row.started_at + whole - now);
}

/** How often the batch system is asked. */
export const POLL_MS = 5_000;
/** After something has happened here; several at once are one. */
const WAKE_MS = 1_000;
/** How long what the batch system says of its partitions and nodes holds. */
export const PROBE_MS = 10 * 60_000;
const MAX_TRIES = 5;

/** Looks after one cluster for one server: observes, records, plans, submits, cancels. */
export class ClusterSupervisor {
  /** What the last look came to. */
  lastPlan: ScalePlan | null = null;
  /** Why no allocation can take a job, by its id, as of the last look that planned. */
  impossible: ReadonlyMap<number, string> = new Map();
  private readonly submitting = new Set<string>();
  private readonly observer: Observer;
  private readonly cancels: Cancels;
  private readonly submitter: Submitter;
  private readonly stopping = new AbortController();
  /** By key: the time since which an allocation has been ending. */
  private endingSince: ReadonlyMap<string, number> = new Map();
  private probed: { readonly result: ProbeResult; readonly at: number } | null = null;
  private readonly loop: Loop;
  private isWoken = false;
  private byHand = false;
  private readonly beganAt: number;
  private readonly useless: UselessPilots;
  private wasTold = "";

  constructor(private readonly ports: SupervisorPorts) {
    this.beganAt = ports.clock.elapsed();
    this.loop = new Loop(ports.clock, {
      turn: () => this.lookOnce(),
      restMs: () => (this.isWoken ? WAKE_MS : POLL_MS),
    });
    this.observer = new Observer(ports, this.submitting);
    this.cancels = new Cancels(ports);
    this.useless = new UselessPilots(ports);
    this.submitter = new Submitter(ports, this.submitting);
  }

  get name(): string {
    return this.ports.settings.name;
  }

  /** Resolves after the first look. */
  start(): Promise<void> {
    this.loop.wake();
    return this.loop.idle();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop.stop();
  }

  /** Something may have changed; it is looked at soon. */
  wake(): void {
    if (this.isWoken) return;
    this.isWoken = true;
    this.loop.rest();
  }

  /** Somebody wants allocations for what is ready now. */
  async planNow(): Promise<ScalePlan | null> {
    this.byHand = true;
    this.loop.wake();
    await this.loop.idle();
    return this.lastPlan;
  }

  /** The places to submit to; asked now and then. Throws where the batch system does not answer. */
  async targets(): Promise<readonly Target[]> {
    const { provider, clock } = this.ports;
    if (this.probed === null || clock.elapsed() - this.probed.at >= PROBE_MS)
      this.probed = { result: await provider.probe(this.stopping.signal), at: clock.elapsed() };
    return this.probed.result.targets;
  }

  /** What one job may ask for. Until the batch system has answered once, only the settings' limits are known. */
  knownLimits(): ReturnType<typeof jobLimits> {
    const { settings } = this.ports;
    return jobLimits(settings, targetOf(settings, this.probed?.result.targets ?? []));
  }

  private async lookOnce(): Promise<void> {
    this.isWoken = false;
    await this.look().then(
      () => this.tellOnce(""),
      (error: unknown) => this.tellOnce(`cluster ${this.name}: ${messageOf(error)}`),
    );
  }

  /** Reports a problem once, although it recurs every five seconds. */
  private tellOnce(text: string): void {
    if (text !== "" && text !== this.wasTold && !this.stopping.signal.aborted) this.ports.tell(text);
    this.wasTold = text;
  }

  private async look(): Promise<void> {
    const { store, owner, clock } = this.ports;
    const { signal } = this.stopping;
    const { byHand } = this;
    this.byHand = false;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const read = await store.readCluster(this.name);
      const state = adopt(read, await store.listServers(clock.now()), this.ports);
      const mine = (row: AllocationRow): boolean => isSameOwner(row.owner, owner);
      const observed = await this.observer.look(state.allocations.filter(mine), signal);
      const next = await this.update(state, mine, observed);
      let trouble: unknown = null;
      // A batch system that cannot be planned for is looked after all the same: what has ended, what is to be canceled.
      const drafts = await this.plan(next, mine, byHand).catch((error: unknown): Draft[] => {
        trouble = error;
        return [];
      });
      if (await this.write(read, next, drafts)) {
        await this.cancels.ask(next.allocations.filter(mine), signal);
        for (const draft of drafts) await this.submitter.submit(draft, signal);
        if (trouble !== null) throw trouble;
        return;
      }
      await this.submitter.drop(drafts);
    }
  }

  /**
   * Ended allocations are reported and cleaned up before their end is on record: these actions may be repeated, but
   * none may be skipped.
   */
  private async update(
    state: ClusterState,
    mine: (row: AllocationRow) => boolean,
    observed: Observed,
  ): Promise<ClusterState> {
    const { provider, pilots } = this.ports;
    const { cluster, allocations, ended } = reconcile(state, mine, observed, provider.classify);
    for (const { row, restart, end } of ended) {
      const allocation = `${this.name}/${row.id}`;
      pilots.allocationEnded({ allocation, restart, end, jobId: row.job_id });
    }
    for (const row of allocations) if (row.state === "ended" && mine(row)) await this.cleanUp(row);
    const demands = this.ports.demands();
    return {
      cluster: this.useless.judge(cluster, allocations.filter(mine), demands),
      allocations: this.cancels.withSurplus(allocations, mine, demands),
    };
  }

  private async cleanUp({ token_id, folder }: AllocationRow): Promise<void> {
    const { store, files, clock } = this.ports;
    files.remove(folder);
    if (token_id !== null) await store.revokeToken(token_id, clock.now());
  }

  private async plan(
    { cluster, allocations }: ClusterState,
    mine: (row: AllocationRow) => boolean,
    byHand: boolean,
  ): Promise<Draft[]> {
    const { settings, provider, clock, pilots } = this.ports;
    const demands = this.ports.demands();
    this.lastPlan = null;
    if (demands.length === 0) {
      this.impossible = new Map();
      // A failed job may want to know the limits before any job waits.
      if (this.probed === null) await this.targets();
      return [];
    }
    if (byHand) this.submitter.forgetRefusals();
    const targets = await this.targets();
    const now = clock.now();
    const expectsPilots = clock.elapsed() - this.beganAt < RETURN_MS;
    const live = allocations.filter(({ state }) => state !== "ended");
    const endingForMs = this.endingTimes(live);
    this.lastPlan = planLanes({
      settings,
      targets,
      refused: this.submitter.refusedLanes(),
      demands,
      live: live.map((row) =>
        liveOf(row, {
          isMine: mine(row),
          settings,
          pilots,
          expectsPilots,
          endingForMs: endingForMs(row),
          now,
        }),
      ),
      history: historyOf(cluster),
      now,
      tooBig: this.submitter.tooBig,
      byHand,
    });
    this.impossible = new Map(this.lastPlan.impossible.map(({ jobId, reason }) => [jobId, reason]));
    return this.submitter.draft(this.lastPlan.submit, cluster, targets, provider);
  }

  private endingTimes(live: readonly AllocationRow[]): (row: AllocationRow) => number {
    const elapsed = this.ports.clock.elapsed();
    const since = (key: string): number => this.endingSince.get(key) ?? elapsed;
    const ending = live.filter(({ state }) => state === "ending");
    this.endingSince = new Map(ending.map(({ key }) => [key, since(key)]));
    return ({ key }) => elapsed - since(key);
  }

  /** Nothing is written where nothing has changed. */
  private async write(read: ClusterState, next: ClusterState, drafts: readonly Draft[]): Promise<boolean> {
    const { store, clock } = this.ports;
    const before = new Map(read.allocations.map((row) => [row.key, JSON.stringify(row)]));
    const changed = next.allocations.filter((row) => before.get(row.key) !== JSON.stringify(row));
    const refused = drafts.find(isRefusedDraft)?.refusal ?? null;
    const rows = drafts.flatMap((draft) => (isRefusedDraft(draft) ? [] : [draft.row]));
    const cluster: ClusterRow = {
      ...(refused === null ? next.cluster : this.submitter.afterRefusal(next.cluster, refused)),
      ...(rows.length === 0 ? {} : { submitted_at: clock.now() }),
    };
    const isSame = JSON.stringify(cluster) === JSON.stringify(read.cluster);
    if (changed.length === 0 && rows.length === 0 && isSame) return true;
    return store.writeCluster({ cluster, allocations: [...changed, ...rows] });
  }
}

function isRefusedDraft(draft: Draft): draft is Extract<Draft, { refusal: object }> {
  return "refusal" in draft && isRefusal(draft.refusal);
}
