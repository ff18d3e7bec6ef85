import {
  type Breaker,
  type BreakerState,
  breakersOf,
  countFailures,
  nextProbeAt,
  type SharedBreakers,
  spentAt,
  stateOf,
  type UsedBreaker,
} from "../../../core/breakers/breaker.js";
import type { Command, OpenBreaker } from "../../../core/model/commands.js";
import type { Event, LoggedEvent } from "../../../core/model/events.js";
import { stepsOf } from "../../../core/model/flow.js";
import { findJob, isOver, type Job, type Run } from "../../../core/model/run.js";
import { hasTurn } from "../../../core/model/workspace-turn.js";
import type { Board } from "../board.js";
import type { EngineOptions } from "../engine-options.js";
import { changesOf, Loop } from "../loop.js";
import type { RunHost } from "../run-host.js";
import {
  breakerText,
  isFailureOf,
  type Noted,
  notedOf,
  openingNotices,
  rulesFor,
  withNotes,
} from "./breaker-notices.js";
import { openBreakers } from "./breaker-rows.js";
import { isSpentGrant, Probes, ReleaseQueue } from "./probes.js";

/** How often to check for changes by others if the store does not notify. */
const MAX_POLL_MS = 10_000;
const MIN_POLL_MS = 200;
/** Checks happen at least this often per probe interval, so that no probe is late. */
const POLLS_PER_PROBE = 4;

export interface BreakerPorts
  extends Pick<EngineOptions, "store" | "clock" | "owner" | "breakers" | "notify" | "tell"> {
  readonly post: (host: RunHost, command: Command) => void;
  /** Checks again what may start. */
  readonly wake: () => void;
  /** Whether a worker has room for the job now. */
  readonly hasPlace: (host: RunHost, job: Job) => boolean;
}

/**
 * This engine's view of the breakers that its runs use: which jobs they hold back, and what its runs report to them.
 */
export class BreakerBoard {
  private readonly rows: Board<Breaker>;
  private readonly shared: SharedBreakers;
  private readonly probes: Probes;
  private readonly queue: ReleaseQueue;
  private readonly hosts = new Set<RunHost>();
  private readonly used = new Map<string, UsedBreaker>();
  private readonly seen = new Map<string, BreakerState>();
  /** Decided, but not committed yet. */
  private readonly decidedBy = new Map<RunHost, Map<Event, Noted>>();
  /** Committed, but not written to the rows yet. */
  private unwritten: Noted[] = [];
  private readonly loop: Loop;

  constructor(private readonly ports: BreakerPorts) {
    const { store, clock, owner, breakers = new Map() } = ports;
    this.shared = breakers;
    this.rows = openBreakers(store, clock, (key) => this.used.get(key)!.policy);
    this.probes = new Probes(this.rows, store, owner.engine, () => clock.now());
    this.queue = new ReleaseQueue(clock, (job, key) => this.release(job, key));
    this.loop = new Loop(clock, {
      turn: () => this.look(),
      restMs: () => this.restMs(),
      wokenBy: changesOf(store, "shared"),
    });
  }

  /**
   * Reads the run's breakers. Call this before the run begins or is taken over, so that they are known when its first
   * jobs are ready.
   */
  async see(
    run: Pick<Run, "definition" | "options" | "workflow"> & Partial<Pick<Run, "graph">>,
  ): Promise<void> {
    const steps = run.graph === undefined ? run.definition.steps : stepsOf({ graph: run.graph });
    const used = steps.flatMap((definition) => breakersOf(run, { step: { definition } }, this.shared));
    for (const each of used) this.used.set(each.key, each);
    if (used.length > 0) await this.refresh();
  }

  /** Adds a run that this engine owns from now on. */
  take(host: RunHost): void {
    if (!stepsOf(host.run).some(({ uses }) => uses !== undefined) || isOver(host.run)) return;
    this.hosts.add(host);
    this.loop.wake();
  }

  /** Removes a run that this engine no longer owns. */
  letGo(host: RunHost): void {
    this.decidedBy.delete(host);
    if (!this.hosts.delete(host)) return;
    for (const job of [...host.run.parked, ...host.run.ready]) this.queue.forget(job);
    for (const grant of this.probes.endOver((each) => each.host === host))
      void this.probes.giveBack(grant).catch(() => {});
    if (this.hosts.size === 0) this.loop.rest();
  }

  async stop(): Promise<void> {
    this.queue.stop();
    await this.loop.stop();
    const given = this.probes.endOver(() => true).map((grant) => this.probes.giveBack(grant));
    await Promise.allSettled([this.write(), ...given]);
  }

  /** Reads the rows. If the store does not answer, the last known state stays. */
  async refresh(): Promise<void> {
    await this.rows.read([...this.used.keys()]).catch(() => {});
  }

  states(): ReadonlyMap<string, BreakerState> {
    return this.seen;
  }

  /** Whether a ready job must not start now. */
  keepsBack({ run }: Pick<RunHost, "run">, job: Job): boolean {
    if (job.step.definition.uses === undefined || job.letThrough) return false;
    const used = breakersOf(run, job, this.shared);
    return this.queue.has(job) || used.some((each) => this.stops(job, each));
  }

  /** Whether the job waits until a breaker closes, so that others need not wait for it. */
  waitsLong(host: RunHost, job: Job): boolean {
    return !job.letThrough && this.openOf(host, job).some(({ key }) => !this.probes.lets(job, key));
  }

  private stops(job: Job, { key, policy }: UsedBreaker): boolean {
    const breaker = this.rows.get(key);
    if (breaker === null) return true;
    const now = this.rows.now();
    switch (stateOf(breaker, policy, now)) {
      case "open":
        return !this.probes.lets(job, key);
      case "spent":
        return false;
      case "closed": {
        // Includes failures that will open the breaker but are not written yet.
        const more = this.countUnwritten(key);
        return more > 0 && countFailures(breaker, policy, now) + more >= policy.failures;
      }
    }
  }

  private countUnwritten(key: string): number {
    const decided = [...this.decidedBy.values()].flatMap((notes) => [...notes.values()]);
    return [...decided, ...this.unwritten].filter((noted) => isFailureOf(noted, key)).length;
  }

  /** Adds what the core must know about breakers to a command. */
  informed({ run }: RunHost, command: Command): Command {
    if (command.type !== "attempt.finish") return command;
    const job = findJob(run, command.job);
    if (job?.step.definition.uses === undefined) return command;
    const open = breakersOf(run, job, this.shared).flatMap(({ key, policy }): OpenBreaker[] => {
      const breaker = this.rows.get(key);
      const isOpen = breaker !== null && stateOf(breaker, policy, this.rows.now()) === "open";
      return isOpen ? [{ name: policy.name, classes: policy.classes }] : [];
    });
    return open.length === 0 ? command : { ...command, breakers: open };
  }

  /** Notes decided events. Call this before anything else is decided, because it depends on the jobs' present state. */
  decided(host: RunHost, events: readonly Event[]): void {
    if (events.some((event) => event.type === "step.declared" && event.definition?.uses !== undefined)) {
      // What a program calls may use what no step before it did.
      this.take(host);
      void this.see(host.run);
    }
    if (!this.hosts.has(host)) return;
    for (const event of events) {
      const noted = notedOf(host.run, event, this.shared);
      if (noted === null) continue;
      const notes = this.decidedBy.get(host) ?? new Map<Event, Noted>();
      this.decidedBy.set(host, notes.set(event, noted));
    }
  }

  committed(host: RunHost, events: readonly LoggedEvent[]): void {
    if (!this.hosts.has(host)) return;
    const notes = this.decidedBy.get(host);
    for (const { event } of events) {
      const noted = notes?.get(event);
      if (noted === undefined) continue;
      notes?.delete(event);
      this.unwritten.push(noted);
    }
    const over = this.probes.endOver((grant) => grant.host === host && isSpentGrant(grant));
    if (this.unwritten.length > 0 || over.length > 0 || host.run.parked.size > 0) this.loop.wake();
    for (const grant of over) void this.probes.giveBack(grant).catch(() => {});
  }

  /** Reads the rows, writes this engine's news, and acts on the result. */
  private async look(): Promise<void> {
    // The last event of a run may be the one that closes a breaker.
    if (this.hosts.size === 0 && this.unwritten.length === 0) return;
    try {
      await this.rows.read([...this.used.keys()]);
      await this.write();
      await this.register();
    } catch {
      // A failing store is tried again in the next round.
    }
    this.notice();
    await this.probe().catch(() => {});
  }

  /** Writes what this engine's runs have met, in order. */
  private async write(): Promise<void> {
    const notes = [...this.unwritten];
    const keys = new Set(notes.flatMap(({ used }) => used.map(({ key }) => key)));
    for (const key of keys) {
      const { policy } = this.used.get(key)!;
      const rules = rulesFor(key, this.hosts, this.shared, this.ports.notify);
      await this.rows.changeOne(
        key,
        (breaker, now) => withNotes(breaker, { key, policy }, notes, now, now - this.ports.clock.now()),
        (before, after) => openingNotices(key, { before, after, notes, rules }),
      );
    }
    this.unwritten = this.unwritten.slice(notes.length);
  }

  /** Creates rows for used breakers, so that everybody sees which ones exist. */
  private async register(): Promise<void> {
    for (const key of this.used.keys())
      if (!this.rows.isWritten(key))
        await this.rows.change([key], (breakers) => (this.rows.isWritten(key) ? null : breakers));
  }

  /** Acts on what has changed since the last round. */
  private notice(): void {
    const now = this.rows.now();
    for (const [key, used] of this.used) {
      const breaker = this.rows.get(key);
      if (breaker === null) continue;
      const state = stateOf(breaker, used.policy, now);
      const before = this.seen.get(key) ?? "closed";
      this.seen.set(key, state);
      if (state === before) continue;
      this.ports.tell?.(breakerText(key, breaker, used.policy, state));
      if (state === "open") this.queue.drop(key);
      if (state === "closed" && before === "open") this.releaseReady(used);
    }
    for (const host of this.hosts) this.tellParked(host);
    this.ports.wake();
  }

  private releaseReady({ key, policy }: UsedBreaker): void {
    for (const host of this.hosts) {
      const waiting = [...host.run.ready].filter((job) => !job.letThrough && this.uses(host, job, key));
      this.queue.add(key, waiting, policy.releasePerSecond);
    }
  }

  private uses({ run }: RunHost, job: Job, key: string): boolean {
    return breakersOf(run, job, this.shared).some((each) => each.key === key);
  }

  /** Releases parked jobs that need not wait any longer: gradually if the breaker is closed, at once if it is spent. */
  private tellParked(host: RunHost): void {
    const now = this.rows.now();
    for (const job of host.run.parked) {
      if (this.queue.has(job) || this.probes.has(job)) continue;
      const names = job.parked!.breakers;
      const waited = breakersOf(host.run, job, this.shared).filter(({ policy }) =>
        names.includes(policy.name),
      );
      const states = waited.map(({ key, policy }) => {
        const breaker = this.rows.get(key);
        return breaker === null ? "open" : stateOf(breaker, policy, now);
      });
      if (states.includes("open")) continue;
      const spent = waited[states.indexOf("spent")];
      const [first] = waited;
      if (spent !== undefined) this.unpark(host, job, spent.policy.name, "spent");
      else if (first !== undefined) this.queue.add(first.key, [job], first.policy.releasePerSecond);
      // The settings no longer define it.
      else this.unpark(host, job, names[0] ?? "", "closed");
    }
  }

  private unpark(host: RunHost, { id }: Job, breaker: string, because: "closed" | "spent" | "probe"): void {
    this.ports.post(host, { type: "jobs.unpark", jobs: [id], breaker, because });
  }

  private release(job: Job, key: string): void {
    const host = [...this.hosts].find(({ run }) => findJob(run, job.id) === job);
    if (host !== undefined && job.parked !== null)
      this.unpark(host, job, this.used.get(key)?.policy.name ?? key, "closed");
    this.ports.wake();
  }

  /** Lets the oldest eligible job through wherever a probe is due. */
  private async probe(): Promise<void> {
    const now = this.ports.clock.now();
    for (const grant of this.probes.endOver(
      ({ job, attempt, used, at }) =>
        job.attempt < attempt && now - at >= Math.min(...used.map(({ policy }) => policy.probeEveryMs)),
    ))
      await this.probes.giveBack(grant);
    const due = this.dueProbes();
    while (due.size > 0) {
      const found = this.findProbe(due, this.ports.hasPlace);
      if (found === null) return;
      const { host, job, open } = found;
      for (const { key } of open) due.delete(key);
      if (!(await this.probes.take(host, job, open))) continue;
      if (this.loop.isStopped || !this.hosts.has(host)) return;
      if (job.parked !== null) this.unpark(host, job, open[0]!.policy.name, "probe");
      this.ports.wake();
    }
  }

  private dueProbes(): Set<string> {
    return new Set([...this.used.values()].filter((each) => this.probes.isDue(each)).map(({ key }) => key));
  }

  /** Jobs that would start as probes if a worker had room. Other jobs held back by a breaker need no room. */
  probesInNeed(): ReadonlySet<Job> {
    const due = this.dueProbes();
    const found = new Set<Job>();
    while (due.size > 0) {
      const next = this.findProbe(due, () => true);
      if (next === null) return found;
      for (const { key } of next.open) due.delete(key);
      found.add(next.job);
    }
    return found;
  }

  private findProbe(
    due: ReadonlySet<string>,
    hasPlace: BreakerPorts["hasPlace"],
  ): { readonly host: RunHost; readonly job: Job; readonly open: readonly UsedBreaker[] } | null {
    const hosts = [...this.hosts].filter(
      ({ run }) => run.paused === null && (run.cancelRequested === null || run.ending !== null),
    );
    const parked = hosts
      .flatMap((host) => [...host.run.parked].map((job) => ({ host, job })))
      .sort((a, b) => a.job.parked!.since - b.job.parked!.since);
    const ready = hosts.flatMap((host) => [...host.run.ready].map((job) => ({ host, job })));
    for (const { host, job } of [...parked, ...ready]) {
      if (job.barrier !== null || this.probes.has(job)) continue;
      const open = this.openOf(host, job);
      if (open.length === 0 || !open.every(({ key }) => due.has(key))) continue;
      const hasItsTurn = hasTurn(host.run, job, (other) => this.waitsLong(host, other));
      if (hasItsTurn && hasPlace(host, job)) return { host, job, open };
    }
    return null;
  }

  private openOf({ run }: RunHost, job: Job): readonly UsedBreaker[] {
    if (job.step.definition.uses === undefined) return [];
    const now = this.rows.now();
    return breakersOf(run, job, this.shared).filter(({ key, policy }) => {
      const breaker = this.rows.get(key);
      return breaker !== null && stateOf(breaker, policy, now) === "open";
    });
  }

  private restMs(): number | null {
    if (this.hosts.size === 0) return null;
    const now = this.rows.now();
    let dueAt = now + MAX_POLL_MS;
    for (const { key, policy } of this.used.values()) {
      const breaker = this.rows.get(key);
      if (breaker === null) continue;
      dueAt = Math.min(dueAt, now + Math.max(MIN_POLL_MS, policy.probeEveryMs / POLLS_PER_PROBE));
      for (const at of [nextProbeAt(breaker, policy), spentAt(breaker, policy)])
        if (at !== null && at > now) dueAt = Math.min(dueAt, at);
    }
    return dueAt - now;
  }
}
