import type { Command } from "../../core/model/commands.js";
import type { Outcome } from "../../core/model/outcome.js";
import { passedResource } from "../../core/model/resources.js";
import { type Job, jobById } from "../../core/model/run.js";
import { messageOf } from "../../core/text/message-of.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { AbortCause, Assignment, Ended, Fate, HeldAttempt, Seat, Worker } from "../worker.js";
import type { PlannedAssignment } from "./assignment.js";
import type { Clock } from "./clock.js";
import { failIfOf, judgeSuccess } from "./judged-output.js";
import type { RunHost } from "./run-host.js";
import type { ReadArtifact } from "./variables.js";

export interface AttemptPorts {
  readonly worker: Worker;
  readonly sandbox: Sandbox;
  readonly clock: Pick<Clock, "now">;
  readonly readArtifact: ReadArtifact;
  /**
   * Resolves when the state of breakers is up to date, because whether a failure parks must not depend on when they
   * were last read.
   */
  readonly seeBreakers: () => Promise<void>;
  /** Gives a command to the host if it still owns the run. */
  readonly put: (host: RunHost, command: Command, settled?: (fate: Fate) => void) => void;
}

interface UnderWay {
  readonly controller: AbortController;
  /** Resolves to true if the attempt continues without this engine. */
  readonly done: Promise<boolean>;
  readonly ended: Ended;
}

type Named = Pick<Assignment, "jobId" | "attempt" | "recovery">;

/** The attempts and recovery scripts that this engine has on its workers, one per job. */
export class AttemptsUnderWay {
  private readonly byJob = new Map<number, UnderWay>();

  constructor(private readonly ports: AttemptPorts) {}

  /** Executes an assignment. It counts as running while it is still being rendered, so it can be stopped meanwhile. */
  execute(host: RunHost, { assignment, render }: PlannedAssignment, place: Seat | null): void {
    const { worker, sandbox } = this.ports;
    const underWay = this.watched(host, assignment, place);
    const { controller, ended } = underWay;
    const { signal } = controller;
    this.byJob.set(assignment.jobId, underWay);
    if (render === null) return worker.execute(assignment, place, signal, ended);
    void render(sandbox, signal)
      .then((made) =>
        signal.aborted ? ended({ kind: "stopped" }) : worker.execute(made, place, signal, ended),
      )
      .catch((error: unknown) => ended(lost(error)));
  }

  /** Takes over an attempt. Returns false if it is certainly gone. */
  adopt(host: RunHost, held: HeldAttempt): boolean {
    const underWay = this.watched(host, held, null);
    const { controller, ended } = underWay;
    let hear: (said: Parameters<Ended>) => void = () => {};
    const said = new Promise<Parameters<Ended>>((resolve) => {
      hear = resolve;
    });
    if (!this.ports.worker.adopt(held, controller.signal, (...all) => hear(all))) return false;
    // The report waits until this engine speaks for the run, and comes after what the engine itself has to say then.
    void host.speaks.then(() => said).then((all) => queueMicrotask(() => ended(...all)));
    this.byJob.set(held.jobId, underWay);
    return true;
  }

  abort(job: number, cause: AbortCause): void {
    this.byJob.get(job)?.controller.abort(cause);
  }

  /** Releases these jobs. Resolves to those whose attempts continue without this engine. */
  async release(jobs: Iterable<number>): Promise<number[]> {
    const kept: number[] = [];
    const ending: Promise<unknown>[] = [];
    for (const job of jobs) {
      const underWay = this.byJob.get(job);
      if (underWay === undefined) continue;
      underWay.controller.abort("released" satisfies AbortCause);
      ending.push(underWay.done.then((goesOn) => goesOn && kept.push(job)));
    }
    await Promise.all(ending);
    return kept;
  }

  private watched(host: RunHost, of: Named, place: Seat | null): UnderWay {
    let settle: (goesOn: boolean) => void = () => {};
    const done = new Promise<boolean>((resolve) => {
      settle = resolve;
    });
    const ended: Ended = (outcome, settled) => {
      // After a loss and a resume the job may already have another attempt.
      if (this.byJob.get(of.jobId) === underWay) this.byJob.delete(of.jobId);
      if (outcome !== null) {
        // Released last: a turn in between would give the place to a job that this outcome may put behind others.
        if (place !== null) this.ports.worker.release(place);
        this.finish(host, of, outcome, settled);
      }
      settle(outcome === null);
    };
    const underWay: UnderWay = { controller: new AbortController(), done, ended };
    return underWay;
  }

  private finish(
    host: RunHost,
    { jobId: job, attempt, recovery }: Named,
    said: Outcome,
    settled: Parameters<Ended>[1],
  ): void {
    const { put, sandbox, clock, readArtifact, worker, seeBreakers } = this.ports;
    const { run } = host;
    const outcome = withResourceLimit(worker, jobById(run, job), said);
    const type = recovery ? "recovery.finish" : "attempt.finish";
    const putFinish = (outcome: Outcome): void => put(host, { type, job, attempt, outcome }, settled);
    if (recovery) return putFinish(outcome);
    if (outcome.kind === "failed" && jobById(run, job).step.definition.uses !== undefined)
      return void seeBreakers().finally(() => putFinish(outcome));
    const code = failIfOf(run, job, outcome);
    if (code === null || outcome.kind !== "succeeded") return putFinish(outcome);
    const now = clock.now();
    void judgeSuccess({ sandbox, run, job, outcome, code, now, readArtifact }).then(putFinish);
  }
}

/**
 * Adds the largest amount that the job can get to a failure for lack of memory or time. Other failures stay unchanged.
 */
function withResourceLimit(
  worker: Pick<Worker, "mostOf">,
  { step }: Pick<Job, "step">,
  outcome: Outcome,
): Outcome {
  if (outcome.kind !== "failed") return outcome;
  const resource = passedResource(outcome.facts.code ?? "");
  const limit = resource === null ? null : worker.mostOf?.(step.definition.runsOn ?? [], resource);
  if (limit == null) return outcome;
  return { ...outcome, facts: { ...outcome.facts, resourceLimit: limit } };
}

function lost(error: unknown): Outcome {
  return { kind: "failed", facts: { lost: true, message: messageOf(error) } };
}
