import { undoneJobs } from "../../core/model/ending/run-ending.js";
import type { EventOf, UnparkReason } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";
import { counted, durationAmount } from "../../core/text/amount-text.js";
import { jobNames, listNames } from "../lookup/job-name.js";
import { because, nameIn, short, steered, told, type WordsOf } from "./event-words.js";
import { type NewNote, note, runNote } from "./note.js";
import { cost, fact } from "./sentence.js";

type RunEvents =
  | "run.created"
  | "run.started"
  | "run.resumed"
  | "run.held"
  | "run.completed"
  | "run.failed"
  | "run.canceled"
  | "time.counted"
  | "time.stopped"
  | "time.warned"
  | "scopes.opened"
  | "scope.abandoned"
  | "join.decided"
  | "jobs.ready"
  | "jobs.skipped"
  | "jobs.canceled"
  | "jobs.stopping"
  | "job.created"
  | "job.released";

/** Texts for a run, its branches, and jobs that do not run. The summary describes how a run ended. */
export const RUN_WORDS: WordsOf<RunEvents> = {
  "run.created": {
    note: ({ options: { reused }, workflow }, run) =>
      reused?.from === null
        ? runNote("run", run, `has no ended run of ${workflow} to take over from; everything runs`)
        : null,
  },
  "run.started": { note: (_event, run) => runNote("run", run, `of ${run.workflow} started`) },
  "run.resumed": {
    note({ lost }, run) {
      const names = listNames(lost, ({ job }) => nameIn(run, job));
      const what = lost.length === 0 ? "no attempts were lost" : `lost: ${names}`;
      return runNote("run", run, `of ${run.workflow} resumed; ${what}`);
    },
    runStory({ lost }, when) {
      const attempts = counted(lost.length, "attempt was", "attempts were");
      const what = lost.length === 0 ? "" : `; ${attempts} lost with the old one`;
      return `A new process continued it ${when}${what}.`;
    },
  },
  "run.held": {
    note: ({ jobs }, run) => runNote("held", run, `is held: ${jobNames(run, jobs)}`),
    runStory: (_event, when) => `It was held ${when}: only held steps were left.`,
  },
  "run.completed": {},
  "run.failed": {},
  "run.canceled": {},
  "time.counted": {},
  "time.stopped": {},
  "time.warned": {
    note: ({ after_ms: afterMs }, run) =>
      runNote("run", run, `has been running for ${durationAmount(afterMs)}${deadlineIn(run)}`),
    runStory: ({ after_ms: afterMs }, when) =>
      `It had run for ${durationAmount(afterMs)} ${when}, which is longer than expected.`,
  },
  "scopes.opened": {
    note: ({ job, items }, run) =>
      note("started", `${nameIn(run, job)} opened ${counted(items.length, "branch", "branches")}`),
    debug: true,
  },
  "scope.abandoned": {
    note({ scope, code, canceled, stopping }, run) {
      const jobs = [...canceled, ...stopping];
      const where = scope === "root" ? "" : ` in ${scope}`;
      const what = jobs.length === 0 ? "nothing was left to run" : `canceled${where}: ${jobNames(run, jobs)}`;
      return note("canceled", `${what} (${code})`);
    },
    story: ({ canceled, code, reason }) =>
      canceled.flatMap((id) => told(id, fact(`It was canceled (${code}): ${reason}.`))),
    debug: true,
  },
  "join.decided": {
    note: joinNote,
    story: (event) => told(event.job, fact(`Of its branches ${joinText(event)}.`)),
    debug: true,
  },
  "jobs.ready": {},
  "jobs.skipped": {
    // What was never selected is counted in the summary.
    note: ({ jobs, because, reason }, run) =>
      because === "not_routed" || because === "only"
        ? null
        : note("skipped", `skipped: ${jobNames(run, jobs)} (${reason})`),
    story: ({ jobs, reason }) => jobs.flatMap((id) => told(id, fact(`It was skipped: ${reason}.`))),
  },
  "jobs.canceled": {
    // A failure that came after its run was canceled.
    answer: ({ reason }) => `${reason}; nothing more is done`,
    note: ({ jobs, reason }, run) => note("canceled", `canceled: ${jobNames(run, jobs)} (${short(reason)})`),
    story({ jobs, code, reason }, run, { lastFailed }) {
      const each = jobs.flatMap((id) => told(id, fact(`It was canceled (${code}): ${reason}.`)));
      if (code !== "DEPENDENCY_FAILED" || lastFailed === null) return each;
      const verbs = jobs.length === 1 ? "depends on it and was" : "depend on it and were";
      return [...each, ...told(lastFailed, fact(`${jobNames(run, jobs)} ${verbs} canceled.`))];
    },
  },
  "jobs.stopping": {},
  "job.created": {},
  "job.released": {},
};

function joinNote(event: EventOf<"join.decided">, run: Run): NewNote | null {
  if (event.satisfied && event.failed === 0) return null;
  return note("route", `${nameIn(run, event.job)}: of its branches ${joinText(event)}`);
}

function joinText({ completed, failed, skipped, satisfied }: EventOf<"join.decided">): string {
  const others = skipped === 0 ? "" : `, ${skipped} were skipped`;
  return `${completed} completed, ${failed} failed${others}: the join is ${satisfied ? "" : "not "}satisfied`;
}

function deadlineIn({ definition: { timeLimits } }: Run): string {
  const { deadlineMs = null } = timeLimits ?? {};
  return deadlineMs === null
    ? ", longer than expected"
    : `; it is canceled after ${durationAmount(deadlineMs)}`;
}

type EndingEvents = "run.ending" | "undo.started" | "undo.entered" | "undo.left" | "finally.entered";

/** How far it got: a step that could not be undone, or whose turn has not come, is not. */
function undoneText(run: Run, all: number, when: string): string {
  const done = undoneJobs(run).length;
  if (done === all) return `${counted(all, "step was", "steps were")} undone (${when}).`;
  const were = `${counted(all, "step was", "steps were")} to be undone (${when})`;
  const some = done === 0 ? "none" : String(done);
  if (run.finishedAt === null) return `${were}; ${some} so far.`;
  return `${were}, and ${some} of them ${done > 1 ? "were" : "was"}.`;
}

/** What a run does before it ends: it undoes what it has done, and finishes. */
export const ENDING_WORDS: WordsOf<EndingEvents> = {
  "run.ending": {
    note({ status, message }, run) {
      if (status === "completed") return null;
      const why = message === "" ? "" : `: ${short(message)}`;
      return runNote(status, run, `${status === "failed" ? "has failed" : "is canceled"}${why}`);
    },
  },
  "undo.started": {
    note: ({ jobs }, run) => runNote("run", run, `undoes ${jobNames(run, jobs)}`),
    runStory: ({ jobs }, when, run) => undoneText(run, jobs.length, when),
    debug: true,
  },
  "undo.entered": {
    story: ({ job, visit, of }, run) => [
      ...told(job, fact(`Visit ${visit} began (it undoes ${nameIn(run, of)}).`)),
    ],
    debug: true,
  },
  "undo.left": {
    note: ({ job, of, undone }, run) =>
      undone
        ? note("route", `${nameIn(run, of)} is undone (${nameIn(run, job)})`)
        : note("failed", `${nameIn(run, of)} is not undone (${nameIn(run, job)})`),
    story: ({ job, of, undone }, run) =>
      undone
        ? steered(of, fact(`It was undone by ${nameIn(run, job)}.`))
        : steered(of, fact(`It was not undone: ${nameIn(run, job)} did not complete.`)),
  },
  "finally.entered": {
    story: ({ job, visit }) => told(job, fact(`Visit ${visit} began (the run was ending).`)),
    debug: true,
  },
};

type BreakerEvents = "job.parked" | "jobs.unparked" | "job.let_through";

/** What breakers do to the jobs that use them. */
export const BREAKER_WORDS: WordsOf<BreakerEvents> = {
  "job.parked": {
    answer: ({ breakers }) =>
      `it waits until ${breakers.join(" and ")} ${breakers.length === 1 ? "works" : "work"} again`,
    answerKind: "route",
    story: ({ job }) => told(job, cost("nothing: no retry, no attempt of a rule, no loop")),
    debug: true,
  },
  "jobs.unparked": {
    note: ({ jobs, breaker, because: why }, run) =>
      note("route", `${jobNames(run, jobs)}: ${UNPARKED[why](breaker)}`),
    story: ({ jobs, breaker, because: why }) =>
      jobs.flatMap((job) => told(job, fact(`It no longer waits: ${UNPARKED[why](breaker)}.`))),
    debug: true,
  },
  "job.let_through": {
    note: ({ job, reason }, run) =>
      note(
        "operator",
        `${nameIn(run, job)}: its next attempt starts whatever its breakers say: ${short(reason)}`,
      ),
    story: ({ job, reason }) =>
      steered(
        job,
        fact(`Somebody asked for a retry${because(reason)}: it starts whatever its breakers say.`),
        cost("nothing"),
      ),
  },
};

const UNPARKED: Readonly<Record<UnparkReason, (breaker: string) => string>> = {
  closed: (breaker) => `${breaker} works again`,
  spent: (breaker) => `${breaker} was open for as long as it may be, so the failure climbs on`,
  probe: (breaker) => `it checks whether ${breaker} works again`,
};
