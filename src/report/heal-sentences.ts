import type { HealEvent } from "../core/model/events.js";
import { jobById, type Run } from "../core/model/run.js";
import { oneLine } from "../core/text/plain-text.js";
import { durationText } from "./duration-text.js";
import { jobName } from "./lookup/job-name.js";
import { detail, type Sentence } from "./sentence.js";

const MAX_QUOTE_CHARS = 160;

/** What resets, fresh workspaces and the queue did to a job. `state` is the run just after. */
export function healSentences(state: Run, event: HealEvent): Sentence[] {
  switch (event.type) {
    case "reset.reserved":
      return reservedSentences(event);
    case "rebuild.started":
      return [startedSentence(event)];
    case "rebuild.finished": {
      const took = durationText(event.durationMs);
      return [
        event.ok
          ? detail(`The fresh workspace stood after ${took}.`)
          : `The fresh workspace could not be built: ${quote(event.message)}; the old one is as it was.`,
      ];
    }
    case "set_aside.started":
      return [];
    case "set_aside.finished":
      return setAsideSentences(state, event);
    case "workspace.promoted":
      return [`The fresh workspace is the run's from now on: ${event.path}.`];
    case "workspace.discarded":
      return [`The fresh workspace was given up: ${event.reason}.`];
    case "requeue.scheduled":
      return [
        "It went back into the queue.",
        detail(
          `Cost: requeue ${event.requeue} of ${event.max} and ${durationText(event.delayMs)} of waiting; no retry, no loop.`,
        ),
      ];
    case "job.dead_lettered":
      return [
        `The queue gave it up after ${event.queueAttempts} ${event.queueAttempts === 1 ? "round" : "rounds"}: it is a dead letter until somebody redrives it (visit ${jobById(state, event.job).visit}).`,
      ];
    case "workspace.opened":
    case "workspace.moved":
    case "workspace.left":
      return [];
  }
}

function reservedSentences(event: Extract<HealEvent, { type: "reset.reserved" }>): Sentence[] {
  if (event.trigger === "requeue") return [`Its turn in the queue came (${event.reason}).`];
  if (event.trigger === "operator")
    return [`Somebody asked for a fresh workspace ("${quote(event.reason)}").`, detail("Cost: nothing.")];
  return [
    detail(
      `It goes on in a fresh workspace. Cost: hard reset ${event.reset} of ${event.max} of this run and one attempt of the step; no loop.`,
    ),
  ];
}

function startedSentence(event: Extract<HealEvent, { type: "rebuild.started" }>): string {
  const from =
    event.replay.length === 0
      ? "from the pinned commit"
      : `from the pinned commit and ${event.replay.length === 1 ? "checkpoint" : "checkpoints"} ${event.replay.join(", ")}`;
  if (event.try > 1)
    return `It had not been finished: the workspace is built once more ${from} (${event.try}).`;
  return event.barrier === null
    ? `A fresh workspace was built beside the old one, ${from}.`
    : `The workspace was taken back: built anew ${from}.`;
}

/** Nothing is said of an attempt that has left nothing. */
function setAsideSentences(state: Run, event: Extract<HealEvent, { type: "set_aside.finished" }>): string[] {
  const { attempt, ok, patch, files, message } = event;
  const other = event.for === event.job ? null : jobName(jobById(state, event.for));
  if (!ok)
    return [`What attempt ${attempt} left could not be set aside for ${other ?? "it"}: ${quote(message)}.`];
  if (patch === null) return [];
  const what = `${files} changed ${files === 1 ? "file" : "files"}`;
  const when = other === null ? "it started again" : `${other} started`;
  return [`What attempt ${attempt} left (${what}) was set aside before ${when}: ${patch}.`];
}

function quote(text: string): string {
  return oneLine(text, MAX_QUOTE_CHARS);
}
