import type { Command, OperatorCommand } from "../core/commands.js";
import type { Definition } from "../core/definition.js";
import { DarumaError } from "../core/errors.js";
import type { Event, LoggedEvent, ReusedJob, RunOptions } from "../core/events.js";
import { evolve } from "../core/evolve.js";
import type { Json } from "../core/json.js";
import { type Refusal, refusalOf } from "../core/operator.js";
import { failureHandlersOf } from "../core/projections.js";
import { jobById, newRun, type Run } from "../core/run.js";
import { mayStart } from "../core/workspace-state.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { LeaseOwner, Store } from "../store/store.js";
import type { Worker } from "../worker/worker.js";
import type { Clock } from "./clock.js";
import { Effects } from "./effects.js";
import { GroupCommit } from "./group-commit.js";
import { isHumanStep, questionFor } from "./human-step.js";
import { answerEntry, readEntry } from "./inbox-entry.js";
import { LeaseKeeper } from "./lease-keeper.js";
import { loadRun } from "./load-run.js";
import { isResting, slotsOf, tokensOf } from "./occupancy.js";
import { RunHost } from "./run-host.js";
import type { ReadArtifact } from "./variables.js";
import { rebuildRefused, type WorkspaceRebuilder } from "./workspace-rebuilder.js";

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
  /** Builds fresh workspaces; without it every rebuild is refused. */
  readonly rebuilder?: WorkspaceRebuilder;
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
  /** The run goes on from a step of another. */
  readonly fork?: {
    readonly from: number;
    readonly step: string;
    readonly reason: string;
    readonly reuse: readonly ReusedJob[];
  };
  /** The job for which this is a child run. */
  readonly parent?: { readonly runId: number; readonly jobId: number };
}

/** A run that this engine has taken. `ended` settles when it is over, held or paused with nothing under way. */
export interface OwnedRun {
  readonly runId: number;
  readonly run: Run;
  readonly ended: Promise<Run>;
}

/** Called with committed events, in order. */
export type RunListener = (run: Run, events: readonly LoggedEvent[]) => void;

/**
 * The shell around the core: takes what happened, lets the core decide, commits, and only then starts processes,
 * timers and expressions. It owns its runs by lease and never acts on what is not committed.
 */
export class Engine {
  private readonly hosts = new Map<number, RunHost>();
  private readonly commits: GroupCommit;
  private readonly leases: LeaseKeeper;
  /** Runs that are being taken and have no host yet. */
  private readonly taking = new Set<number>();
  private readonly listeners = new Set<RunListener>();
  private readonly effects: Effects;
  private inbox: { host: RunHost; command: Command }[] = [];
  private turning = false;
  private stopping = false;
  private inUse = 0;
  private firstHost = 0;

  constructor(private readonly options: EngineOptions) {
    this.commits = new GroupCommit(options.store, {
      committed: (host, events) => this.committed(host, events),
      refused: (host, error) => this.discard(host, error),
    });
    this.leases = new LeaseKeeper(options.store, options.clock, options.owner, options.isDead);
    this.effects = new Effects({
      ...options,
      rebuilder: options.rebuilder ?? rebuildRefused,
      afterCommit: (host, effect) => this.commits.afterCommit(host, effect),
      post: (host, command) => this.put(host, command),
    });
  }

  /** Create a run and start it. The id is given out once the run is on record. */
  async start(request: NewRun): Promise<OwnedRun> {
    const { store, clock } = this.options;
    const { definition, hash, text, file } = request;
    const { workflowId, failureHandlers } = await store.registerWorkflow({
      name: definition.name,
      hash,
      definition: text,
      file,
      at: clock.now(),
      failureHandlers: failureHandlersOf(definition),
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
      parent: request.parent ?? null,
      failureHandlers,
    };
    if (this.stopping) {
      await this.leases.release(runId);
      throw stoppedError(runId);
    }
    const now = clock.now();
    const run = newRun(runId, definition, created, now);
    evolve(run, created, now);
    const host = new RunHost(run, fence, 1);
    host.keep([created], now);
    const fork: Command[] = request.fork === undefined ? [] : [{ type: "run.fork", ...request.fork }];
    return (await this.adopt(host, [...fork, { type: "run.start" }])).owned;
  }

  /** Take a run whose engine is gone, and go on with it; a pause is lifted. A run that is over is left alone. */
  async resume(runId: number, reason = "resume"): Promise<OwnedRun> {
    if (this.hosts.has(runId) || this.taking.has(runId))
      throw new DarumaError("RUN_OWNED", `run ${runId} is being run by this process`);
    this.taking.add(runId);
    try {
      return await this.take(runId, reason);
    } finally {
      this.taking.delete(runId);
    }
  }

  private async take(runId: number, reason: string): Promise<OwnedRun> {
    const { store, worker } = this.options;
    const fence = await this.leases.acquire(runId, (error) => this.lost(runId, error));
    try {
      const { run, nextSeq } = await loadRun(store, runId);
      const host = new RunHost(run, fence, nextSeq);
      if (host.isOver) {
        await this.leases.release(runId);
        return { runId, run, ended: Promise.resolve(run) };
      }
      for (const token of tokensOf(run)) await worker.endLeftovers(token);
      if (this.stopping) throw stoppedError(runId);
      // What was asked while nobody answered comes before anything else: a canceled run must not start again.
      const left = (await store.readInbox([runId])).map((entry) => readEntry(entry, run));
      const { owned, asked } = await this.adopt(host, [
        ...left.flatMap(({ command, refusal }) => (command !== null && refusal === null ? [command] : [])),
        { type: "run.resume" },
        { type: "run.unpause", reason, key: null },
      ]);
      this.effects.rearm(host, asked);
      for (const { id, refusal } of left) await answerEntry(store, id, refusal);
      return owned;
    } catch (error) {
      if (!this.hosts.has(runId)) await this.leases.release(runId);
      throw error;
    }
  }

  /** Put a command to a run that this engine owns. */
  post(runId: number, command: Command): void {
    const host = this.hosts.get(runId);
    if (host !== undefined) this.put(host, command);
  }

  private put(host: RunHost, command: Command): void {
    if (this.hosts.get(host.run.id) !== host) return;
    this.inbox.push({ host, command });
    this.wake();
  }

  /**
   * Put an operator's command to a run of this engine and wait until what it decided is committed. `not_owned`: the run
   * is not, or no longer, run here, and whoever asks may take it himself.
   */
  async operate(runId: number, command: OperatorCommand): Promise<Refusal | "not_owned" | null> {
    const host = this.hosts.get(runId);
    if (host === undefined || this.stopping) return "not_owned";
    const refusal = refusalOf(host.run, command);
    if (refusal !== null) return refusal;
    this.decide(host, command);
    this.dispatch();
    if (host.hasPending) await this.flushed(host);
    else await this.commits.settled();
    if (host.lostBecause !== null) throw host.lostBecause;
    return null;
  }

  ownedRuns(): number[] {
    return [...this.hosts.keys()];
  }

  onEvents(listener: RunListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Let go of every run, leaving it resumable: attempts are ended and count as lost, what was decided is written. */
  async stop(): Promise<void> {
    this.stopping = true;
    // What has arrived is still decided and written.
    while (this.inbox.length > 0 || this.commits.isBusy) {
      this.turn();
      await this.commits.settled();
    }
    const hosts = [...this.hosts.values()];
    this.hosts.clear();
    const stopped = this.effects.stopAll();
    // The attempt that waits for a child run would else wait for ever.
    for (const host of hosts) if (host.run.parent !== null) host.lose(stoppedError(host.run.id));
    await stopped;
    for (const host of hosts) {
      // A store that fails now leaves the attempts as lost, which a resume makes good too.
      await this.interrupt(host).catch(() => {});
      await this.leases.release(host.run.id);
    }
    this.leases.stop();
    for (const host of hosts) host.lose(stoppedError(host.run.id));
  }

  private async interrupt(host: RunHost): Promise<void> {
    const { store, clock } = this.options;
    const events = host.take({ type: "run.interrupt" }, clock.now());
    if (events.length === 0 && !host.hasPending) return;
    const drained = host.drain();
    await store.commit([drained.append]);
    this.tell(host, drained.events);
  }

  private async adopt(
    host: RunHost,
    commands: readonly Command[],
  ): Promise<{ owned: OwnedRun; asked: ReadonlySet<number> }> {
    const { run } = host;
    this.hosts.set(run.id, host);
    const ended = host.ended();
    const asked = new Set<number>();
    for (const command of commands) {
      const events = this.decide(host, command);
      for (const event of events) if (event.type === "evaluation.requested") asked.add(event.id);
    }
    this.dispatch();
    await this.flushed(host);
    return { owned: { runId: run.id, run, ended }, asked };
  }

  /** Resolves when what the host has decided so far is committed; rejects if the run is lost before. */
  private flushed(host: RunHost): Promise<void> {
    return host.until((done) => {
      this.commits.afterCommit(host, done);
      this.commits.flush(() => this.hosts.values());
    });
  }

  /** A command's events, with their effects planned. A run that cannot be decided any more is let go, alone. */
  private decide(host: RunHost, command: Command): readonly Event[] {
    try {
      const events = host.take(command, this.options.clock.now());
      this.effects.plan(host, events);
      return events;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.discard(
        host,
        new DarumaError("INTERNAL", `run ${host.run.id} cannot go on: ${message}`, { cause: error }),
      );
      return [];
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
      if (command.type === "attempt.finish") this.inUse -= slotsOf(jobById(host.run, command.job));
      this.decide(host, command);
    }
    this.dispatch();
    this.commits.flush(() => this.hosts.values());
  }

  /** Hand out ready jobs, each time beginning with another run, so that a long queue keeps nobody else waiting. */
  private dispatch(): void {
    if (this.stopping) return;
    const hosts = [...this.hosts.values()];
    this.firstHost = hosts.length === 0 ? 0 : (this.firstHost + 1) % hosts.length;
    for (let index = 0; index < hosts.length; index += 1)
      this.dispatchRun(hosts[(this.firstHost + index) % hosts.length]!);
  }

  private dispatchRun(host: RunHost): void {
    const { worker, newToken, readArtifact } = this.options;
    for (const job of host.run.paused === null ? host.run.ready : []) {
      if (isHumanStep(job)) {
        this.decide(host, questionFor(host.run, job, newToken(), readArtifact));
        continue;
      }
      // Steps of the workspace run one at a time; this one's turn has not come.
      if (!mayStart(host.run, job)) continue;
      const slots = slotsOf(job);
      if (this.inUse > 0 && this.inUse + slots > worker.capacity) return;
      this.inUse += slots;
      this.decide(host, { type: "attempt.start", job: job.id, worker: worker.name, token: newToken() });
    }
  }

  private committed(host: RunHost, events: readonly LoggedEvent[]): void {
    this.tell(host, events);
    if (host.hasPending || !(host.isOver || isResting(host.run))) return;
    if (this.hosts.get(host.run.id) !== host) return;
    this.hosts.delete(host.run.id);
    this.effects.drop(host.run);
    void this.leases.release(host.run.id).finally(() => host.finish());
  }

  /** A listener's fault is its own. */
  private tell(host: RunHost, events: readonly LoggedEvent[]): void {
    for (const listener of this.listeners) {
      try {
        listener(host.run, events);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }

  private lost(runId: number, error: unknown): void {
    const host = this.hosts.get(runId);
    if (host !== undefined) this.discard(host, error);
  }

  /** The store refused us: what is in memory is worth nothing. End what runs and forget the run. */
  private discard(host: RunHost, error: unknown): void {
    const { run } = host;
    host.lose(error);
    if (this.hosts.get(run.id) !== host) return;
    this.hosts.delete(run.id);
    this.leases.forget(run.id);
    this.effects.drop(run);
    for (const job of run.running) if (!isHumanStep(job)) this.inUse -= slotsOf(job);
  }
}

function stoppedError(runId: number): DarumaError {
  return new DarumaError("LEASE_LOST", "the engine was stopped", {
    hint: `daruma resume ${runId} goes on with it.`,
  });
}
