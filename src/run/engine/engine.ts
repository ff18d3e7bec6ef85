import { type TakenCommand, takeCommand } from "../../core/decide/take-command.js";
import { DarumaError } from "../../core/errors/errors.js";
import type { Command, OperatorCommand } from "../../core/model/commands.js";
import type { Event, LoggedEvent } from "../../core/model/events.js";
import { isQueued, needsEngine } from "../../core/model/resting.js";
import { jobById, type Run } from "../../core/model/run.js";
import { messageOf } from "../../core/text/message-of.js";
import type { WaitingRun } from "../../store/store.js";
import { BreakerBoard } from "./breakers/breaker-board.js";
import { Dispatcher } from "./dispatcher.js";
import { Effects } from "./effects.js";
import type { EngineOptions } from "./engine-options.js";
import { GroupCommit } from "./group-commit.js";
import { type AnsweredEntry, answerEntry, type Posted, takeEntry, tellOutcome } from "./inbox.js";
import { LeaseKeeper } from "./lease-keeper.js";
import { loadRun, readRecalledLog } from "./load-run.js";
import { hasPlace } from "./needs.js";
import { begunSince, sideWork } from "./occupancy.js";
import { type LossListener, letGo, type OwnedRun, type Resumed, writeLast } from "./owned-run.js";
import { PlaceQueue } from "./places/place-queue.js";
import { RestBelow } from "./rest-below.js";
import { RunHost, stoppedError } from "./run-host.js";
import { type RunListener, RunListeners } from "./run-listeners.js";
import { createRun, firstCommands, type NewRun, openWorkspaceOf, registerWorkflowOf } from "./start-run.js";
import { Turns } from "./turns.js";
import { findWaiting } from "./waiting-runs.js";
import {
  isElsewhere,
  noWorkspaces,
  takeUpWorkspace,
  type WorkspaceKeeper,
} from "./workspace/workspace-keeper.js";

export type { RunListener } from "./run-listeners.js";
export type { NewRun } from "./start-run.js";

/**
 * The shell around the core: it takes what happened, lets the core decide, commits, and only then starts processes,
 * timers and expressions. It owns runs by lease and acts only on what is committed.
 */
export class Engine {
  readonly hosts = new Map<number, RunHost>();
  readonly commits: GroupCommit;
  readonly leases: LeaseKeeper;
  /** Runs that are being taken and have no host yet. */
  private readonly taking = new Set<number>();
  private readonly lostWhileTaking = new Map<number, unknown>();
  readonly listeners = new RunListeners();
  private readonly effects: Effects;
  private readonly losses = new Set<LossListener>();
  private readonly dispatcher: Dispatcher;
  readonly breakers: BreakerBoard;
  private readonly places: PlaceQueue;
  private readonly workspaces: WorkspaceKeeper;
  readonly restBelow: RestBelow;
  private inbox: Posted[] = [];
  private readonly turns = new Turns(() => this.turn());
  private stopping = false;

  constructor(private readonly options: EngineOptions) {
    this.commits = new GroupCommit(options, {
      committed: (host, events) => this.committed(host, events),
      hosts: () => this.hosts.values(),
      refused: (host, error) => this.discard(host, error),
      noticed: () => options.onNotices?.(),
    });
    const { store, clock, owner, isDead, leaseMs, worker } = options;
    this.workspaces = options.workspaces ?? noWorkspaces;
    this.leases = new LeaseKeeper(store, clock, owner, isDead, leaseMs);
    this.effects = new Effects({
      ...options,
      workspaces: this.workspaces,
      failures: options.failures ?? null,
      seeBreakers: () => this.breakers.refresh(),
      afterCommit: (host, effect, dropped) => this.commits.afterCommit(host, effect, dropped),
      put: (host, command, settled) => this.put(host, command, settled),
    });
    this.breakers = new BreakerBoard({
      ...options,
      post: (host, command) => this.put(host, command),
      wake: () => this.turns.wake(),
      hasPlace: ({ run }, job) => hasPlace(worker, job, run.definition),
    });
    this.places = new PlaceQueue({
      ...options,
      isOurs: (host) => this.hosts.get(host.run.id) === host,
      begin: (host) => this.put(host, { type: "run.start" }),
    });
    this.dispatcher = new Dispatcher({
      ...options,
      wake: () => this.turns.wake(),
      isKeptBack: (host, job) => this.breakers.keepsBack(host, job),
      waitsLong: (host, job) => this.breakers.waitsLong(host, job),
      ask: (host, command) => this.decide(host, command),
      post: (host, command) => this.put(host, command),
      withoutWorker: (job, begin) => this.effects.withoutWorker(job, begin),
      start: (host, place, command) =>
        this.effects.onPlace(command.job, place, () => this.decide(host, command)),
    });
    this.restBelow = new RestBelow(this, store, (hosts) => this.letGo(hosts));
  }

  /** Creates and starts a run. Its id is returned once the run is on record. */
  async start(request: NewRun): Promise<OwnedRun> {
    const { store, clock, notify } = this.options;
    // Requested together, so that they wait for the disk together.
    const registering = registerWorkflowOf(store, request, clock.now());
    const [workflow, runId] = await Promise.all([registering, store.reserveRunId()]);
    const fence = await this.acquire(runId);
    let prepared: Command[];
    try {
      prepared = await openWorkspaceOf(this.workspaces, runId, request);
      await this.breakers.see({ ...request, workflow: request.definition.name });
      if (this.stopping) throw stoppedError(runId);
    } catch (error) {
      await this.leases.release(runId);
      throw error;
    }
    const host = createRun(request, workflow, { runId, fence, now: clock.now(), notify });
    return this.adopt(host, () => {
      for (const command of firstCommands(request, prepared)) this.decide(host, command);
    });
  }

  /** Takes a run whose engine is gone and continues it, lifting a pause. A finished run is left alone. */
  resume(runId: number, { reason = "resume", key = null, by }: Resumed = {}): Promise<OwnedRun> {
    const unpause = { type: "run.unpause", reason, key, ...(by === undefined ? {} : { by }) } as const;
    return this.take(runId, () => this.acquire(runId), [unpause]);
  }

  /** Continues a run whose lease `Store.claimRuns` granted to this engine's owner. */
  takeClaimed({ runId, fence }: { readonly runId: number; readonly fence: number }): Promise<OwnedRun> {
    const hold = (): number => this.leases.hold(runId, fence, (error) => this.lost(runId, error));
    const own = this.hosts.get(runId);
    // This process stood still until its own lease had expired, and nobody else has taken the run.
    if (own !== undefined) {
      own.fence = hold();
      return Promise.resolve({ runId, run: own.run, ended: own.ended() });
    }
    return this.take(runId, async () => hold(), []);
  }

  /** Continues a run that this engine lost, or that belongs to a dead engine on this host. A pause stays. */
  retake(runId: number): Promise<OwnedRun> {
    return this.take(runId, () => this.acquire(runId), []);
  }

  private acquire(runId: number): Promise<number> {
    return this.leases.acquire(runId, (error) => this.lost(runId, error));
  }

  private async take(
    runId: number,
    acquire: () => Promise<number>,
    then: readonly Command[],
    isAsked = then.length > 0,
  ): Promise<OwnedRun> {
    if (this.hosts.has(runId) || this.taking.has(runId))
      throw new DarumaError("RUN_OWNED", `run ${runId} is being run by this process`);
    this.taking.add(runId);
    try {
      return await this.load(runId, await acquire(), then);
    } catch (error) {
      // The claimer tries again as the same owner, so a released lease would come back at once.
      if (this.hosts.has(runId)) throw error;
      if (isAsked || this.stopping || isElsewhere(error)) await this.leases.release(runId);
      else this.leases.forget(runId);
      throw error;
    } finally {
      this.taking.delete(runId);
      this.lostWhileTaking.delete(runId);
    }
  }

  private async load(runId: number, fence: number, then: readonly Command[]): Promise<OwnedRun> {
    const { store, notify } = this.options;
    const { run, nextSeq, snapshotSeq } = await loadRun(store, runId);
    const host = new RunHost(run, fence, nextSeq, snapshotSeq, notify);
    if (host.isOver) {
      await this.leases.release(runId);
      return { runId, run, ended: Promise.resolve(run) };
    }
    if (this.listeners.wantLoaded) this.listeners.tellLoaded(run, await readRecalledLog(store, run));
    try {
      const moved = await takeUpWorkspace(this.workspaces, host, this.options);
      const kept = await this.effects.adoptAll(host);
      await this.breakers.see(run);
      if (this.stopping) throw stoppedError(runId);
      const left = await store.readInbox([runId]);
      const mayBegin = await this.places.mayBegin(host);
      if (this.lostWhileTaking.has(runId)) throw this.lostWhileTaking.get(runId);
      const unanswered = new Set(run.jobs.flatMap((job) => job.evaluation?.id ?? []));
      const before = sideWork(run);
      const answers: AnsweredEntry[] = [];
      const taking = this.adopt(host, () => {
        for (const command of moved) this.decide(host, command);
        // Commands that waited without an owner come first: a canceled run must not start again.
        for (const entry of left)
          answers.push(takeEntry(entry, host, (command) => this.decide(host, command)));
        const resume = { type: "run.resume", kept: [...kept, ...begunSince(before, run)] } as const;
        const begin = isQueued(run) && mayBegin;
        for (const command of begin ? [{ type: "run.start" } as const] : [resume, ...then])
          this.decide(host, command);
      });
      host.beginSpeaking();
      const owned = await taking;
      for (const id of kept) if (jobById(run, id).stopping !== null) this.effects.stop(id);
      this.effects.rearm(host, unanswered);
      for (const answer of answers) await answerEntry(store, answer);
      return owned;
    } catch (error) {
      host.beginSpeaking();
      if (isElsewhere(error) && host.hasPending) await writeLast(host, this.options.store, this.listeners);
      if (this.hosts.get(runId) !== host) void this.effects.release(run);
      throw error;
    }
  }

  /** Gives a command to a run that this engine owns. */
  post(runId: number, command: Command): void {
    const host = this.hosts.get(runId);
    if (host !== undefined) this.put(host, command);
  }

  /** Decides a command of a run of this engine at once. What follows from it is committed with the next batch. */
  decideNow(runId: number, command: Command): void {
    const host = this.hosts.get(runId);
    if (host === undefined || this.stopping) return;
    this.turns.wake();
    this.decide(host, command);
  }

  private put(host: RunHost, command: Command, settled: Posted["settled"] = null): void {
    // Even if nobody wants the report, a place has become free.
    this.turns.wake();
    if (this.hosts.get(host.run.id) === host) this.inbox.push({ host, command, settled });
    else settled?.("not_owned");
  }

  /**
   * Gives an operator's command to a run of this engine and waits for its commit. `not_owned`: this engine does not run
   * it (any more), and the caller may take the run itself.
   */
  async operate(runId: number, command: OperatorCommand): Promise<TakenCommand | "not_owned"> {
    const host = this.hosts.get(runId);
    if (host === undefined || this.stopping) return "not_owned";
    const taken = takeCommand(host.run, command, () => this.decide(host, command));
    if (taken.refusal !== null) return taken;
    this.dispatch();
    if (host.hasPending || this.commits.untaken.has(host)) await this.flushed(host);
    else await this.commits.settled();
    if (host.lostBecause !== null) throw host.lostBecause;
    return taken;
  }

  /** Settles when a run of this engine is over or rests; null if the engine does not own it. */
  endOf(runId: number): Promise<Run> | null {
    return this.hosts.get(runId)?.ended() ?? null;
  }

  ownedRuns(): number[] {
    return [...this.hosts.keys()];
  }

  /** Its runs that could continue if it had a worker for them. */
  waitingRuns(): WaitingRun[] {
    return this.stopping ? [] : findWaiting(this.hosts.values(), this.options.worker);
  }

  onEvents(listener: RunListener): () => void {
    return this.listeners.add(listener);
  }

  onLost(listener: LossListener): () => void {
    this.losses.add(listener);
    return () => this.losses.delete(listener);
  }

  /** Releases every run, resumable: ends attempts that depend on this engine, and writes decisions. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.places.stop();
    // What has arrived is still decided and written.
    while (this.inbox.length > 0 || this.commits.isBusy) {
      this.turn();
      await this.commits.settled();
    }
    await this.commits.stop();
    const hosts = [...this.hosts.values()];
    this.hosts.clear();
    this.dispatcher.stop();
    await this.breakers.stop();
    await this.restBelow.settled();
    await this.letGo(hosts);
    this.leases.stop();
    for (const host of hosts) host.lose(stoppedError(host.run.id));
  }

  private letGo(hosts: readonly RunHost[]): Promise<void> {
    const { effects, leases, listeners, taking } = this;
    for (const host of hosts) if (this.hosts.delete(host.run.id)) this.breakers.letGo(host);
    return letGo(hosts, { ...this.options, effects, leases, listeners, taking });
  }

  private async adopt(host: RunHost, decideFirst: () => void): Promise<OwnedRun> {
    const { run } = host;
    this.hosts.set(run.id, host);
    this.breakers.take(host);
    const ended = host.ended();
    decideFirst();
    this.dispatch();
    await this.flushed(host);
    this.places.wait(host);
    return { runId: run.id, run, ended };
  }

  /** Resolves when the host's present decisions are committed. Rejects if the run is lost before. */
  private flushed(host: RunHost): Promise<void> {
    return host.until((done) => {
      this.commits.afterCommit(host, done);
      this.commits.flush();
    });
  }

  /** Decides a command and plans the effects of its events. A run that cannot be decided is released, alone. */
  private decide(host: RunHost, command: Command): readonly Event[] {
    try {
      const events = host.take(this.breakers.informed(host, command), this.options.clock.now());
      this.breakers.decided(host, events);
      this.effects.plan(host, events);
      return events;
    } catch (error) {
      const message = `run ${host.run.id} cannot continue: ${messageOf(error)}`;
      this.discard(host, new DarumaError("INTERNAL", message, { cause: error }));
      return [];
    }
  }

  /** Decides all waiting commands, hands out ready jobs, and commits. */
  private turn(): void {
    const taken = this.inbox;
    this.inbox = [];
    for (const posted of taken) this.takePosted(posted);
    this.dispatch();
    this.commits.flush();
    this.catchUp();
  }

  /** Continues runs that were too far ahead of their commits. */
  private catchUp(): void {
    for (const host of this.dispatcher.heldBack) if (!host.isFarAhead) this.turns.wake();
  }

  private takePosted({ host, command, settled }: Posted): void {
    if (this.hosts.get(host.run.id) !== host) return settled?.("not_owned");
    const events = this.decide(host, command);
    if (settled !== null) tellOutcome({ host, settled }, events, this.commits);
  }

  private dispatch(): void {
    if (!this.stopping) this.dispatcher.dispatch(this.hosts.values());
  }

  private committed(host: RunHost, events: readonly LoggedEvent[]): void {
    this.listeners.tell(host.run, events);
    // A repeated commit may succeed after the run was released.
    if (this.hosts.get(host.run.id) !== host) return;
    this.breakers.committed(host, events);
    this.catchUp();
    if (host.hasPending) return;
    if (needsEngine(host.run)) return this.restBelow.consider(host);
    this.hosts.delete(host.run.id);
    this.breakers.letGo(host);
    const released = this.effects.release(host.run).then(() => this.leases.release(host.run.id));
    void released.finally(() => host.finish());
  }

  private lost(runId: number, error: unknown): void {
    const host = this.hosts.get(runId);
    if (host !== undefined) this.discard(host, error);
    else if (this.taking.has(runId)) this.lostWhileTaking.set(runId, error);
  }

  /** Discards a run that the store refused: its state in memory is invalid. What can continue without us does. */
  private discard(host: RunHost, error: unknown): void {
    const { run } = host;
    host.loseVoice(error);
    const untaken = this.commits.untaken.over(host);
    if (untaken === null) host.lose(error);
    if (this.hosts.get(run.id) !== host) return;
    this.hosts.delete(run.id);
    this.breakers.letGo(host);
    this.leases.forget(run.id);
    this.commits.forget(host);
    void Promise.all([this.effects.release(run), untaken]).then(() => {
      host.lose(error);
      for (const listener of this.losses) listener(run, error);
    });
  }
}
