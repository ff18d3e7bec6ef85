import type { EventOf } from "../../core/model/events.js";
import { flowOf, WAIT } from "../../core/model/flow.js";
import { jobById, type Run } from "../../core/model/run.js";
import { iso } from "../../core/text/iso-time.js";
import { listNames } from "../lookup/job-name.js";
import { nameIn, told, type WordsOf } from "./event-words.js";
import { note } from "./note.js";
import { fact, why } from "./sentence.js";

type FlowEvents = "step.declared" | "calls.awaited" | "wait.begun" | "job.given" | "attempt.suspended";

/** What the program of a flow calls, and what it waits for. */
export const FLOW_WORDS: WordsOf<FlowEvents> = {
  "step.declared": {
    story: (event, run) => told(event.job, why(declaredText(event, run))),
    debug: true,
  },
  "calls.awaited": {
    story: ({ jobs }, run) =>
      jobs.flatMap((job) => told(job, fact(`It goes on when ${programIn(run)} has called it again.`))),
    debug: true,
  },
  "wait.begun": {
    note: ({ job, due_at: dueAt }, run) =>
      note("run", `${nameIn(run, job)} waits${dueAt === null ? "" : ` until ${iso(dueAt)}`}`),
    story: ({ job, due_at: dueAt }) =>
      told(job, fact(`It waits${dueAt === null ? "" : ` until ${iso(dueAt)}`}.`)),
    debug: true,
  },
  "job.given": {
    story: ({ job }, run) =>
      jobById(run, job).step.definition.action.type === WAIT ? told(job, fact("Its wait was over.")) : [],
    debug: true,
  },
  "attempt.suspended": {
    note: (event, run) => note("run", `${nameIn(run, event.job)} ${awaitsText(event, run)}`),
    story: (event, run) =>
      told(event.job, fact(`Attempt ${event.attempt} ${awaitsText(event, run)}, in no process.`)),
    debug: true,
  },
};

function declaredText({ by, source, attempt }: EventOf<"step.declared">, run: Run): string {
  const again = attempt === 1 ? "" : ` in its attempt ${attempt}`;
  return `${nameIn(run, by)} called it${again}${source === undefined ? "" : ` (${source})`}.`;
}

function awaitsText({ awaits }: EventOf<"attempt.suspended">, run: Run): string {
  return `waits for ${listNames(awaits, (id) => nameIn(run, id))}`;
}

function programIn({ jobs }: Run): string {
  const flow = jobs[0] === undefined ? null : flowOf(jobs[0].step.definition.action.type);
  return flow === null ? "its program" : `the program of ${flow}`;
}
