import type { TimerPort } from "../../run/worker/attempt-timers.js";
import type { EndedRuns } from "../../run/worker/ended-runs.js";
import { type PoolBook, unknownWorker } from "./pool-book.js";
import type { PoolReports } from "./pool-reports.js";
import { PoolWorker } from "./pool-worker.js";
import {
  CLAIM_WAIT_MS,
  type Claim,
  type ClaimAnswer,
  type Heartbeat,
  type HeartbeatAnswer,
  type Held,
  heartbeatMs,
  killMarginMs,
  type LiveControl,
  type Registered,
  type Registration,
  type ReportAnswer,
  type Reports,
  type ReportsAnswer,
  type SentOutcome,
  type Stream,
  type Verdict,
} from "./protocol.js";
import type { ReceivedFiles } from "./received-files.js";

/** After this many heartbeats in a row without an attempt, its worker has lost it. */
const MISSED_HEARTBEATS = 2;

/** Serves the requests of remote workers. */
export class PoolDesk {
  /** Called with each worker that registers, for the first time or again. */
  onRegistered: (worker: PoolWorker) => void = () => {};

  constructor(
    private readonly book: PoolBook,
    private readonly reports: PoolReports,
    private readonly files: ReceivedFiles,
    private readonly endedRuns: EndedRuns,
    private readonly clock: TimerPort,
    private readonly controlOf: (runId: number) => LiveControl | null,
  ) {}

  /** Registers a worker. `caller` is its token; null if no tokens are in use. */
  register(
    { attempts: held, draining = false, ends_in_ms: endsInMs = null, ...offer }: Registration,
    caller: number | null = null,
  ): Registered & Verdict {
    const { book, clock } = this;
    book.refuseTakenName(offer, caller);
    const worker =
      book.workers.get(offer.instance) ?? new PoolWorker(offer, clock.now(), clock.elapsed(), caller);
    worker.draining = draining;
    worker.leaveIn(endsInMs, clock.elapsed());
    worker.askAgain();
    if (!book.isRegistered(worker)) book.add(worker);
    this.onRegistered(worker);
    const listed = new Set(held.map(({ token }) => token));
    worker.beginSession((token) => listed.has(token));
    const verdict = this.judge(worker, held);
    book.seen(worker);
    book.findWorkersForAll();
    book.loseWhatNeverArrived(worker);
    book.tellRoom();
    return {
      worker_id: worker.id,
      session: worker.session,
      lease_ms: book.leaseMs,
      heartbeat_ms: heartbeatMs(book.leaseMs),
      kill_margin_ms: killMarginMs(book.leaseMs),
      ...verdict,
    };
  }

  /** Checks that the worker registered with this token. */
  checkCaller(workerId: string, caller: number | null): void {
    if (this.book.known(workerId).caller !== caller) throw unknownWorker();
  }

  /** Answers as soon as there is something for the worker. `gone` is aborted if its connection breaks before. */
  claim(
    workerId: string,
    { session, wait_ms: waitMs = CLAIM_WAIT_MS, answers }: Claim,
    gone: AbortSignal | null = null,
  ): Promise<ClaimAnswer> {
    const { book, clock } = this;
    const worker = book.known(workerId);
    const wasPresent = worker.isPresent(clock.elapsed());
    book.seen(worker);
    // The request was delayed for so long that the worker no longer waits for it. If it does, it registers again.
    if (session !== worker.session) throw unknownWorker();
    if (answers !== undefined) worker.learn(answers);
    const answer = worker.openClaim(clock, waitMs, gone);
    if (!wasPresent || answers !== undefined) {
      book.findWorkersForAll();
      book.tellRoom();
    }
    return answer;
  }

  /** Closes open claims, so that workers do not delay the shutdown. */
  closeClaims(): void {
    for (const worker of this.book.workers.values()) worker.closeClaim();
  }

  heartbeat(workerId: string, { attempts, draining, runs = [] }: Heartbeat): HeartbeatAnswer {
    const { book } = this;
    const worker = book.known(workerId);
    const wasDraining = worker.draining;
    const usedBefore = worker.used.slots;
    worker.draining = draining;
    book.seen(worker);
    const verdict = this.judge(worker, attempts);
    this.loseWhatIsMissed(worker, attempts);
    if (worker.takesNothing(this.clock.elapsed())) book.loseWhatIsUnsent(worker);
    if ((wasDraining && !draining) || worker.used.slots < usedBefore) book.tellRoom();
    return { ...verdict, over: this.endedRuns.among(runs), control: this.controlFor(verdict.renewed) };
  }

  /** Takes reports. Each is answered once it is on record. */
  async report(workerId: string, sent: readonly SentOutcome[]): Promise<ReportAnswer[]> {
    const worker = this.book.known(workerId);
    this.book.seen(worker);
    return Promise.all(sent.map((one) => this.takeReport(worker, one)));
  }

  /** Like `report`, but the answer also has the next work, unless `isGone` says that nobody would read it. */
  async reportAndClaim(
    workerId: string,
    { reports: sent, session }: Reports,
    isGone: () => boolean = () => false,
  ): Promise<ReportsAnswer> {
    const worker = this.book.known(workerId);
    worker.reportsUnderWay += 1;
    try {
      const results = await this.report(workerId, sent);
      if (session === undefined || isGone()) return { results, assignments: [], stop: [] };
      return { results, ...worker.takeNews(session, this.clock.elapsed()) };
    } finally {
      worker.reportsUnderWay -= 1;
    }
  }

  /**
   * Returns how much of the log is here now. If that is less than `offset`, nothing was written, and the worker
   * continues from there.
   */
  async writeLog(
    workerId: string,
    { token, stream, offset }: { readonly token: string; readonly stream: Stream; readonly offset: number },
    bytes: Uint8Array,
  ): Promise<{ readonly size: number }> {
    const attempt = this.book.heldBy(workerId, token);
    return { size: await attempt.writeLog(this.files, stream, offset, bytes) };
  }

  writeOutput(workerId: string, token: string, bytes: Buffer): ReturnType<ReceivedFiles["writeOutput"]> {
    return this.files.writeOutput(this.book.heldBy(workerId, token).held, bytes);
  }

  deregister(workerId: string): void {
    this.book.letGo(this.book.known(workerId));
  }

  private takeReport(worker: PoolWorker, sent: SentOutcome): Promise<ReportAnswer> {
    const { book, reports } = this;
    const attempt = book.attempts.get(sent.token);
    if (attempt === undefined) return this.takeStray(worker, sent);
    if (attempt.worker === null) attempt.putOn(worker);
    if (attempt.worker !== worker) {
      const { token } = sent;
      return Promise.resolve({ token, outcome: "stale", code: "STALE_ATTEMPT" });
    }
    const answered = (answer: ReportAnswer): void => {
      if (answer.outcome !== "retry") book.drop(attempt);
      // Its worker was removed meanwhile. The run's next owner expects it from the worker when that comes back.
      else if (!book.isRegistered(attempt.worker)) book.setFree(attempt);
    };
    if (attempt.isWanted) return reports.take(attempt, sent, answered);
    return reports.answerUnknown(sent).then((answer) => {
      if (!attempt.isWanted) answered(answer);
      book.tellRoom();
      return answer;
    });
  }

  private async takeStray(worker: PoolWorker, sent: SentOutcome): Promise<ReportAnswer> {
    const answer = await this.reports.answerUnknown(sent);
    // The worker forgets it now, so its room is free.
    if (answer.outcome !== "retry" && worker.strays.delete(sent.token)) this.book.tellRoom();
    return answer;
  }

  private judge(worker: PoolWorker, held: readonly Held[]): Verdict {
    const verdict = { renewed: [] as string[], stop: [] as string[], lost: [] as string[] };
    worker.strays.clear();
    for (const one of held) {
      const { token } = one;
      const attempt = this.book.attempts.get(token);
      if (attempt === undefined) {
        if (this.reports.isOver(token)) verdict.lost.push(token);
        else worker.strays.set(token, one);
        continue;
      }
      if (attempt.worker === null) attempt.putOn(worker);
      if (attempt.worker !== worker) {
        verdict.lost.push(token);
        continue;
      }
      attempt.received();
      // A run that is not ours may be started again elsewhere, so only its owner may renew its attempts.
      if (!attempt.isWanted) continue;
      verdict.renewed.push(token);
      if (attempt.stopping) verdict.stop.push(token);
    }
    return verdict;
  }

  /** The control documents of the runs of these attempts. */
  private controlFor(tokens: readonly string[]): HeartbeatAnswer["control"] {
    const runIds = new Set(tokens.map((token) => this.book.attempts.get(token)!.held.runId));
    const control: { [runId: string]: { live_control: LiveControl } } = {};
    for (const runId of runIds) {
      const liveControl = this.controlOf(runId);
      if (liveControl !== null) control[runId] = { live_control: liveControl };
    }
    return control;
  }

  private loseWhatIsMissed(worker: PoolWorker, held: readonly Held[]): void {
    const listed = new Set(held.map(({ token }) => token));
    for (const attempt of [...worker.attempts]) {
      if (attempt.delivery !== "received" || attempt.hasEnded || listed.has(attempt.token)) continue;
      attempt.missed += 1;
      if (attempt.missed >= MISSED_HEARTBEATS) this.book.lose(attempt, "its worker has lost it");
    }
  }
}
