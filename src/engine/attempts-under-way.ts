import { messageOf } from "../core/text/message-of.js";
import type { AbortCause, Assignment, HeldAttempt, Place, Report, Worker } from "../worker/worker.js";

interface UnderWay {
  readonly controller: AbortController;
  /** Resolves to whether it goes on without this engine. */
  readonly done: Promise<boolean>;
}

/** Takes a report; what is left of the attempt by then does not matter any more. */
export type ReportTaker = (report: Report) => void;

/** The attempts and recovery scripts that this engine has on its workers, one a job. */
export class AttemptsUnderWay {
  private readonly byJob = new Map<number, UnderWay>();

  constructor(private readonly worker: Worker) {}

  /** An assignment that is still to be made is under way already: it can be stopped meanwhile. */
  execute(
    job: number,
    assignment: Assignment | ((signal: AbortSignal) => Promise<Assignment>),
    place: Place | null,
    take: ReportTaker,
  ): void {
    const controller = new AbortController();
    const { signal } = controller;
    const reported =
      typeof assignment === "function"
        ? assignment(signal).then((made) =>
            signal.aborted ? NOT_BEGUN : this.worker.execute(made, place, signal),
          )
        : this.worker.execute(assignment, place, signal);
    this.watch(job, controller, reported, (report) => {
      // Not before: a turn in between would give the room to a job that this report may put behind others.
      if (place !== null) this.worker.release(place);
      take(report);
    });
  }

  /** False: it is certainly gone. Its report is taken only once `from` has resolved. */
  adopt(held: HeldAttempt, from: Promise<void>, take: ReportTaker): boolean {
    const controller = new AbortController();
    const report = this.worker.adopt(held, controller.signal);
    if (report === null) return false;
    this.watch(
      held.jobId,
      controller,
      from.then(() => report),
      take,
    );
    return true;
  }

  abort(job: number, cause: AbortCause): void {
    this.byJob.get(job)?.controller.abort(cause);
  }

  /** Resolves when these have ended, to the jobs whose attempts go on without this engine. */
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

  private watch(
    job: number,
    controller: AbortController,
    reported: Promise<Report | null>,
    take: ReportTaker,
  ): void {
    const done = reported.catch(lost).then((report) => {
      // After a loss and a resume the job may have another attempt by now.
      if (this.byJob.get(job)?.controller === controller) this.byJob.delete(job);
      if (report !== null) take(report);
      return report === null;
    });
    this.byJob.set(job, { controller, done });
  }
}

const NOT_BEGUN: Report = { result: { kind: "stopped" }, durationMs: 0 };

function lost(error: unknown): Report {
  const message = messageOf(error);
  return { result: { kind: "failed", facts: { lost: true, message } }, durationMs: 0 };
}
