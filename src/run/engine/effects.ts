import { actionTraits } from "../../core/model/action-traits.js";
import type { EvaluationPurpose, EvaluationResult, Event } from "../../core/model/events.js";
import { findJob, type Job, jobById, type Run } from "../../core/model/run.js";
import type { FoundShell } from "../../core/model/shell.js";
import { HUMAN, isLocalWorker } from "../../core/model/worker-names.js";
import { messageOf } from "../../core/text/message-of.js";
import type { EndedRun } from "../process/run-leftovers.js";
import type { Seat } from "../worker.js";
import { assignmentFor, type PlannedAssignment, recoveryFor } from "./assignment.js";
import { type AttemptPorts, AttemptsUnderWay } from "./attempts-under-way.js";
import type { Clock } from "./clock.js";
import type { FailureKeeper } from "./engine-options.js";
import { type CodePurpose, evaluate, evaluationFor, type PlannedEvaluation } from "./evaluation.js";
import { checkStandIn, type StandInCheck } from "./judged-output.js";
import { heldAttempts } from "./occupancy.js";
import type { RunHost } from "./run-host.js";
import type { WorkspaceKeeper } from "./workspace/workspace-keeper.js";
import { RebuildsUnderWay, SetAsidesUnderWay } from "./workspace/workspaces-under-way.js";

export interface EffectPorts extends AttemptPorts {
  readonly clock: Clock;
  readonly workspaces: WorkspaceKeeper;
  readonly failures: FailureKeeper | null;
  /** Runs the effect once the host's decisions are committed, or `dropped` if that is refused. */
  readonly afterCommit: (host: RunHost, effect: () => void, dropped?: () => void) => void;
}

/**
 * Carries out the consequences of events outside of the run: processes, timers, expressions. They are planned at once
 * and executed after the commit. An attempt without effects has none.
 */
export class Effects {
  private readonly attempts: AttemptsUnderWay;
  private readonly timers = new Map<number, () => void>();
  /** Timers by run: for its deadline, and for the notice that it takes long. */
  private readonly moments = new Map<number, (() => void)[]>();
  private readonly rebuilds: RebuildsUnderWay;
  private readonly setAsides: SetAsidesUnderWay;
  /** The place, by job, for an attempt that is being decided. */
  private readonly places = new Map<number, Seat>();
  private passed: number | null = null;

  constructor(private readonly ports: EffectPorts) {
    this.attempts = new AttemptsUnderWay(ports);
    this.rebuilds = new RebuildsUnderWay(ports.workspaces, ports.clock);
    this.setAsides = new SetAsidesUnderWay(ports.workspaces, ports.clock);
  }

  /** Calls `begin`, which decides the job's next attempt on this place. If it decides none, the place is released. */
  onPlace(job: number, place: Seat, begin: () => void): void {
    this.places.set(job, place);
    begin();
    if (this.places.delete(job)) this.ports.worker.release(place);
  }

  /** Calls `begin`, which decides an attempt that is over at once, so that no worker executes it. */
  withoutWorker(job: number, begin: () => void): void {
    this.passed = job;
    begin();
    this.passed = null;
  }

  plan(host: RunHost, events: readonly Event[]): void {
    const { afterCommit, failures } = this.ports;
    const keep = failures?.plan(host.run, events) ?? null;
    if (keep !== null) afterCommit(host, keep);
    for (const event of events) {
      switch (event.type) {
        case "attempt.started":
          if (event.worker !== HUMAN && event.job !== this.passed)
            this.planAttempt(host, jobById(host.run, event.job), event.shell);
          break;
        case "recovery.started":
          this.planRecovery(host, jobById(host.run, event.job));
          break;
        case "jobs.stopping":
          for (const id of event.jobs) afterCommit(host, () => this.stop(id));
          break;
        case "scope.abandoned":
          for (const id of event.stopping) afterCommit(host, () => this.stop(id));
          break;
        case "human.asked":
        case "job.held":
        case "wait.begun":
          if (event.due_at != null) this.planTimer(host, event.job);
          break;
        case "run.unpaused":
          // Deadlines that passed during a pause were ignored.
          for (const { id, dueAt } of [...host.run.held, ...host.run.asking])
            if (dueAt !== null) this.planTimer(host, id);
          break;
        case "time.counted":
          afterCommit(host, () => this.armMoments(host));
          break;
        case "time.stopped":
          afterCommit(host, () => this.dropMoments(host.run.id));
          break;
        case "rebuild.started":
          afterCommit(host, () =>
            this.rebuilds.begin(host.run, event, (command) => this.ports.put(host, command)),
          );
          break;
        case "set_aside.started":
          afterCommit(host, () =>
            this.setAsides.begin(host.run, event, (command) => this.ports.put(host, command)),
          );
          break;
        case "workspace.promoted":
          afterCommit(host, () => this.rebuilds.promote(host.run.id, event.path));
          break;
        case "workspace.discarded":
          afterCommit(host, () => this.rebuilds.discard(host.run.id, event));
          break;
        case "run.completed":
        case "run.failed":
        case "run.canceled":
          afterCommit(host, () => this.ports.worker.endRun?.(endedRun(host.run)));
          break;
        case "requeue.scheduled":
          this.planTimer(host, event.job);
          break;
        case "retry.scheduled":
          if (event.delay_ms > 0) this.planTimer(host, event.job);
          break;
        case "evaluation.requested":
          this.planEvaluation(host, jobById(host.run, event.job), event.id, event.purpose);
          break;
        default:
          break;
      }
    }
  }

  /** Restores what an earlier owner left unfinished: timers at their recorded times, and unanswered expressions. */
  rearm(host: RunHost, unanswered: ReadonlySet<number>): void {
    this.armMoments(host);
    for (const job of host.run.jobs) {
      const isTimed = job.status === "waiting" || job.status === "held";
      if (isTimed && job.dueAt !== null) this.arm(host, job);
      const asked = job.evaluation;
      if (asked === null || !unanswered.has(asked.id)) continue;
      if (asked.purpose === "stand_in")
        this.answer(host, job.id, asked.id, Promise.resolve(checkStandIn(this.standInOf(host, job))));
      else this.evaluate(host, job.id, asked.id, this.evaluationOf(host, job, asked.purpose));
    }
  }

  /** Takes over attempts. Returns the jobs whose attempts continue elsewhere; the rest of the others is ended. */
  async adoptAll(host: RunHost): Promise<number[]> {
    const kept: number[] = [];
    for (const held of heldAttempts(host.run)) {
      if (this.attempts.adopt(host, held)) kept.push(held.jobId);
      else await this.ports.worker.endLeftovers(held.token);
    }
    return kept;
  }

  stop(job: number): void {
    this.attempts.abort(job, "stopped");
  }

  /**
   * Releases a run: forgets its timers, and ends what depends on this engine, including the building of a workspace.
   * Resolves to the jobs that continue without it.
   */
  async release(run: Run): Promise<number[]> {
    const ids: number[] = [];
    this.dropMoments(run.id);
    for (const { id } of run.jobs) {
      this.timers.get(id)?.();
      this.timers.delete(id);
      ids.push(id);
    }
    const [kept] = await Promise.all([
      this.attempts.release(ids),
      this.rebuilds.release(run.id),
      this.setAsides.release(run.id),
    ]);
    return kept;
  }

  private planAttempt(host: RunHost, job: Job, shell: FoundShell | undefined): void {
    const { afterCommit, clock, readArtifact, worker } = this.ports;
    const place = this.places.get(job.id) ?? null;
    let assignment: PlannedAssignment;
    try {
      assignment = assignmentFor(host.run, job, { now: clock.now(), shell }, readArtifact);
    } catch (error) {
      return this.failUnreadable(host, job, error);
    }
    this.places.delete(job.id);
    if (assignment.later !== null) host.keepsForLater(assignment.later);
    if (mayRunAhead(host, job, place)) return this.attempts.execute(host, assignment, place);
    afterCommit(
      host,
      () => this.attempts.execute(host, assignment, place),
      () => (place === null ? undefined : worker.release(place)),
    );
  }

  private failUnreadable(host: RunHost, { id: job, attempt }: Job, error: unknown): void {
    const facts = {
      code: "ARTIFACT_MISSING",
      message: `what the step needs cannot be read: ${messageOf(error)}`,
    };
    const outcome = { kind: "failed", facts } as const;
    this.ports.afterCommit(host, () =>
      this.ports.put(host, { type: "attempt.finish", job, attempt, outcome }),
    );
  }

  private planRecovery(host: RunHost, job: Job): void {
    const assignment = recoveryFor(host.run, job, this.ports.clock.now(), this.ports.readArtifact);
    this.ports.afterCommit(host, () => this.attempts.execute(host, assignment, null));
  }

  private planTimer(host: RunHost, job: number): void {
    this.ports.afterCommit(host, () => this.arm(host, jobById(host.run, job)));
  }

  /**
   * Sets a timer that never lasts longer than the wait was meant to, because the clock may have been set back while
   * nobody ran the run.
   */
  private arm(host: RunHost, { id: job, dueAt, waitMs }: Job): void {
    const { clock } = this.ports;
    this.timers.get(job)?.();
    if (dueAt === null) return;
    const cancel = clock.setTimer(Math.min(dueAt, clock.now() + waitMs), () => {
      this.timers.delete(job);
      this.ports.put(host, { type: "timer.fire", job, dueAt });
    });
    this.timers.set(job, cancel);
  }

  /** Sets timers that, like in `arm`, never last longer than the limits. */
  private armMoments(host: RunHost): void {
    const { clock } = this.ports;
    const { id, timeUsed, definition } = host.run;
    this.dropMoments(id);
    const { counting, warned } = timeUsed;
    const { deadlineMs = null, warnAfterMs = null } = definition.timeLimits ?? {};
    if (counting === null) return;
    const moments = [
      { at: counting.deadlineAt, limitMs: deadlineMs },
      { at: warned ? null : counting.warnAt, limitMs: warnAfterMs },
    ];
    const armed = moments.flatMap(({ at, limitMs }) =>
      at === null || limitMs === null
        ? []
        : [
            clock.setTimer(Math.min(at, clock.now() + limitMs), () =>
              this.ports.put(host, { type: "time.reach", at }),
            ),
          ],
    );
    this.moments.set(id, armed);
  }

  private dropMoments(runId: number): void {
    for (const cancel of this.moments.get(runId) ?? []) cancel();
    this.moments.delete(runId);
  }

  private planEvaluation(host: RunHost, job: Job, id: number, purpose: EvaluationPurpose): void {
    if (purpose === "stand_in") {
      const check = this.standInOf(host, job);
      return this.ports.afterCommit(host, () =>
        this.answer(host, job.id, id, Promise.resolve(checkStandIn(check))),
      );
    }
    const evaluation = this.evaluationOf(host, job, purpose);
    this.ports.afterCommit(host, () => this.evaluate(host, job.id, id, evaluation));
  }

  /** Null if an output that the expression names cannot be read. */
  private evaluationOf(host: RunHost, job: Job, purpose: CodePurpose): PlannedEvaluation | null {
    try {
      return evaluationFor(host.run, job, purpose, this.ports.clock.now(), this.ports.readArtifact);
    } catch {
      return null;
    }
  }

  private evaluate(host: RunHost, job: number, id: number, evaluation: PlannedEvaluation | null): void {
    const unreadable = {
      ok: false,
      code: "ARTIFACT_MISSING",
      reason: "an output that it names cannot be read",
      duration_ms: 0,
    } as const;
    const answer =
      evaluation === null ? Promise.resolve(unreadable) : evaluate(this.ports.sandbox, evaluation);
    this.answer(host, job, id, answer);
  }

  /** The job with its present output, because that job may begin again. */
  private standInOf(host: RunHost, job: Job): StandInCheck {
    return { run: host.run, job, output: job.output, readArtifact: this.ports.readArtifact };
  }

  private answer(host: RunHost, job: number, id: number, answer: Promise<EvaluationResult>): void {
    void answer.then((result) => this.ports.put(host, { type: "evaluation.finish", job, id, result }));
  }
}

/**
 * Whether an attempt may run before its start is committed, because it changes nothing outside of the run. If the
 * commit is refused, the run is released together with the attempt. This is limited to this process, where nobody else
 * can see it earlier.
 */
function mayRunAhead(host: RunHost, { step }: Job, place: Seat | null): boolean {
  const { action } = step.definition;
  return (
    !actionTraits(action.type).hasEffects && place !== null && isLocalWorker(place.worker) && !host.isFarAhead
  );
}

/** The run's final state, copied because a reopened run is loaded again. */
function endedRun(run: Run): EndedRun {
  const begun = run.jobs.filter(({ attempt }) => attempt > 0);
  return {
    runId: run.id,
    actions: new Set(begun.map(({ step }) => step.definition.action.type)),
    had: (id, attempt) => (findJob(run, id)?.attempt ?? 0) >= attempt,
  };
}
