import { counted } from "../../core/text/amount-text.js";
import { jobNames } from "../lookup/job-name.js";
import { nameIn, short, steered, told, type WordsOf } from "./event-words.js";
import { note, runNote } from "./note.js";
import { fact } from "./sentence.js";

type EndingEvents = "run.ending" | "undo.started" | "undo.entered" | "undo.left" | "finally.entered";

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
    note: ({ jobs }, run) => runNote("run", run, `is undone: ${jobNames(run, jobs)}`),
    runStory: ({ jobs }, when) =>
      `Before it ended, ${counted(jobs.length, "step was", "steps were")} to be undone (${when}).`,
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
