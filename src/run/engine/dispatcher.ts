import type { Command } from "../../core/model/commands.js";
import type { Outcome } from "../../core/model/outcome.js";
import type { Job } from "../../core/model/run.js";
import { mayStart } from "../../core/model/workspace-turn.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { Seat, Worker } from "../worker.js";

import type { Clock } from "./clock.js";
import { Patience, wishOf } from "./health/patience.js";
import { isHumanStep, questionFor } from "./human-step.js";
import { hasRoomlessSteps, isNothing, type KeyedNeeds, kindsIn, needsNobody, needsOf } from "./needs.js";
import type { RunHost } from "./run-host.js";
import type { ReadArtifact } from "./variables.js";

export interface DispatcherPorts {
  readonly worker: Worker;
  readonly clock: Pick<Clock, "elapsed" | "after">;
  /** Checks again what may start. */
  readonly wake: () => void;
  readonly sandbox: Pick<Sandbox, "render">;
  readonly newToken: () => string;
  readonly readArtifact: ReadArtifact;
  /** Whether a breaker keeps the ready job from starting. */
  readonly isKeptBack: (host: RunHost, job: Job) => boolean;
  /** Whether it will wait so long that it must not keep others from the workspace. */
  readonly waitsLong: (host: RunHost, job: Job) => boolean;
  /** Starts a job's attempt on the place that was found for it. */
  readonly start: (host: RunHost, place: Seat, command: Extract<Command, { type: "attempt.start" }>) => void;
  /** Calls `begin`. No worker executes the attempt that it starts. */
  readonly withoutWorker: (job: number, begin: () => void) => void;
  readonly ask: (host: RunHost, command: Command) => void;
  /** Gives a command to the host later, if this engine still owns the run. */
  readonly post: (host: RunHost, command: Command) => void;
}

/** Hands ready jobs to workers as long as there are places. */
export class Dispatcher {
  private firstHost = 0;
  /** Questions, by job and visit, whose prompt is being rendered in a thread. */
  private readonly rendering = new Set<string>();
  /** Runs whose trivial steps are delayed because too much is waiting to be committed. */
  readonly heldBack = new Set<RunHost>();
  /**
   * A job that waits for more room than is free at a time. A worker reserves its room, and it is tried before all
   * others.
   */
  private firstInLine: { readonly host: RunHost; readonly job: Job } | null = null;

  private readonly patience: Patience;
  private readonly forgetRoom: () => void;

  constructor(private readonly ports: DispatcherPorts) {
    this.patience = new Patience(ports.clock, ports.wake);
    this.forgetRoom = ports.worker.onRoom(ports.wake);
  }

  stop(): void {
    this.forgetRoom();
    this.patience.stop();
  }

  /**
   * Dispatches jobs. Each call begins with another run of the same priority, so that a long queue blocks nobody else.
   */
  dispatch(runs: Iterable<RunHost>): void {
    const hosts = [...runs];
    this.heldBack.clear();
    this.firstHost = hosts.length === 0 ? 0 : (this.firstHost + 1) % hosts.length;
    const inTurn = hosts.map((_, index) => hosts[(this.firstHost + index) % hosts.length]!);
    // Needs without a place are not requested again in this turn.
    const unplaceable = new Set<string>();
    if (this.firstInLine !== null) this.placeFirst(this.firstInLine, hosts, unplaceable);
    let full = false;
    for (const host of byPriority(inTurn)) full = this.dispatchRun(host, unplaceable, full);
  }

  /**
   * Dispatches one run's jobs. Returns true if no worker has any room left. Questions to people and child runs need
   * none.
   */
  private dispatchRun(host: RunHost, unplaceable: Set<string>, isFull: boolean): boolean {
    const { run } = host;
    let full = isFull;
    if (run.paused !== null) return full;
    const kindOf = kindsIn(run.definition);
    const isRefused = ({ needs, key }: KeyedNeeds): boolean =>
      (full && needs.slots > 0) || unplaceable.has(key);
    // A hundred thousand jobs of one kind may be waiting for a place, so they are skipped together.
    const isOut = (job: Job): boolean =>
      !needsNobody(job, run.definition) && isRefused(needsOf(job, run.definition));
    for (const job of run.ready.inTurn(kindOf, isOut)) {
      if (full && !hasRoomlessSteps(run.definition)) return true;
      if (this.ports.isKeptBack(host, job)) continue;
      if (isHumanStep(job)) {
        this.ask(host, job);
        continue;
      }
      // Steps of the workspace run one at a time, and it is not this one's turn.
      if (!this.mayStart(host, job)) continue;
      if (isNothing(run.definition, job.step.definition) && this.passes(host, job)) continue;
      const keyed = needsOf(job, run.definition);
      if (isRefused(keyed)) continue;
      const { needs, key } = keyed;
      const wish = wishOf(run, job, this.patience.isPatient);
      const wanted = wish.on === null ? key : `${wish.on} ${wish.worker} ${wish.patient} ${key}`;
      if (unplaceable.has(wanted)) {
        if (wish.patient) this.patience.begin(job);
        continue;
      }
      const place = this.ports.worker.place(needs, wish);
      if (place !== "full" && place !== null) {
        this.start(host, job, place);
        continue;
      }
      if (place === "full") full = true;
      else {
        if (wish.patient) this.patience.begin(job);
        unplaceable.add(wanted);
      }
      if (this.firstInLine === null) this.lineUp(host, job);
    }
    return full;
  }

  private placeFirst(
    { host, job }: { readonly host: RunHost; readonly job: Job },
    hosts: readonly RunHost[],
    unplaceable: Set<string>,
  ): void {
    const { worker, isKeptBack } = this.ports;
    const { run } = host;
    this.firstInLine = null;
    worker.keepRoomFor?.(null);
    if (!hosts.includes(host) || run.paused !== null || !run.ready.has(job)) return;
    if (isKeptBack(host, job) || !this.mayStart(host, job)) return;
    const { needs, key } = needsOf(job, run.definition);
    const wish = wishOf(run, job, this.patience.isPatient);
    const place = worker.place(needs, wish);
    if (place !== "full" && place !== null) return this.start(host, job, place);
    if (wish.patient && place === null) this.patience.begin(job);
    if (wish.on === null) unplaceable.add(key);
    this.lineUp(host, job);
  }

  private mayStart(host: RunHost, job: Job): boolean {
    return mayStart(host.run, job, (other) => this.ports.waitsLong(host, other));
  }

  private start(host: RunHost, job: Job, place: Seat): void {
    const { waitsLong, start, newToken } = this.ports;
    // Whoever keeps the tree may be a step without the workspace.
    const keptBack: number[] = [];
    mayStart(host.run, job, (other) => {
      const waits = waitsLong(host, other);
      if (waits) keptBack.push(other.id);
      return waits;
    });
    start(host, place, {
      type: "attempt.start",
      job: job.id,
      worker: place.worker,
      ...(place.at === undefined ? {} : { place: place.at }),
      ...(place.placed === undefined ? {} : { placed: place.placed }),
      ...(place.hasBash ? { hasBash: true } : {}),
      ...(keptBack.length === 0 ? {} : { keptBack }),
      token: newToken(),
    });
  }

  private lineUp(host: RunHost, job: Job): void {
    const { needs } = needsOf(job, host.run.definition);
    if (this.ports.worker.keepRoomFor?.(needs) === true) this.firstInLine = { host, job };
  }

  /**
   * Decides a job that does nothing at once. Returns false if it is an ordinary attempt, because the worker wants to
   * see it, or it has a failure to record.
   */
  private passes(host: RunHost, job: Job): boolean {
    const { doesNothingAs } = this.ports.worker;
    if (doesNothingAs === undefined || job.ledBy !== null) return false;
    if (host.isFarAhead) this.heldBack.add(host);
    else this.pass(host, job, doesNothingAs);
    return true;
  }

  /** Decides start and end together, so that they are committed together or not at all. */
  private pass(host: RunHost, job: Job, worker: string): void {
    const { ask, withoutWorker } = this.ports;
    withoutWorker(job.id, () => ask(host, { type: "attempt.start", job: job.id, worker, token: "" }));
    ask(host, { type: "attempt.finish", job: job.id, attempt: job.attempt, outcome: NOTHING });
  }

  private ask(host: RunHost, job: Job): void {
    const { run } = host;
    const { sandbox, newToken, readArtifact } = this.ports;
    const { visit } = job;
    const name = `${job.id}/${visit}`;
    if (this.rendering.has(name)) return;
    const question = questionFor(run, job, newToken(), readArtifact);
    if ("type" in question) return this.ports.ask(host, question);
    this.rendering.add(name);
    void sandbox.render(question.rendering).then((result) => {
      this.rendering.delete(name);
      // Otherwise the question is rendered again, with the new state.
      if (job.visit === visit && run.ready.has(job) && run.paused === null)
        this.ports.post(host, question.complete(result));
    });
  }
}

const NOTHING: Outcome = { kind: "succeeded", output: { kind: "value", value: null } };

/** Sorts by priority. Runs of one priority keep their order. */
function byPriority(hosts: readonly RunHost[]): RunHost[] {
  return [...hosts].sort((a, b) => b.run.priority - a.run.priority);
}
