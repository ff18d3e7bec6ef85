import type { Event } from "../../core/model/events.js";
import { jobById, type Run } from "../../core/model/run.js";
import { jobName, jobNames } from "../../report/lookup/job-name.js";
import { shellWord } from "../../report/shell-word.js";
import type { CommandLine } from "../declare/command-words.js";
import type { NewNote } from "./note.js";
import { short } from "./plain-note.js";

/** What people decide about a run, and what it asks of them. Null: the event is none of these. */
export function operatorNote(run: Run, event: Event, commandLine: CommandLine): NewNote | null {
  const name = (id: number): string => jobName(jobById(run, id));
  switch (event.type) {
    case "run.paused":
      return operator(`run ${run.id} is ${event.takeover ? "taken over" : "paused"}: ${short(event.reason)}`);
    case "run.unpaused":
      return operator(`run ${run.id} goes on: ${short(event.reason)}`);
    case "run.reopened":
      return operator(`run ${run.id} is opened again: ${short(event.reason)}`);
    case "run.held":
      return { kind: "held", text: `run ${run.id} is held: ${jobNames(run, event.jobs)}` };
    case "run.forked":
      return { kind: "run", text: `run ${run.id} goes on from ${event.step} of run ${event.from}` };
    case "job.reused":
      return { kind: "completed", text: `${name(event.job)} is taken over as it was` };
    case "hold.resolved":
      return operator(`${name(event.job)} is resolved by ${event.action}: ${short(event.reason)}`);
    case "jobs.retried":
      return retried(run, event);
    case "operator.goto":
      return operator(`back to ${name(event.target)} by hand: ${short(event.reason)}`);
    case "human.asked":
      return asked(run, event, commandLine);
    case "human.answered":
      return operator(
        `${name(event.job)} is answered: ${event.choice}${event.text === "" ? "" : `, ${short(event.text)}`}`,
      );
    default:
      return null;
  }
}

function operator(text: string): NewNote {
  return { kind: "operator", text };
}

/** A resolved hold has been told already. */
function retried(run: Run, event: Extract<Event, { type: "jobs.retried" }>): NewNote | null {
  if (event.action === "resolve") return null;
  const what = {
    reset: "reset",
    retry_step: "retried",
    hard_reset_step: "reset hard",
    redrive: "redriven",
  }[event.action];
  const waiting =
    event.reblocked.length === 0 ? "" : `; waiting for it again: ${jobNames(run, event.reblocked)}`;
  return operator(`${what} by hand: ${jobNames(run, event.jobs)} (${short(event.reason)})${waiting}`);
}

function asked(run: Run, event: Extract<Event, { type: "human.asked" }>, commandLine: CommandLine): NewNote {
  const job = jobName(jobById(run, event.job));
  return {
    kind: "question",
    text: `${job} asks: ${short(event.prompt)} (${event.choices.join(", ")}) — ${answerCommand(run.id, job, event.choices, commandLine)}`,
  };
}

/** What to type to answer a question with its first choice. */
export function answerCommand(
  runId: number,
  job: string,
  choices: readonly string[],
  commandLine: CommandLine,
): string {
  return commandLine(`answer ${runId} ${shellWord(job)} --choose ${shellWord(choices[0] ?? "approve")}`);
}
