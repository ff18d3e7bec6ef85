import type { HealEvent } from "../../core/model/events.js";
import { jobById, type Run } from "../../core/model/run.js";
import { durationText } from "../../report/duration-text.js";
import { jobName } from "../../report/lookup/job-name.js";
import { noteText } from "../../report/workspace-note-text.js";
import type { NewNote } from "./note.js";
import { short } from "./plain-note.js";

/** Workspaces that are built and swapped, and what the queue does. */
export function healNote(run: Run, event: HealEvent): NewNote | null {
  if (event.type === "workspace.opened") return { kind: "run", text: openedText(event) };
  if (event.type === "workspace.moved")
    return { kind: "run", text: `the workspace was built from its checkpoints in ${event.path}` };
  if (event.type === "workspace.left")
    return { kind: "run", text: `left alone by ${event.host}: ${short(event.message)}` };
  const name = jobName(jobById(run, event.job));
  switch (event.type) {
    case "rebuild.started":
      return { kind: "started", text: `${name}: ${startedText(event)}` };
    case "rebuild.finished":
      return event.ok
        ? {
            kind: "route",
            text: `${name}: the fresh workspace stands after ${durationText(event.durationMs)}`,
          }
        : {
            kind: "failed",
            text: `${name}: the fresh workspace could not be built: ${short(event.message)}; the old one is as it was`,
          };
    case "set_aside.started":
      return null;
    case "set_aside.finished":
      return setAsideNote(name, jobName(jobById(run, event.for)), event);
    case "workspace.promoted":
      return { kind: "recovered", text: `${name}: the run goes on in the fresh workspace` };
    case "workspace.discarded":
      return { kind: "canceled", text: `${name}: the fresh workspace is given up (${event.reason})` };
    case "job.dead_lettered":
      // The line of the failure says so, among what the ladder made of it.
      return null;
    case "reset.reserved":
      return event.trigger === "operator"
        ? { kind: "operator", text: `${name} is to run in a fresh workspace: ${short(event.reason)}` }
        : { kind: "route", text: `${name}: its turn in the queue has come` };
    case "requeue.scheduled":
      return { kind: "route", text: `${name}: ${requeueText(event)}` };
  }
}

function openedText({ path, commit, notes = [] }: Extract<HealEvent, { type: "workspace.opened" }>): string {
  const place = `the workspace stands in ${path}, at ${commit.slice(0, 12)}`;
  return [place, ...notes.map((note) => `warning: ${noteText(note)}`)].join("; ");
}

function setAsideNote(
  name: string,
  next: string,
  { attempt, ok, patch, files, message }: Extract<HealEvent, { type: "set_aside.finished" }>,
): NewNote | null {
  const what = `${name}: what attempt ${attempt} left`;
  if (!ok) return { kind: "failed", text: `${what} could not be set aside for ${next}: ${short(message)}` };
  if (patch === null) return null;
  return {
    kind: "route",
    text: `${what} (${files} ${files === 1 ? "file" : "files"}) is set aside in ${patch}`,
  };
}

export function requeueText({
  requeue,
  max,
  delayMs,
}: Extract<HealEvent, { type: "requeue.scheduled" }>): string {
  return `back into the queue, ${requeue} of ${max}, again in ${durationText(delayMs)}`;
}

export function resetText({ reset, max }: Extract<HealEvent, { type: "reset.reserved" }>): string {
  return `hard reset ${reset} of ${max}: again in a fresh workspace`;
}

function startedText({
  replay,
  barrier,
  try: tries,
}: Extract<HealEvent, { type: "rebuild.started" }>): string {
  const from = `${replay.length} ${replay.length === 1 ? "checkpoint" : "checkpoints"}`;
  const again = tries > 1 ? `, once more (${tries})` : "";
  return barrier === null
    ? `a fresh workspace is built from ${from}${again}`
    : `the workspace is taken back to ${from}${again}`;
}
