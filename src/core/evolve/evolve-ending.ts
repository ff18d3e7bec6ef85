import type { Event } from "../model/events.js";
import { beginVisit } from "../model/jobs.js";
import { change, type Job, jobById, type Run } from "../model/run.js";

export type EndingEvent = Extract<
  Event,
  { type: "run.ending" | "undo.started" | "undo.entered" | "undo.left" | "finally.entered" }
>;

/** The events of a run that is about to end. */
export function evolveEnding(run: Run, event: EndingEvent): void {
  if (event.type === "run.ending") {
    const { status, code, message } = event;
    const error = status === "completed" ? null : { code: code ?? "RUN_CANCELED", message };
    run.ending = { status, error, items: null, next: 0, turn: null, finally: [] };
    // A cancel has gone over the head of a pause.
    run.paused = null;
    run.status = "running";
    return;
  }
  const ending = run.ending!;
  switch (event.type) {
    case "undo.started":
      ending.items = event.jobs.map((id) => {
        const job = jobById(run, id);
        return { job, completions: run.undoable.get(job) ?? 1, undone: null };
      });
      return;
    case "undo.entered": {
      const job = jobById(run, event.job);
      enterAtEnd(run, job, event.visit);
      ending.turn = { job, item: ending.items![ending.next]! };
      return;
    }
    case "undo.left":
      ending.items![ending.next]!.undone = event.undone;
      ending.next += 1;
      ending.turn = null;
      return;
    case "finally.entered": {
      const job = jobById(run, event.job);
      enterAtEnd(run, job, event.visit);
      ending.turn = { job, item: null };
      ending.finally = [...ending.finally, job];
      return;
    }
  }
}

/** Each visit has all budgets of its step, whatever the step has undone before. */
function enterAtEnd(run: Run, job: Job, visit: number): void {
  change(run, job, () => {
    beginVisit(job);
    job.visit = visit;
    job.status = "blocked";
    job.settledAs = null;
    job.output = null;
    job.charged = 0;
    job.allowed = null;
    job.retriesInRun = 0;
  });
}
