import type { Command } from "../core/commands.js";
import type { Definition } from "../core/definition.js";
import { DarumaError } from "../core/errors.js";
import type { Event, LoggedEvent, RunOptions } from "../core/events.js";
import { evolve } from "../core/evolve.js";
import type { Json } from "../core/json.js";
import { type Job, jobById, newRun, type Run } from "../core/run.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { LeaseOwner, Store } from "../store/store.js";
import type { Assignment, Worker } from "../worker/worker.js";
import { assignmentFor } from "./assignment.js";
import type { Clock } from "./clock.js";
import { evaluationFor } from "./evaluation.js";
import { GroupCommit } from "./group-commit.js";
import { LeaseKeeper } from "./lease-keeper.js";
import { loadRun } from "./load-run.js";
import { RunHost } from "./run-host.js";
import type { ReadArtifact } from "./variables.js";

export interface EngineOptions {
  readonly store: Store;
  readonly worker: Worker;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
  readonly readArtifact: ReadArtifact;
  /** An unguessable mark for one attempt. */
  readonly newToken: () => string;
  /** Whether the process that owns a lease is known to be gone. */
  readonly isDead: (owner: LeaseOwner) => boolean;
}

export interface NewRun {
  readonly definition: Definition;
  readonly hash: string;
  /** The definition as JSON. */
  readonly text: string;
  readonly file: string | null;
  readonly folder: string;
  readonly inputs: { readonly [name: string]: Json };
  readonly context: { readonly [name: string]: Json };
  readonly options: RunOptions;
}

/** Called with committed events, in order. */
export type RunListener = (run: Run, events: readonly LoggedEvent[]) => void;

interface Waiter {
  readonly resolve: (run: Run) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The shell around the core: takes what happened, lets the core decide, commits, and only then starts processes,
 * timers and expressions. It owns its runs by lease and never acts on what is not committed.
 */
export class Engine {
  private readonly hosts = new Map<number, RunHost>();
  private readonly commits: GroupCommit;
  private readonly leases: LeaseKeeper;
  private readonly waiters = new Map<number, Waiter[]>();
  private readonly listeners = new Set<RunListener>();
  private readonly attempts = new Map<number, { controller: AbortController; done: Promise<void> }>();
  private readonly timers = new Map<number, () => void>();
  private inbox: { host: RunHost; command: Command }[] = [];
  private turning = false;
  private stopping = false;
  private inUse = 0;

  constructor(private readonly options: EngineOptions) {
    this.commits = new GroupCommit(options.store, {
      committed: (host, events) => this.committed(host, events),
      refused: (host, error) => this.discard(host, error),
    });
    this.leases = new LeaseKeeper(options.store, options.clock, options.owner, options.isDead);
  }

  /** Create a run and start it. The id is given out once the run is on record. */
  async start(request: NewRun): Promise<number> {
    const { store, clock } = this.options;
    const { definition, hash, text, file } = request;
    const { workflowId } = await store.registerWorkflow({
      name: definition.name,
      hash,
      definition: text,
      file,
      at: clock.now(),
    });
    const runId = await store.reserveRunId();
    const fence = await this.leases.acquire(runId, (error) => this.lost(runId, error));
    const created: Extract<Event, { type: "run.created" }> = {
      type: "run.created",
      workflow: definition.name,
      workflowId,
      definitionHash: hash,
      inputs: request.inputs,
      context: request.context,
      options: request.options,
      folder: request.folder,
      file,
    };
    const now = clock.now();
    const run = newRun(runId, definition, created, now);
    evolve(run, created, now);
    const host = new RunHost(run, fence, 1);
    host.keep([created], now);
    await this.adopt(host, { type: "run.start" });
    return runId;
  }

  /** Take a run whose engine is gone, and go on with it. A run that is over is left alone. */
  async resume(runId: number): Promise<Run> {
    const { store, worker } = this.options;
    const fence = await this.leases.acquire(runId, (error) => this.lost(runId, error));
    try {
      const { run, nextSeq } = await loadRun(store, runId);
      const host = new RunHost(run, fence, nextSeq);
      if (host.isOver) {
        await this.leases.release(runId);
        return run;
      }
      for (const job of run.running) await worker.endLeftovers(job.attemptToken ?? "");
      const touched = await this.adopt(host, { type: "run.resume" });
      this.rearm(host, touched);
      return run;
    } catch (error) {
      if (!this.hosts.has(runId)) await this.leases.release(runId);
      throw error;
    }
  }

  /** Put a command to a run that this engine owns. */
  post(runId: number, command: Command): void {
    const host = this.hosts.get(runId);
    if (host === undefined) return;
    this.inbox.push({ host, command });
    this.wake();
  }

  /** Put a command to a run and wait until what it decided is committed. */
  ask(runId: number, command: Command): Promise<void> {
    const host = this.hosts.get(runId);
    if (host === undefined) return Promise.resolve();
    this.planEffects(host, host.take(command, this.options.clock.now()));
    if (!host.hasPending) return this.commits.settled();
    return this.flushed(host);
  }

  ownedRuns(): number[] {
    return [...this.hosts.keys()];
  }

  /** Resolves when the run is over and that is committed; rejects if this engine loses it. */
  waitFor(runId: number): Promise<Run> {
    return new Promise((resolve, reject) => {
      const waiting = this.waiters.get(runId) ?? [];
      waiting.push({ resolve, reject });
      this.waiters.set(runId, waiting);
    });
  }

  onEvents(listener: RunListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Let go of every run, leaving it resumable: attempts are ended and count as lost, what was decided is written. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.commits.settled();
    const hosts = [...this.hosts.values()];
    this.hosts.clear();
    for (const cancel of this.timers.values()) cancel();
    for (const { controller } of this.attempts.values()) controller.abort("stopped");
    await Promise.all([...this.attempts.values()].map(({ done }) => done));
    for (const host of hosts) await this.leases.release(host.run.id);
    this.leases.stop();
    for (const host of hosts)
      this.reject(
        host.run.id,
        new DarumaError("LEASE_LOST", "the engine was stopped", {
          hint: `daruma resume ${host.run.id} goes on with it.`,
        }),
      );
  }

  private async adopt(host: RunHost, command: Command): Promise<ReadonlySet<number>> {
    const { run } = host;
    this.hosts.set(run.id, host);
    const events = host.take(command, this.options.clock.now());
    this.planEffects(host, events);
    this.dispatch();
    await this.flushed(host);
    return new Set(
      events.flatMap((event) => ("id" in event && event.type === "evaluation.requested" ? [event.id] : [])),
    );
  }

  /** Resolves when what the host has decided so far is committed; rejects if the run is lost before. */
  private flushed(host: RunHost): Promise<void> {
    return new Promise((resolve, reject) => {
      this.commits.afterCommit(host, resolve);
      const waiting = this.waiters.get(host.run.id) ?? [];
      waiting.push({ resolve: () => {}, reject });
      this.waiters.set(host.run.id, waiting);
      this.commits.flush(() => this.hosts.values());
    });
  }

  /** What an earlier owner had set going and not finished: timers at their recorded time, expressions once more. */
  private rearm(host: RunHost, asked: ReadonlySet<number>): void {
    for (const job of host.run.jobs) {
      if (job.status === "waiting" && job.dueAt !== null) this.arm(host, job.id, job.dueAt);
      if (job.evaluation !== null && !asked.has(job.evaluation.id))
        this.evaluate(host, job, job.evaluation.id, job.evaluation.purpose);
    }
  }

  private wake(): void {
    if (this.turning) return;
    this.turning = true;
    queueMicrotask(() => {
      this.turning = false;
      this.turn();
    });
  }

  /** Decide all that is waiting, hand out ready jobs, commit. */
  private turn(): void {
    const taken = this.inbox;
    this.inbox = [];
    for (const { host, command } of taken) {
      if (this.hosts.get(host.run.id) !== host) continue;
      if (command.type === "attempt.finish") this.inUse -= 1;
      this.planEffects(host, host.take(command, this.options.clock.now()));
    }
    this.dispatch();
    this.commits.flush(() => this.hosts.values());
  }

  private dispatch(): void {
    const { worker, clock, newToken } = this.options;
    if (this.stopping) return;
    for (const host of this.hosts.values()) {
      for (const job of host.run.ready) {
        if (this.inUse >= worker.capacity) return;
        this.inUse += 1;
        const command: Command = {
          type: "attempt.start",
          job: job.id,
          worker: worker.name,
          token: newToken(),
        };
        this.planEffects(host, host.take(command, clock.now()));
      }
    }
  }

  private planEffects(host: RunHost, events: readonly Event[]): void {
    for (const event of events) {
      switch (event.type) {
        case "attempt.started":
          this.planAttempt(host, jobById(host.run, event.job));
          break;
        case "jobs.stopping":
          for (const id of event.jobs)
            this.commits.afterCommit(host, () => this.attempts.get(id)?.controller.abort("stopped"));
          break;
        case "scope.abandoned":
          for (const id of event.stopping)
            this.commits.afterCommit(host, () => this.attempts.get(id)?.controller.abort("stopped"));
          break;
        case "retry.scheduled":
          if (event.delayMs > 0) this.commits.afterCommit(host, () => this.arm(host, event.job, event.dueAt));
          break;
        case "evaluation.requested":
          this.planEvaluation(host, jobById(host.run, event.job), event.id, event.purpose);
          break;
        default:
          break;
      }
    }
  }

  private planAttempt(host: RunHost, job: Job): void {
    const assignment = assignmentFor(host.run, job, this.options.clock.now(), this.options.readArtifact);
    this.commits.afterCommit(host, () => this.execute(host, assignment));
  }

  private execute(host: RunHost, assignment: Assignment): void {
    const { jobId, attempt } = assignment;
    const controller = new AbortController();
    const done = this.options.worker.execute(assignment, controller.signal).then((report) => {
      this.attempts.delete(jobId);
      if (this.hosts.get(host.run.id) !== host) return;
      this.inbox.push({ host, command: { type: "attempt.finish", job: jobId, attempt, ...report } });
      this.wake();
    });
    this.attempts.set(jobId, { controller, done });
  }

  private arm(host: RunHost, job: number, dueAt: number): void {
    this.timers.get(job)?.();
    const cancel = this.options.clock.setTimer(dueAt, () => {
      this.timers.delete(job);
      if (this.hosts.get(host.run.id) === host) this.post(host.run.id, { type: "timer.fire", job });
    });
    this.timers.set(job, cancel);
  }

  private planEvaluation(
    host: RunHost,
    job: Job,
    id: number,
    purpose: Extract<Event, { type: "evaluation.requested" }>["purpose"],
  ): void {
    const evaluation = evaluationFor(
      host.run,
      job,
      purpose,
      this.options.clock.now(),
      this.options.readArtifact,
    );
    this.commits.afterCommit(host, () => this.runEvaluation(host, job.id, id, evaluation));
  }

  private evaluate(
    host: RunHost,
    job: Job,
    id: number,
    purpose: Extract<Event, { type: "evaluation.requested" }>["purpose"],
  ): void {
    this.runEvaluation(
      host,
      job.id,
      id,
      evaluationFor(host.run, job, purpose, this.options.clock.now(), this.options.readArtifact),
    );
  }

  private runEvaluation(
    host: RunHost,
    job: number,
    id: number,
    evaluation: ReturnType<typeof evaluationFor>,
  ): void {
    void this.options.sandbox.evaluate(evaluation).then((result) => {
      if (this.hosts.get(host.run.id) === host)
        this.post(host.run.id, { type: "evaluation.finish", job, id, result });
    });
  }

  private committed(host: RunHost, events: readonly LoggedEvent[]): void {
    for (const listener of this.listeners) listener(host.run, events);
    if (!host.isOver || host.hasPending) return;
    this.hosts.delete(host.run.id);
    for (const job of host.run.jobs) this.dropTimer(job.id);
    const waiting = this.waiters.get(host.run.id) ?? [];
    this.waiters.delete(host.run.id);
    void this.leases.release(host.run.id).finally(() => {
      for (const { resolve } of waiting) resolve(host.run);
    });
  }

  private dropTimer(job: number): void {
    this.timers.get(job)?.();
    this.timers.delete(job);
  }

  private lost(runId: number, error: unknown): void {
    const host = this.hosts.get(runId);
    if (host !== undefined) this.discard(host, error);
  }

  /** The store refused us: what is in memory is worth nothing. End what runs and forget the run. */
  private discard(host: RunHost, error: unknown): void {
    const { run } = host;
    if (this.hosts.get(run.id) !== host) return;
    this.hosts.delete(run.id);
    this.leases.forget(run.id);
    for (const job of run.jobs) this.dropTimer(job.id);
    for (const job of run.running) {
      this.attempts.get(job.id)?.controller.abort("stopped");
      this.inUse -= 1;
    }
    this.reject(run.id, error);
  }

  private reject(runId: number, error: unknown): void {
    const waiting = this.waiters.get(runId) ?? [];
    this.waiters.delete(runId);
    for (const { reject } of waiting) reject(error);
  }
}
