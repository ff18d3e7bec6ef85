import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Outcome } from "../../core/model/outcome.js";
import { NOWHERE } from "../../core/model/worker-names.js";
import { BASH } from "../../run/worker/attempt-lacks.js";
import { LocalWorker } from "../../run/worker/local-worker.js";
import { NO_ROOM } from "../../run/worker/room.js";
import { StopWindow } from "../../run/worker/stop-window.js";
import type { Assignment } from "../../run/worker.js";
import type { ClaimAnswer, Registration, ReportAnswer, Verdict } from "../desk/protocol.js";
import { Claims, SlotQueue } from "./claims.js";
import { Connection, rootMessageOf, type Session } from "./connection.js";
import { Deliveries, sendLogs } from "./deliveries.js";
import { RemoteAttempt } from "./remote-attempt.js";
import type { RemoteWorkerOptions } from "./remote-worker-options.js";
import { RunFolders } from "./run-folders.js";
import { ServerRefusal } from "./server-client.js";
import { elapsedMs, laterOf, type Moment, pause, thisMoment } from "./worker-clock.js";
import { WorkerLife } from "./worker-life.js";

const LOG_PERIOD_MS = 500;
const LEASE_CHECK_MS = 100;
/** How long to wait for a lost connection when the worker leaves. */
const LEAVE_WAIT_MS = 100;
/** How long an idle worker that leaves waits for a server that does not answer. */
const LAST_CLAIM_MS = 2_000;

/** Executes attempts for a server on another machine. Resolves when the worker has left. */
export async function runRemoteWorker(options: RemoteWorkerOptions): Promise<void> {
  const worker = new RemoteWorker(options);
  await worker.run();
}

class RemoteWorker {
  private readonly attempts = new Map<string, RemoteAttempt>();
  private readonly folders: RunFolders;
  private readonly slots: SlotQueue;
  private readonly local: LocalWorker;
  private readonly connection: Connection;
  private readonly instance = randomUUID();
  /** Aborted when nothing is left to do. */
  private readonly over = new AbortController();
  private readonly claims: Claims;
  private readonly deliveries: Deliveries;
  /** When the last answered heartbeat was sent. The server counts the leases of what it gives out from then. */
  private heardAt = thisMoment();
  /** Set when it starts nothing any more. */
  private hasLeft = false;
  private wakeIdle = (): void => {};
  private readonly life: WorkerLife;
  private readonly stopWindow: StopWindow;

  constructor(private readonly options: RemoteWorkerOptions) {
    this.life = new WorkerLife(options, options.stay ?? {});
    const inAllocation = (options.at?.allocation ?? null) !== null;
    this.stopWindow = new StopWindow({ ...options, inAllocation }, options.clock);
    this.folders = new RunFolders(options.outputDir, options.name, this.instance, options.log);
    const { memoryBytes, gpus = [], nodes = 1 } = options;
    this.slots = new SlotQueue(options.slots, { memoryBytes, gpus });
    this.local = new LocalWorker({
      actions: options.actions,
      outputDir: this.folders.base,
      clock: options.clock,
      tags: options.tags,
      machine: { memoryBytes, gpus, nodes },
      apiUrl: () => options.servers[0] ?? "",
      tell: options.log,
      ...(options.env === undefined ? {} : { env: options.env }),
    });
    this.connection = new Connection({
      servers: options.servers,
      token: options.token,
      registration: () => this.registration(),
      onVerdict: (verdict, sentAt) => this.obey(verdict, sentAt),
      log: options.log,
      signal: AbortSignal.any([options.end, this.over.signal]),
    });
    const given = (session: Session, answer: ClaimAnswer, sentAt: Moment): void =>
      this.take(session, answer, sentAt);
    this.claims = new Claims({
      connection: this.connection,
      given,
      isLeaving: () => this.isLeaving,
      hasWanted: (wanted) => this.local.hasWanted(wanted),
      over: this.over.signal,
    });
    this.deliveries = new Deliveries({
      attempts: () => this.attempts.values(),
      connection: this.connection,
      settled: (answer) => this.settle(answer),
      given,
      failed: (session, attempt, error) => this.failedFor(session, attempt, error),
      over: this.over.signal,
    });
  }

  async run(): Promise<void> {
    const { end } = this.options;
    for (const signal of [this.life.over, end, this.over.signal]) setMaxListeners(0, signal);
    for (const signal of [end, this.over.signal])
      signal.addEventListener("abort", () => this.claims.hangUp(), { once: true });
    try {
      await this.work();
    } finally {
      this.life.clear();
      this.folders.close();
    }
  }

  private async work(): Promise<void> {
    const { end, log } = this.options;
    const drain = this.life.over;
    if (!(await this.isConnected())) {
      // Its registration may be in progress, and the server must not wait for it.
      await this.leave();
      return this.local.close();
    }
    const loops = [this.claims.loop(), this.heartbeatLoop(), this.logLoop(), this.leaseLoop()];
    const failure = Promise.race(loops.map((loop) => loop.then(() => null))).catch((error: unknown) => error);
    await Promise.race([aborted(drain), aborted(end), failure.then((error) => (error ? 0 : forever))]);
    if (!end.aborted && drain.aborted) {
      log(`stopping; ${this.attempts.size} attempts to finish`);
      await Promise.race([this.drain(), aborted(end)]);
    }
    await this.leave();
    this.over.abort();
    await Promise.allSettled(loops);
    await this.local.close();
    const error = await Promise.race([failure, Promise.resolve(null)]);
    if (error instanceof Error && !isAbort(error)) throw error;
  }

  /** Reports a wrong token at once. Returns false if the worker was stopped before it reached a server. */
  private async isConnected(): Promise<boolean> {
    const { end } = this.options;
    const connected = this.connection.get().then(() => true);
    const stopped = Promise.race([aborted(this.life.over), aborted(end)]).then(() => false);
    connected.catch(() => {});
    return Promise.race([connected, stopped]);
  }

  /** Accepts what the server assigned before it knew of the drain, and claims until nothing is left. */
  private async drain(): Promise<void> {
    await this.within(LAST_CLAIM_MS, this.beat());
    do {
      await new Promise<void>((resolve) => {
        this.wakeIdle = resolve;
        if (this.attempts.size === 0) resolve();
      });
      await this.within(LAST_CLAIM_MS, this.claims.once(0));
    } while (this.attempts.size > 0 && !this.options.end.aborted);
  }

  private async within(ms: number, asked: Promise<unknown>): Promise<void> {
    await Promise.race([asked.catch(() => {}), pause(ms, this.over.signal)]);
  }

  private async leave(): Promise<void> {
    this.hasLeft = true;
    this.claims.hangUp();
    const running = [...this.attempts.values()].filter(({ outcome }) => outcome === null);
    await Promise.all(running.map((attempt) => this.kill(attempt)));
    const session = await Promise.race([this.connection.get(), delay(LEAVE_WAIT_MS)]).catch(() => undefined);
    // Before it deregisters, because a part that finds itself unknown to the server would register again.
    this.over.abort();
    await session?.client.deregister(session.worker_id).catch(() => {});
    this.options.log("has left");
  }

  private registration(): Registration {
    const {
      name,
      slots,
      cpus,
      memoryBytes,
      tags,
      actions,
      at = NOWHERE,
      gpus = [],
      nodes = 1,
    } = this.options;
    return {
      instance: this.instance,
      name,
      slots,
      cpus,
      memory_bytes: memoryBytes,
      gpus: gpus.length,
      nodes,
      tags: [...tags],
      actions: actions.map(({ type }) => type),
      bash: this.local.hasWanted(BASH),
      ...at,
      ends_in_ms: this.life.leftMs(),
      attempts: this.held(),
      draining: this.life.over.aborted,
    };
  }

  private held(): Registration["attempts"] {
    return [...this.attempts.values()].map(({ held }) => held);
  }

  /** Takes the work from the answer to a request that was sent at `sentAt`. */
  private take(session: Session, { assignments, stop }: ClaimAnswer, sentAt: Moment): void {
    if (this.connection.isHeard(session))
      for (const assignment of assignments) this.begin(assignment, laterOf(sentAt, this.heardAt));
    for (const token of stop) this.attempts.get(token)?.controller.abort("stopped");
  }

  private begin(assignment: Assignment, sentAt: Moment): void {
    if (this.hasLeft || this.attempts.has(assignment.token)) return;
    const attempt = new RemoteAttempt(assignment, this.folders.base, sentAt);
    this.attempts.set(attempt.token, attempt);
    this.life.busy();
    void this.execute(attempt);
  }

  private async execute(attempt: RemoteAttempt): Promise<void> {
    const { assignment, controller } = attempt;
    const turn = await this.slots.enter(needsOf(assignment), controller.signal);
    const ended = turn === null ? STOPPED : await this.local.run(assignment, turn.place, controller.signal);
    turn?.leave();
    const outcome = await this.stopWindow.judge(ended, (assignment.resources?.nodes ?? 1) > 1);
    if (this.attempts.get(attempt.token) !== attempt) return;
    attempt.outcome = outcome;
    this.deliveries.wake();
  }

  private async heartbeatLoop(): Promise<void> {
    while (!this.over.signal.aborted) {
      const session = await this.connection.get();
      await pause(session.heartbeat_ms, this.over.signal);
      if (!this.over.signal.aborted) await this.beat().catch(() => {});
    }
  }

  private async beat(): Promise<void> {
    const session = await this.connection.get();
    const sentAt = thisMoment();
    try {
      const draining = this.life.over.aborted;
      const request = { attempts: this.held(), draining, runs: this.folders.mention(this.busyRuns()) };
      const answer = await session.client.heartbeat(session.worker_id, request, session.heartbeat_ms);
      this.obey(answer, sentAt);
      const busy = this.busyRuns();
      for (const run of answer.over) {
        if (busy.has(run)) continue;
        this.folders.removeRun(run);
        this.local.endRun({ runId: run, actions: new Set(["command"]), had: () => true });
      }
      await this.moveOnIfHomeless(session);
    } catch (error) {
      this.connection.failed(session, error);
      throw error;
    }
  }

  private busyRuns(): Set<number> {
    return new Set([...this.attempts.values()].map(({ assignment }) => assignment.runId));
  }

  /** Moves on if the run of an attempt may be at another server by now. */
  private async moveOnIfHomeless(session: Session): Promise<void> {
    const now = thisMoment();
    const isHomeless = [...this.attempts.values()].some(
      ({ renewedAt }) => elapsedMs(renewedAt, now) > session.lease_ms / 3 + session.heartbeat_ms,
    );
    if (!isHomeless || !this.connection.moveOn(session)) return;
    await session.client
      .heartbeat(session.worker_id, { attempts: this.held(), draining: true }, session.heartbeat_ms)
      .catch(() => {});
  }

  private obey({ renewed, stop, lost }: Verdict, sentAt: Moment): void {
    this.heardAt = sentAt;
    for (const token of renewed) {
      const attempt = this.attempts.get(token);
      if (attempt !== undefined) attempt.renewedAt = sentAt;
    }
    for (const token of stop) this.attempts.get(token)?.controller.abort("stopped");
    for (const token of lost) {
      const attempt = this.attempts.get(token);
      if (attempt !== undefined) this.giveUp(attempt, "the server has given it to another");
    }
  }

  /** Ends attempts that cannot be renewed, before the server starts others for them. */
  private async leaseLoop(): Promise<void> {
    while (!this.over.signal.aborted) {
      const { terms } = this.connection;
      const now = thisMoment();
      for (const attempt of terms === null ? [] : this.attempts.values()) {
        const isLate = elapsedMs(attempt.renewedAt, now) >= terms!.leaseMs - terms!.killMarginMs;
        if (attempt.outcome === null && isLate) this.giveUp(attempt, "its lease could not be renewed");
      }
      await pause(LEASE_CHECK_MS, this.over.signal);
    }
  }

  private giveUp(attempt: RemoteAttempt, why: string): void {
    this.options.log(`gives up ${describe(attempt)}: ${why}`);
    void this.kill(attempt);
  }

  /** Never rejects, because an attempt that cannot be cleaned up must not end all others. */
  private async kill(attempt: RemoteAttempt): Promise<void> {
    this.drop(attempt);
    attempt.controller.abort("stopped");
    // Without the step's own grace period, because its time is up.
    await pause((this.connection.terms?.killMarginMs ?? 0) / 3, this.options.end);
    try {
      await this.local.endLeftovers(attempt.token);
    } catch (error) {
      this.options.log(`${describe(attempt)} may have left processes: ${rootMessageOf(error)}`);
    }
    this.removeFiles(attempt);
  }

  private removeFiles(attempt: RemoteAttempt): void {
    try {
      attempt.removeFiles();
    } catch (error) {
      this.options.log(`${describe(attempt)} has left files: ${rootMessageOf(error)}`);
    }
  }

  private async logLoop(): Promise<void> {
    while (!this.over.signal.aborted) {
      await pause(LOG_PERIOD_MS, this.over.signal);
      for (const attempt of this.attempts.values()) {
        if (attempt.outcome !== null || attempt.logs.every((log) => log.size <= log.sent)) continue;
        const session = await this.connection.get();
        await sendLogs(session, attempt).catch((error: unknown) => this.failedFor(session, attempt, error));
      }
    }
  }

  private settle({ token, outcome }: ReportAnswer): void {
    const attempt = this.attempts.get(token);
    if (attempt === undefined) return;
    if (outcome === "stale") this.options.log(`${describe(attempt)} is no longer needed`);
    this.drop(attempt);
    this.removeFiles(attempt);
  }

  /** Handles a failed request for one attempt, caused by the attempt or by the connection. */
  private failedFor(session: Session, attempt: RemoteAttempt, error: unknown): void {
    if (!(error instanceof ServerRefusal)) return this.connection.failed(session, error);
    if (error.code === "STALE_ATTEMPT") this.giveUp(attempt, error.message);
    else if (error.status === 404) this.connection.failed(session, error);
  }

  private drop(attempt: RemoteAttempt): void {
    if (this.attempts.get(attempt.token) === attempt) this.attempts.delete(attempt.token);
    if (this.attempts.size > 0) return;
    this.life.idle();
    this.wakeIdle();
  }

  private get isLeaving(): boolean {
    return this.hasLeft || this.options.end.aborted || this.over.signal.aborted;
  }
}

const STOPPED: Outcome = { kind: "stopped" };

/** Needs as the server counts them. A recovery script takes no room. */
function needsOf({ recovery, resources }: Assignment): Parameters<SlotQueue["enter"]>[0] {
  const { cpus = 1, slots = cpus, memoryBytes, gpus = 0 } = resources ?? {};
  const taken = { slots, memoryBytes: memoryBytes ?? 0, gpus, runtimeMs: null };
  return recovery ? { ...taken, ...NO_ROOM } : taken;
}

const forever = new Promise<never>(() => {});

function describe({ assignment }: RemoteAttempt): string {
  const { stepId, jobId, attempt, recovery } = assignment;
  return `${stepId} (job ${jobId}, attempt ${attempt}${recovery ? ", recovery script" : ""})`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function isAbort(error: Error): boolean {
  return error.name === "AbortError";
}
