import type { Event, LoggedEvent } from "../core/model/events.js";
import type { Run } from "../core/model/run.js";
import { oneLine } from "../core/text/plain-text.js";
import { durationText } from "./duration-text.js";

const MAX_QUOTE_CHARS = 160;

/** What happened to the run as a whole beside its steps: where it came from, and what people did with it. */
export function runSentences(run: Run, log: readonly LoggedEvent[]): string[] {
  const sentences = log.flatMap(({ at, event }) => {
    const text = sentenceOf(event);
    return text === null ? [] : [`${text.replace("{when}", `after ${durationText(at - run.createdAt)}`)}`];
  });
  if (run.parent === null) return sentences;
  return [`It is a child run of job ${run.parent.jobId} of run ${run.parent.runId}.`, ...sentences];
}

/** `{when}` stands for the time since the run was created. */
function sentenceOf(event: Event): string | null {
  switch (event.type) {
    case "run.forked": {
      const reused = `${event.reuse.length} completed ${event.reuse.length === 1 ? "step" : "steps"}`;
      return `It was forked from run ${event.from} at ${event.step}${because(event.reason)}; ${reused} of it can be taken over.`;
    }
    case "run.paused":
      return `Somebody ${event.takeover ? "took it over" : "paused it"} {when}${because(event.reason)}: nothing new was started.`;
    case "run.unpaused":
      return `The pause was lifted {when}${because(event.reason)}.`;
    case "run.reopened":
      return `Somebody opened it again {when}, after it was over${because(event.reason)}.`;
    case "run.cancel_requested":
      return `Somebody canceled it {when}${because(event.reason)}.`;
    case "run.resumed":
      return `A new process went on with it {when}${lostText(event.lost.length)}.`;
    case "workspace.moved":
      return `Its workspace was built anew from the checkpoints {when}, in ${event.path} on ${event.host}.`;
    case "workspace.left":
      return `${event.host} could not go on with it {when}${because(event.message)}, and left it alone.`;
    case "run.held":
      return "It was held {when}: only holds were left.";
    default:
      return null;
  }
}

function because(reason: string): string {
  return reason === "" ? "" : ` ("${oneLine(reason, MAX_QUOTE_CHARS)}")`;
}

function lostText(lost: number): string {
  return lost === 0 ? "" : `; ${lost} ${lost === 1 ? "attempt was" : "attempts were"} lost with the old one`;
}
