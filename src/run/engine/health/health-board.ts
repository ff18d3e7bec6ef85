import type { NotifyRule } from "../../../core/model/definition.js";
import type { LoggedEvent } from "../../../core/model/events.js";
import { isOver, type Run } from "../../../core/model/run.js";
import {
  beginProbation,
  Contrast,
  type ContrastedJob,
  dropProbation,
  failProbation,
  free,
  type HealthState,
  type Quarantine,
  quarantine,
  type Standing,
  type Standings,
  stateOf,
  type WorkerHealth,
} from "../../../core/quarantine/quarantine.js";
import type { Store } from "../../../store/store.js";
import type { Board } from "../board.js";
import type { Clock } from "../clock.js";
import { changesOf, Loop } from "../loop.js";
import { AttemptsSeen, type Ending, type SeenAttempt } from "./attempts-seen.js";
import { openHealthRows } from "./health-rows.js";
import { healthText, quarantineNotices } from "./quarantine-notices.js";

/** How often to check for changes by others if the store does not notify. */
const POLL_MS = 10_000;

export interface HealthPorts {
  readonly store: Pick<Store, "readShared" | "writeShared" | "onChange">;
  readonly clock: Clock;
  /** Called when somebody may get work who did not before. */
  readonly wake: () => void;
  /** The rules of the settings. */
  readonly notify?: readonly NotifyRule[];
  /** Called with a sentence for people. */
  readonly tell?: (text: string) => void;
}

type Change = (health: WorkerHealth, now: number) => WorkerHealth;

/**
 * This server's view of the workers' health. It finds workers that fail jobs which others complete, from the attempts
 * of its own runs. A quarantine is a row that all servers of the store see.
 */
export class HealthBoard implements Standings {
  private readonly rows: Board<WorkerHealth>;
  private readonly attempts = new AttemptsSeen();
  private readonly contrast = new Contrast();
  /** Names of workers that somebody asked about. */
  private readonly watched = new Set<string>();
  /** Names whose rows were read, or could not be read. */
  private readonly known = new Set<string>();
  /** Changes decided here but not written yet. */
  private readonly unwritten = new Map<string, Change[]>();
  /** By name: when the quarantine with this mark ends, on the monotonic clock. */
  private readonly ends = new Map<string, { readonly mark: string; readonly at: number }>();
  private readonly seen = new Map<string, HealthState>();
  /** Probations that this server may begin, and those that it requests. */
  private readonly granted = new Set<string>();
  private readonly asking = new Set<string>();
  private readonly loop: Loop;

  constructor(private readonly ports: HealthPorts) {
    this.rows = openHealthRows(ports.store, ports.clock);
    this.loop = new Loop(ports.clock, {
      turn: () => this.look(),
      restMs: () => this.restMs(),
      wokenBy: changesOf(ports.store, "shared"),
    });
  }

  /** Stops, and returns probations that were granted but not used. */
  async stop(): Promise<void> {
    await this.loop.stop();
    for (const name of this.granted) if (!this.attempts.isProving(name)) this.change(name, dropProbation);
    await this.write().catch(() => {});
  }

  standingOf(name: string): Standing {
    if (!this.watched.has(name)) this.watch(name);
    if (!this.known.has(name)) return "unknown";
    const health = this.healthOf(name);
    if (health.quarantine === null) return this.contrast.isSuspect(name) ? "suspect" : "good";
    if (this.attempts.isProving(name)) return "out";
    if (this.granted.has(name)) return "proving";
    return this.isDue(name, health.quarantine) ? "due" : "out";
  }

  /** The states of all workers that this server has seen. */
  states(): ReadonlyMap<string, HealthState> {
    return this.seen;
  }

  /** Nodes of a cluster that allocations should avoid now. */
  nodesInQuarantine(cluster: string): string[] {
    const prefix = `${cluster}/`;
    const names = this.rows.entries().map(([name]) => name);
    return names
      .filter((name) => name.startsWith(prefix) && this.standingOf(name) === "out")
      .map((name) => name.slice(prefix.length));
  }

  askProbation(name: string): void {
    const { quarantine: found } = this.healthOf(name);
    if (found === null || this.asking.has(name) || this.loop.isStopped) return;
    this.asking.add(name);
    const mark = markOf(found);
    const take: Change = (health, now) =>
      health.quarantine !== null && markOf(health.quarantine) === mark ? beginProbation(health, now) : health;
    void this.edit(name, [take]).then(
      (isTaken) => {
        if (isTaken) this.granted.add(name);
        this.asking.delete(name);
        this.notice();
      },
      // A failing store is tried again in the next round.
      () => {},
    );
  }

  load(run: Run): void {
    this.attempts.load(run);
  }

  /** Forgets a run that this server no longer owns. */
  letGo(run: Run): void {
    this.attempts.forget(run.id);
    this.contrast.forget((each) => each.run === run.id);
  }

  /** Takes committed events of one of this server's runs. */
  take(run: Run, events: readonly LoggedEvent[]): void {
    if (this.watched.size === 0 && this.attempts.isEmpty) return;
    for (const { attempt, ending } of this.attempts.take(run, events)) this.judge(attempt, ending);
    this.forgetSettled(run, events);
    for (const { worker, jobs } of this.contrast.found()) this.quarantine(worker, jobs);
    if (this.unwritten.size > 0) this.loop.wake();
  }

  private judge(attempt: SeenAttempt, ending: Ending): void {
    const { worker, label } = attempt;
    if (attempt.isProbation && worker !== null) this.endProbation(worker, ending);
    if (ending.kind === "succeeded") return this.contrast.succeeded(worker, label, attempt);
    if (ending.kind === "ended") return;
    // A worker in quarantine is already known to be bad.
    if (worker !== null && (attempt.isProbation || this.healthOf(worker).quarantine !== null)) return;
    this.contrast.failed(worker, { ...attempt, code: ending.code });
  }

  private endProbation(worker: string, { kind }: Ending): void {
    this.granted.delete(worker);
    const reason = "its probation succeeded";
    if (kind === "succeeded") this.change(worker, (health, at) => free(health, { at, by: null, reason }));
    else this.change(worker, kind === "failed" ? failProbation : dropProbation);
  }

  /** Forgets jobs that nobody will complete any more. */
  private forgetSettled(run: Run, events: readonly LoggedEvent[]): void {
    if (isOver(run)) return this.letGo(run);
    const failed = new Set(events.flatMap(({ event }) => (event.type === "job.failed" ? [event.job] : [])));
    if (failed.size > 0) this.contrast.forget(({ job }) => failed.has(job));
  }

  private quarantine(worker: string, jobs: readonly ContrastedJob[]): void {
    this.contrast.clear(worker);
    this.change(worker, (health, now) => quarantine(health, jobs, now));
  }

  /** Records a change, which takes effect here at once and for others when it is written. */
  private change(name: string, change: Change): void {
    this.unwritten.set(name, [...(this.unwritten.get(name) ?? []), change]);
  }

  private healthOf(name: string): WorkerHealth {
    const now = this.rows.now();
    const health = this.rows.get(name) ?? NOT_READ;
    return (this.unwritten.get(name) ?? []).reduce((before, change) => change(before, now), health);
  }

  private watch(name: string): void {
    this.watched.add(name);
    this.loop.wake();
  }

  /** Reads the rows, writes what was decided here, and reports what has changed. */
  private async look(): Promise<void> {
    const names = [...this.watched];
    try {
      await this.rows.readAll(names);
      await this.write();
    } catch {
      // A failing store is tried again in the next round. Until then the state stays as it was.
    }
    for (const name of names) this.known.add(name);
    this.asking.clear();
    this.notice();
  }

  private async write(): Promise<void> {
    for (const [name, changes] of [...this.unwritten]) {
      await this.edit(name, changes);
      const left = (this.unwritten.get(name) ?? []).slice(changes.length);
      if (left.length === 0) this.unwritten.delete(name);
      else this.unwritten.set(name, left);
    }
  }

  private edit(name: string, changes: readonly Change[]): Promise<boolean> {
    return this.rows.changeOne(
      name,
      (before, now) => changes.reduce((health, change) => change(health, now), before),
      (before, after) => quarantineNotices(name, before, after, this.ports.notify ?? []),
    );
  }

  private notice(): void {
    const now = this.rows.now();
    for (const name of new Set([...this.watched, ...this.rows.entries().map(([each]) => each)])) {
      const health = this.healthOf(name);
      const found = health.quarantine;
      if (found !== null) this.setEnd(name, found, now);
      else this.forgetEnd(name);
      const state = found !== null && this.isDue(name, found) ? "probation" : stateOf(health, now);
      const before = this.seen.get(name) ?? "healthy";
      this.seen.set(name, state);
      if (state !== before) this.ports.tell?.(healthText(name, health, state));
    }
    this.ports.wake();
  }

  private forgetEnd(name: string): void {
    if (this.ends.delete(name)) this.contrast.clear(name);
    this.granted.delete(name);
  }

  /** Sets the end of a quarantine, so that it lasts no longer than intended even if the clock is changed. */
  private setEnd(name: string, found: Quarantine, now: number): void {
    const mark = markOf(found);
    if (this.ends.get(name)?.mark === mark) return;
    const wholeMs = found.until - (found.probationAt ?? found.until - found.forMs);
    const leftMs = Math.min(Math.max(0, found.until - now), wholeMs);
    this.ends.set(name, { mark, at: this.ports.clock.elapsed() + leftMs });
  }

  private isDue(name: string, found: Quarantine): boolean {
    const end = this.ends.get(name);
    return end !== undefined && end.mark === markOf(found) && this.ports.clock.elapsed() >= end.at;
  }

  private restMs(): number | null {
    if (this.watched.size === 0) return null;
    const elapsed = this.ports.clock.elapsed();
    const waits = [...this.ends.values()].map(({ at }) => at - elapsed).filter((ms) => ms > 0);
    return Math.min(POLL_MS, ...waits);
  }
}

const NOT_READ: WorkerHealth = { quarantine: null, freed: null };

/** A mark that differs for each quarantine, and for each part of it between two probations. */
function markOf({ since, until, times }: Quarantine): string {
  return `${since} ${until} ${times}`;
}
