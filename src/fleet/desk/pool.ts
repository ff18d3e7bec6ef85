import type { Outcome } from "../../core/model/outcome.js";
import type { Limit, Resource } from "../../core/model/resources.js";
import { isLocalWorker } from "../../core/model/worker-names.js";
import { ALL_GOOD, isTrusted, type Standings } from "../../core/quarantine/quarantine.js";
import type { EndedRun } from "../../run/process/run-leftovers.js";
import type { TimerPort } from "../../run/worker/attempt-timers.js";
import { EndedRuns, type RecordedRuns } from "../../run/worker/ended-runs.js";
import { failureContextFor, writeFailureContext } from "../../run/worker/failure-context-files.js";
import { withPromptFiles } from "../../run/worker/prompt-files.js";
import { hasTags, NO_ROOM } from "../../run/worker/room.js";
import type { Assignment, Ended, HeldAttempt, Needs, PlaceWish, Seat, Worker } from "../../run/worker.js";
import { PoolAllocations } from "./pool-allocations.js";
import { PoolAttempt } from "./pool-attempt.js";
import { PoolBook } from "./pool-book.js";
import { PoolDesk } from "./pool-desk.js";
import {
  type Choice,
  choosePlace,
  keepRoom,
  type LocalPart,
  NO_WISH,
  type PoolPlace,
} from "./pool-placement.js";
import { PoolReports, type RecordedAttempts } from "./pool-reports.js";
import type { PoolWorker } from "./pool-worker.js";
import { DEFAULT_ATTEMPT_LEASE_MS, type LiveControl } from "./protocol.js";
import { ReceivedFiles } from "./received-files.js";
import { type NoPlace, whyNoPlace } from "./why-no-place.js";
import { localInfo, remoteInfo, type WorkerInfo } from "./worker-info.js";

export interface WorkerPoolOptions {
  /** The worker in this process. It executes child runs even if it has no slots. */
  readonly local: LocalPart;
  /** The folder for logs and artifacts of all attempts. */
  readonly outputDir: string;
  readonly clock: TimerPort;
  /** The store. */
  readonly recorded: RecordedAttempts & RecordedRuns;
  /** How long a worker without a sign of life keeps its attempts. By default 90 s. */
  readonly leaseMs?: number;
  /** What people request of a run of this server, for its workers. */
  readonly controlOf?: (runId: number) => LiveControl | null;
  /** Which workers are in quarantine. By default none. */
  readonly standings?: Standings;
}

/** What a recovery script takes of a worker. */
const NOTHING = { ...NO_ROOM, wants: [], nodes: 1, runtimeMs: 0, usesWorkspace: false };

/**
 * All workers of a server: the one in its own process, and those registered at its desk. It stores nothing on disk:
 * after a restart workers register again with what they hold, and runs adopt it.
 */
export class WorkerPool implements Worker {
  /** Serves workers on other machines. */
  readonly desk: PoolDesk;
  /** For the part that manages allocations of clusters. */
  readonly allocations: PoolAllocations;
  private readonly book: PoolBook;
  private readonly reports: PoolReports;
  private readonly standings: Standings;

  constructor(private readonly options: WorkerPoolOptions) {
    const { clock, leaseMs = DEFAULT_ATTEMPT_LEASE_MS } = options;
    const files = new ReceivedFiles(options.outputDir);
    const reports = new PoolReports(files, options.recorded, clock);
    this.reports = reports;
    this.standings = options.standings ?? ALL_GOOD;
    this.book = new PoolBook(clock, leaseMs, reports);
    const ended = new EndedRuns(options.recorded, clock);
    this.allocations = new PoolAllocations(this.book, clock, this.standings);
    this.desk = new PoolDesk(this.book, reports, files, ended, clock, options.controlOf ?? (() => null));
    this.desk.onRegistered = ({ at, caller, answersAs }) => {
      this.allocations.note(at, caller);
      // Requested now, so that it is known when the first attempt is placed.
      this.standings.standingOf(answersAs);
    };
  }

  place(needs: Needs, wish: PlaceWish = NO_WISH): Seat | "full" | null {
    return choosePlace(needs, wish, this.choice());
  }

  keepRoomFor(needs: Needs | null): boolean {
    return keepRoom(needs, this.choice());
  }

  /** Notifies that some worker may take what it could not take before. */
  tellRoom(): void {
    this.book.tellRoom();
  }

  private choice(): Choice {
    const { standings } = this;
    const { local, clock } = this.options;
    const workers = [...this.book.workers.values()];
    const canBringOthers = (tags: readonly string[]): boolean => this.allocations.canBring(tags);
    return { local, workers, elapsed: clock.elapsed(), standings, canBringOthers };
  }

  get doesNothingAs(): string {
    return this.options.local.name;
  }

  hasTurnFor({ tags }: Needs): boolean {
    const { local } = this.options;
    return local.slots > 0 && hasTags(local.tags, tags);
  }

  mostOf(runsOn: readonly string[], resource: Resource): Limit | null {
    return this.allocations.mostOf(runsOn, resource);
  }

  release(place: Seat): void {
    const { local, remote } = place as PoolPlace;
    if (local !== undefined) this.options.local.release(local);
    else remote?.worker.unreserve(remote.reservation);
  }

  execute(assignment: Assignment, place: Seat | null, signal: AbortSignal, ended: Ended): void {
    const { local, remote } = (place ?? {}) as Partial<PoolPlace>;
    const worker = remote?.worker ?? this.workerForScript(assignment);
    if (assignment.failedAlready !== null || local !== undefined || worker === "local")
      return this.options.local.execute(assignment, local ?? null, signal, ended);
    let shipped: Assignment;
    try {
      shipped = this.withContext(assignment);
    } catch (error) {
      return ended(notWritten(error));
    }
    remote?.worker.unreserve(remote.reservation);
    const { needs, endsAt } = remote?.reservation ?? { needs: scriptNeeds(assignment), endsAt: null };
    const attempt = new PoolAttempt(heldOf(assignment, worker?.label ?? "", needs), "queued", shipped);
    attempt.endsAt = endsAt;
    attempt.proves = remote?.reservation.proves === true;
    this.keep(attempt);
    this.listen(attempt, signal, ended);
    if (!attempt.isWanted) this.book.drop(attempt);
    else if (worker === null) this.book.findWorkerFor(attempt);
    else this.queue(attempt, worker);
  }

  adopt(held: HeldAttempt, signal: AbortSignal, ended: Ended): boolean {
    if (this.diedWithItsServer(held)) return false;
    const known = this.book.attempts.get(held.token);
    const attempt = known ?? new PoolAttempt(held, "received", null);
    if (known === undefined) this.keep(attempt);
    this.listen(attempt, signal, ended);
    if (known === undefined) this.book.expect(attempt);
    return true;
  }

  onRoom(listener: () => void): () => void {
    this.book.roomListeners.add(listener);
    const forget = this.options.local.onRoom(listener);
    return () => {
      forget();
      this.book.roomListeners.delete(listener);
    };
  }

  endLeftovers(token: string): Promise<void> {
    return this.options.local.endLeftovers(token);
  }

  endRun(run: EndedRun): void {
    this.options.local.endRun?.(run);
  }

  async close(): Promise<void> {
    this.book.close();
    await this.options.local.close();
  }

  /** Lists workers. The server's own is first, if it takes any work. */
  list(): WorkerInfo[] {
    const { local, clock } = this.options;
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    const remote = [...this.book.workers.values()].map((worker) => remoteInfo(worker, now, elapsed));
    remote.sort((a, b) => (a.name < b.name ? -1 : 1));
    return local.slots > 0 ? [localInfo(local, now), ...remote] : remote;
  }

  /** Why an attempt with these needs does not start now. */
  whyNot(needs: Needs): NoPlace {
    return whyNoPlace(needs, this.choice());
  }

  private listen(attempt: PoolAttempt, signal: AbortSignal, ended: Ended): void {
    // Its previous listener has lost the run.
    attempt.ended?.(null);
    attempt.ended = ended;
    const onAbort = (): void => {
      if (signal.reason === "stopped") return this.stop(attempt);
      if (attempt.ended !== ended) return;
      attempt.ended = null;
      ended(null);
    };
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
  }

  private keep(attempt: PoolAttempt): void {
    this.reports.unremember(attempt.token);
    attempt.since = this.options.clock.elapsed();
    this.book.attempts.set(attempt.token, attempt);
  }

  /** Sends an attempt. The worker may have left while the start was being committed, or been removed and come back. */
  private queue(attempt: PoolAttempt, chosen: PoolWorker): void {
    const worker = this.book.workers.get(chosen.id);
    if (worker === undefined) return this.book.lose(attempt, "its worker has gone");
    attempt.putOn(worker);
    worker.wake();
    if (worker.draining) this.book.loseUnlessAskedFor(attempt, worker);
  }

  private diedWithItsServer({ worker, recovery }: HeldAttempt): boolean {
    if (worker === "") return true;
    // A script follows its attempt to a server only if that server executes steps itself.
    return isLocalWorker(worker) && !(recovery && this.options.local.slots === 0);
  }

  private stop(attempt: PoolAttempt): void {
    if (!attempt.isUnsent) {
      attempt.stopping = true;
      attempt.isStopNews = true;
      attempt.worker?.wake();
      return;
    }
    this.book.end(attempt, { kind: "stopped" });
  }

  /** The worker for a script: the one where its attempt failed if possible, else any that can run it. */
  private workerForScript(assignment: Assignment): PoolWorker | "local" | null {
    const { local, clock } = this.options;
    const { recovery, lastWorker } = assignment;
    if (!recovery || (lastWorker !== null && isLocalWorker(lastWorker) && local.slots > 0)) return "local";
    const needs = scriptNeeds(assignment);
    const elapsed = clock.elapsed();
    const able = [...this.book.workers.values()].filter(
      (one) => one.isPresent(elapsed) && one.couldRun(needs),
    );
    // What it repairs on a worker in quarantine would be of no use, since no attempt goes there.
    const trusted = able.filter(({ answersAs }) => isTrusted(this.standings.standingOf(answersAs)));
    const among = trusted.length > 0 ? trusted : able;
    return among.find(({ label }) => label === lastWorker) ?? among[0] ?? (local.slots > 0 ? "local" : null);
  }

  /**
   * Adds the failure that a transition brought, read where the logs are. It is kept here, too, beside the attempt's
   * other files.
   */
  private withContext(given: Assignment): Assignment {
    const assignment = withPromptFiles(this.options.outputDir, given);
    if (assignment.failureSource === null) return assignment;
    const failureContext = failureContextFor(this.options.outputDir, assignment);
    const shipped = { ...assignment, failureSource: null, failureContext };
    writeFailureContext(this.options.outputDir, shipped);
    return shipped;
  }
}

function heldOf(assignment: Assignment, worker: string, needs: Needs): HeldAttempt {
  const { runId, workflowId, jobId, attempt, token, recovery, maxLogBytes } = assignment;
  const held = { runId, workflowId, jobId, attempt, token, worker, recovery, needs };
  return maxLogBytes === undefined ? held : { ...held, maxLogBytes };
}

function scriptNeeds({ runsOn, action }: Assignment): Needs {
  return { ...NOTHING, tags: runsOn, actionType: action.type };
}

function notWritten(error: unknown): Outcome {
  const message = `the failure context could not be written: ${error instanceof Error ? error.message : error}`;
  return { kind: "failed", facts: { code: "LOG_FAILED", message } };
}
