import type { Command } from "../core/commands.js";
import type { EvaluationPurpose, Event } from "../core/events.js";
import { type Job, jobById, type Run } from "../core/run.js";
import type { Evaluation, Sandbox } from "../sandbox/sandbox.js";
import type { Assignment, Report, Worker } from "../worker/worker.js";
import { assignmentFor, recoveryFor, reportCommand } from "./assignment.js";
import type { Clock } from "./clock.js";
import { evaluationFor } from "./evaluation.js";
import { HUMAN } from "./human-step.js";
import type { RunHost } from "./run-host.js";
import type { ReadArtifact } from "./variables.js";
import type { WorkspaceRebuilder } from "./workspace-rebuilder.js";

export interface EffectPorts {
  readonly worker: Worker;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly readArtifact: ReadArtifact;
  readonly rebuilder: WorkspaceRebuilder;
  /** Run this once what the host has decided is committed. */
  readonly afterCommit: (host: RunHost, effect: () => void) => void;
  /** Put what came of an effect to the host, if it is still the run's. */
  readonly post: (host: RunHost, command: Command) => void;
}

/** What follows from events in the world outside: processes, timers, expressions. Planned now, done after the commit. */
export class Effects {
  private readonly attempts = new Map<number, { controller: AbortController; done: Promise<void> }>();
  private readonly timers = new Map<number, () => void>();
  /** By run: the fresh workspace that is being built for it. */
  private readonly rebuilds = new Map<
    number,
    { id: number; controller: AbortController; done: Promise<void> }
  >();

  constructor(private readonly ports: EffectPorts) {}

  plan(host: RunHost, events: readonly Event[]): void {
    const { afterCommit } = this.ports;
    for (const event of events) {
      switch (event.type) {
        case "attempt.started":
          if (event.worker !== HUMAN) this.planAttempt(host, jobById(host.run, event.job));
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
          if (event.dueAt !== null) this.planTimer(host, event.job, event.dueAt);
          break;
        case "rebuild.started":
          afterCommit(host, () => this.rebuild(host, event));
          break;
        case "workspace.discarded":
          afterCommit(host, () => this.dropRebuild(host, event));
          break;
        case "requeue.scheduled":
          this.planTimer(host, event.job, event.dueAt);
          break;
        case "retry.scheduled":
          if (event.delayMs > 0) this.planTimer(host, event.job, event.dueAt);
          break;
        case "evaluation.requested":
          this.planEvaluation(host, jobById(host.run, event.job), event.id, event.purpose);
          break;
        default:
          break;
      }
    }
  }

  /** What an earlier owner had set going and not finished: timers at their recorded time, expressions once more. */
  rearm(host: RunHost, alreadyAsked: ReadonlySet<number>): void {
    for (const job of host.run.jobs) {
      if (job.status === "waiting" && job.dueAt !== null) this.arm(host, job.id, job.dueAt);
      const asked = job.evaluation;
      if (asked !== null && !alreadyAsked.has(asked.id))
        this.evaluate(host, job.id, asked.id, this.evaluationOf(host, job, asked.purpose));
    }
  }

  /** End whatever is at work for this run and forget its timers. */
  drop(run: Run): void {
    this.rebuilds.get(run.id)?.controller.abort("stopped");
    for (const job of run.jobs) {
      this.timers.get(job.id)?.();
      this.timers.delete(job.id);
      this.stop(job.id);
    }
  }

  /** Resolves when every process has gone. */
  async stopAll(): Promise<void> {
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
    const atWork = [...this.attempts.values(), ...this.rebuilds.values()];
    for (const { controller } of atWork) controller.abort("stopped");
    await Promise.all(atWork.map(({ done }) => done));
  }

  private stop(job: number): void {
    this.attempts.get(job)?.controller.abort("stopped");
  }

  private planAttempt(host: RunHost, job: Job): void {
    const { afterCommit, clock, post, readArtifact } = this.ports;
    let assignment: Assignment;
    try {
      assignment = assignmentFor(host.run, job, clock.now(), readArtifact);
    } catch (error) {
      const facts = {
        code: "ARTIFACT_MISSING",
        message: `what the step needs cannot be read: ${messageOf(error)}`,
      };
      const { id, attempt } = job;
      afterCommit(host, () =>
        post(host, {
          type: "attempt.finish",
          job: id,
          attempt,
          result: { kind: "failed", facts },
          durationMs: 0,
        }),
      );
      return;
    }
    afterCommit(host, () => this.execute(host, assignment));
  }

  private planRecovery(host: RunHost, job: Job): void {
    const assignment = recoveryFor(host.run, job, this.ports.clock.now(), this.ports.readArtifact);
    this.ports.afterCommit(host, () => this.execute(host, assignment));
  }

  private execute(host: RunHost, assignment: Assignment): void {
    const { jobId } = assignment;
    const controller = new AbortController();
    const lost = (error: unknown): Report => ({
      result: { kind: "failed", facts: { lost: true, message: messageOf(error) } },
      durationMs: 0,
    });
    const done = this.ports.worker
      .execute(assignment, controller.signal)
      .catch(lost)
      .then((report) => {
        // After a loss and a resume the job may have another attempt by now.
        if (this.attempts.get(jobId)?.controller === controller) this.attempts.delete(jobId);
        this.ports.post(host, reportCommand(assignment, report));
      });
    this.attempts.set(jobId, { controller, done });
  }

  /** What comes of it is put to the run, which no longer wants it if it has been discarded meanwhile. */
  private rebuild(host: RunHost, { rebuild, replay }: Extract<Event, { type: "rebuild.started" }>): void {
    const { rebuilder, clock, post } = this.ports;
    const controller = new AbortController();
    const startedAt = clock.now();
    const failed = (error: unknown) => ({ ok: false as const, message: messageOf(error) });
    const done = rebuilder
      .rebuild({ run: host.run, rebuild, replay }, controller.signal)
      .catch(failed)
      .then((built) => {
        if (this.rebuilds.get(host.run.id)?.controller === controller) this.rebuilds.delete(host.run.id);
        // An engine that stops leaves it to the next one.
        if (controller.signal.reason === "stopped") return;
        const path = built.ok ? built.path : null;
        const message = built.ok ? "" : built.message;
        const durationMs = clock.now() - startedAt;
        post(host, { type: "rebuild.finish", rebuild, ok: built.ok, path, message, durationMs });
      });
    this.rebuilds.set(host.run.id, { id: rebuild, controller, done });
  }

  private dropRebuild(
    host: RunHost,
    { rebuild, path }: Extract<Event, { type: "workspace.discarded" }>,
  ): void {
    const underWay = this.rebuilds.get(host.run.id);
    if (underWay?.id === rebuild) underWay.controller.abort("discarded");
    void this.ports.rebuilder.discard({ run: host.run, rebuild, path }).catch(() => {});
  }

  private planTimer(host: RunHost, job: number, dueAt: number): void {
    this.ports.afterCommit(host, () => this.arm(host, job, dueAt));
  }

  private arm(host: RunHost, job: number, dueAt: number): void {
    this.timers.get(job)?.();
    const cancel = this.ports.clock.setTimer(dueAt, () => {
      this.timers.delete(job);
      this.ports.post(host, { type: "timer.fire", job });
    });
    this.timers.set(job, cancel);
  }

  private planEvaluation(host: RunHost, job: Job, id: number, purpose: EvaluationPurpose): void {
    const evaluation = this.evaluationOf(host, job, purpose);
    this.ports.afterCommit(host, () => this.evaluate(host, job.id, id, evaluation));
  }

  /** Null where an output that the expression names cannot be read. */
  private evaluationOf(host: RunHost, job: Job, purpose: EvaluationPurpose): Evaluation | null {
    try {
      return evaluationFor(host.run, job, purpose, this.ports.clock.now(), this.ports.readArtifact);
    } catch {
      return null;
    }
  }

  private evaluate(host: RunHost, job: number, id: number, evaluation: Evaluation | null): void {
    const unreadable = {
      ok: false,
      code: "ARTIFACT_MISSING",
      reason: "an output that it names cannot be read",
      durationMs: 0,
    } as const;
    const answer =
      evaluation === null ? Promise.resolve(unreadable) : this.ports.sandbox.evaluate(evaluation);
    void answer.then((result) => this.ports.post(host, { type: "evaluation.finish", job, id, result }));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
