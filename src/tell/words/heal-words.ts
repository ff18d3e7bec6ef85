import type { EventOf, WorkspaceNote } from "../../core/model/events.js";
import { jobById, type Run } from "../../core/model/run.js";
import { counted } from "../../core/text/amount-text.js";
import { listNames } from "../lookup/job-name.js";
import { durationText } from "./duration-text.js";
import { because, nameIn, quote, short, steered, type Told, told, type WordsOf } from "./event-words.js";
import { type NewNote, note } from "./note.js";
import { capitalised, cost, fact, why } from "./sentence.js";

type HealEvents =
  | "reset.reserved"
  | "requeue.scheduled"
  | "job.dead_lettered"
  | "workspace.opened"
  | "workspace.moved"
  | "workspace.left"
  | "workspace.promoted"
  | "workspace.discarded"
  | "rebuild.started"
  | "rebuild.finished"
  | "set_aside.started"
  | "set_aside.finished";

/** Workspaces that are built and swapped, and what the queue does. */
export const HEAL_WORDS: WordsOf<HealEvents> = {
  "reset.reserved": {
    answer: ({ trigger, reset, max }) =>
      trigger === "no_progress" ? `hard reset ${reset} of ${max}: run it again in a fresh workspace` : null,
    note({ job, trigger, reason }, run) {
      const name = nameIn(run, job);
      if (trigger === "operator")
        return note("operator", `${name} is to run in a fresh workspace: ${short(reason)}`);
      return trigger === "requeue" ? note("route", `${name}: its turn in the queue has come`) : null;
    },
    story: reservedStory,
    debug: true,
  },
  "requeue.scheduled": {
    answer: requeueText,
    note: (event, run) => note("route", `${nameIn(run, event.job)}: ${requeueText(event)}`),
    story: ({ job, requeue, max, delay_ms: delayMs }) =>
      steered(
        job,
        cost(`requeue ${requeue} of ${max} and ${durationText(delayMs)} of waiting; no retry, no loop`),
      ),
    debug: true,
  },
  "job.dead_lettered": {
    // While the run goes on, the line of the failure says so.
    story: ({ job, queue_attempts: queueAttempts }, run) =>
      told(
        job,
        fact(
          `The queue gave it up after ${counted(queueAttempts, "round")}: it is a dead letter until somebody redrives it (visit ${jobById(run, job).visit}).`,
        ),
      ),
    debug: true,
  },
  "workspace.opened": {
    note({ path, commit, notes = [] }) {
      const place = `the workspace is ${path}, at ${commit.slice(0, 12)}`;
      return note("run", [place, ...notes.map((each) => `warning: ${noteText(each)}`)].join("; "));
    },
  },
  "workspace.moved": {
    note: ({ path }) => note("run", `the workspace was rebuilt from its checkpoints in ${path}`),
    runStory: ({ path, host }, when) =>
      `Its workspace was rebuilt from the checkpoints ${when}, in ${path} on ${host}.`,
  },
  "workspace.left": {
    note: ({ host, message }) => note("run", `${host} cannot continue it: ${short(message)}`),
    runStory: ({ host, message }, when) => `${host} could not continue it ${when}${because(message)}.`,
  },
  "workspace.promoted": {
    note: ({ job }, run) => note("recovered", `${nameIn(run, job)}: the run goes on in the fresh workspace`),
    story: ({ job, path }) => told(job, fact(`The run goes on in the fresh workspace: ${path}.`)),
    debug: true,
  },
  "workspace.discarded": {
    note: ({ job, reason }, run) =>
      note("canceled", `${nameIn(run, job)}: the fresh workspace was discarded (${reason})`),
    story: ({ job, reason }) => told(job, fact(`The fresh workspace was discarded: ${reason}.`)),
    debug: true,
  },
  "rebuild.started": {
    note({ job, replay, barrier, try: tries }, run) {
      const from = counted(replay.length, "checkpoint");
      const again = tries > 1 ? ` (try ${tries})` : "";
      const what =
        barrier === null ? `building a fresh workspace from ${from}` : `taking the workspace back to ${from}`;
      return note("started", `${nameIn(run, job)}: ${what}${again}`);
    },
    story: (event) => told(event.job, fact(rebuildText(event))),
    debug: true,
  },
  "rebuild.finished": {
    note({ job, ok, duration_ms: durationMs, message, others }, run) {
      const name = nameIn(run, job);
      const kept =
        others === undefined
          ? ""
          : `; changes in the old one that no attempt had made are kept in ${others.patch}`;
      return ok
        ? note("route", `${name}: the workspace was ready after ${durationText(durationMs)}${kept}`)
        : note("failed", `${name}: ${rebuildFailed(short(message))}`);
    },
    story: ({ job, ok, duration_ms: durationMs, message, partial, others, previous }, run) =>
      told(
        job,
        ...[
          ...(partial == null
            ? []
            : [
                `What attempt ${partial.attempt}${partial.job === job ? "" : ` of ${nameIn(run, partial.job)}`} had left there (${counted(partial.files, "file")}) was kept: ${partial.patch}.`,
              ]),
          ...(others === undefined
            ? []
            : [
                `Changes there that no attempt had made (${counted(others.files, "file")}) were kept: ${others.patch}.`,
              ]),
          ...(previous === undefined ? [] : [`What was taken out of it is kept: ${previous}.`]),
        ].map(fact),
        ok
          ? why(`The workspace was ready after ${durationText(durationMs)}.`)
          : fact(`${capitalised(rebuildFailed(quote(message)))}.`),
      ),
    debug: true,
  },
  "set_aside.started": { debug: true },
  "set_aside.finished": {
    note: setAsideNote,
    story: setAsideStory,
    debug: true,
  },
};

function reservedStory(event: EventOf<"reset.reserved">): Told[] {
  const { job, trigger, reset, max, reason } = event;
  switch (trigger) {
    case "requeue":
      return steered(job, fact(`Its turn in the queue came (${reason}).`));
    case "operator":
      return steered(job, fact(`Somebody asked for a fresh workspace${because(reason)}.`), cost("nothing"));
    case "no_progress":
      return steered(
        job,
        cost(`hard reset ${reset} of ${max} of this run and one attempt of the step; no loop`),
      );
  }
}

function requeueText({ requeue, max, delay_ms: delayMs }: EventOf<"requeue.scheduled">): string {
  return `requeue ${requeue} of ${max} in ${durationText(delayMs)}`;
}

function rebuildText(event: EventOf<"rebuild.started">): string {
  const from =
    event.replay.length === 0
      ? "from the pinned commit"
      : `from the pinned commit and ${event.replay.length === 1 ? "checkpoint" : "checkpoints"} ${event.replay.join(", ")}`;
  if (event.try > 1) return `The workspace was not finished and is built again ${from} (try ${event.try}).`;
  return event.barrier === null
    ? `A fresh workspace was built beside the old one, ${from}.`
    : `The workspace was taken back: rebuilt ${from}.`;
}

function rebuildFailed(message: string): string {
  return `the workspace could not be built: ${message}; the old one is unchanged`;
}

function setAsideNote(event: EventOf<"set_aside.finished">, run: Run): NewNote | null {
  const { job, attempt, ok, patch, files, message } = event;
  const what = `${nameIn(run, job)}: the changes of attempt ${attempt}`;
  if (!ok)
    return note("failed", `${what} could not be set aside for ${nameIn(run, event.for)}: ${short(message)}`);
  return patch === null
    ? null
    : note("route", `${what} (${counted(files, "file")}) were set aside in ${patch}`);
}

/** Nothing is said of an attempt that has left nothing. */
function setAsideStory(event: EventOf<"set_aside.finished">, run: Run): Told[] {
  const { job, attempt, ok, patch, files, message } = event;
  const other = event.for === job ? null : nameIn(run, event.for);
  if (!ok)
    return told(
      job,
      fact(
        `The changes of attempt ${attempt} could not be set aside for ${other ?? "it"}: ${quote(message)}.`,
      ),
    );
  if (patch === null) return [];
  const when = other === null ? "it started again" : `${other} started`;
  return told(
    job,
    fact(
      `The changes of attempt ${attempt} (${counted(files, "file")}) were set aside before ${when}: ${patch}.`,
    ),
  );
}

/** One line for people: what they could miss in a workspace. */
export function noteText(note: WorkspaceNote): string {
  switch (note.kind) {
    case "empty_submodules":
      return `${note.paths.length === 1 ? "this submodule is" : "these submodules are"} not checked out in the repository and empty in the workspace: ${listNames(note.paths, (path) => path)}`;
    case "lfs_pointers":
      return "files that git LFS keeps elsewhere are pointers in the workspace; `git lfs pull` is not run";
  }
}
