import { undoneJobs } from "../../core/model/ending/run-ending.js";
import type { Run } from "../../core/model/run.js";
import { counted } from "../../core/text/amount-text.js";
import { jobNames } from "../lookup/job-name.js";
import { nameIn, short, steered, told, type WordsOf } from "./event-words.js";
import { note, runNote } from "./note.js";
import { fact } from "./sentence.js";

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
