import type { EventOf } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";
import { counted, durationAmount } from "../../core/text/amount-text.js";
import { jobNames, listNames } from "../lookup/job-name.js";
import { nameIn, short, told, type WordsOf } from "./event-words.js";
import { type NewNote, note, runNote } from "./note.js";
import { fact } from "./sentence.js";

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
