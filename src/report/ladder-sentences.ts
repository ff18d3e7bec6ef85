import type { EdgeConsidered, Event, HandlerOutcome, RungConsidered } from "../core/model/events.js";
import { jobById, type Run } from "../core/model/run.js";
import { iso } from "../core/text/iso-time.js";
import { oneLine } from "../core/text/plain-text.js";
import { durationText } from "./duration-text.js";
import { healSentences } from "./heal-sentences.js";
import { loopText } from "./loop-text.js";
import { detail, type Sentence } from "./sentence.js";

const MAX_QUOTE_CHARS = 160;

/** What rules, transitions, holds and people did to a job; empty for every other event. `state` is the run just after. */
export function ladderSentences(state: Run, event: Event): Sentence[] {
  switch (event.type) {
    case "rule.reserved":
      return ruleSentences(state, event);
    case "recovery.started":
      return [
        event.try === 1
          ? "Its recovery script began."
          : `The engine was lost: its recovery script began again (${event.try}).`,
      ];
    case "recovery.interrupted":
      return ["Daruma was stopped and ended the recovery script; it runs again, at no cost."];
    case "recovery.finished":
      return [recoverySentence(event)];
    case "edge.taken":
      return edgeSentences(state, event);
    case "job.held":
      return ["It was held until somebody decides; what depends on it waits."];
    case "hold.resolved":
      return [resolvedSentence(event)];
    case "human.asked":
      return [askedSentence(event)];
    case "human.answered":
      return [`The answer was ${event.choice}${event.text === "" ? "" : `: "${quote(event.text)}"`}.`];
    case "reset.reserved":
    case "rebuild.started":
    case "rebuild.finished":
    case "set_aside.started":
    case "set_aside.finished":
    case "workspace.promoted":
    case "workspace.discarded":
    case "requeue.scheduled":
    case "job.dead_lettered":
      return healSentences(state, event);
    default:
      return [];
  }
}

const OUTCOME_MEANS: Readonly<Partial<Record<HandlerOutcome, string>>> = {
  NoMatchingRule: "its failure handler has no rule for it (NoMatchingRule)",
  MaxRetriesExceeded: "the rule that matches has no attempt left (MaxRetriesExceeded)",
  Error: "a rule matches, but the step said that trying again is useless (Error)",
};

/** Every rung with its reason, what the failure handler said, and every transition that was looked at. */
export function climbSentences(event: Extract<Event, { type: "ladder.climbed" }>): Sentence[] {
  const outcome = event.recovery === null ? undefined : OUTCOME_MEANS[event.recovery];
  const edges = event.failureRoute?.considered ?? [];
  return [
    ...event.considered.map(rungSentence),
    ...(outcome === undefined ? [] : [detail(`In short: ${outcome}.`)]),
    ...edges.map((edge) => detail(consideredSentence(edge))),
  ];
}

/** That nothing else applies is said by the failure of the step, which follows. */
function rungSentence({ rung, applied, reason }: RungConsidered): Sentence {
  const text = `- ${rung}: ${applied ? "yes" : "no"}, ${reason}.`;
  return applied && rung !== "fail" ? text : detail(text);
}

function consideredSentence({ edge, to, matched, why }: EdgeConsidered): string {
  return `- transition ${edge} to ${to}: ${matched ? "yes" : "no"}, ${quote(why)}.`;
}

function ruleSentences(state: Run, event: Extract<Event, { type: "rule.reserved" }>): Sentence[] {
  const { handler, rule, exitCode, maxAttempts, script } = event;
  const code = exitCode === null ? "a failure without exit code" : `exit code ${exitCode}`;
  const repair = script === null ? "" : ", after its recovery script";
  const next = jobById(state, event.job).charged + 1;
  return [
    `Rule ${rule} of ${handler} answers ${code}: again${repair}.`,
    detail(`Cost: attempt ${next} of ${maxAttempts}; no retry, no loop.`),
  ];
}

function recoverySentence(event: Extract<Event, { type: "recovery.finished" }>): string {
  const took = durationText(event.durationMs);
  if (event.ok) return `The recovery script completed after ${took}.`;
  return `The recovery script failed after ${took}: ${quote(event.message)}; the retry happens all the same.`;
}

function edgeSentences(state: Run, event: Extract<Event, { type: "edge.taken" }>): Sentence[] {
  const job = jobById(state, event.job);
  const way = event.on === "failure" ? `takes the failure to ${event.to}` : `leads on to ${event.to}`;
  const when = event.status === "selected" ? "" : ", which is under way already";
  const cost = event.counted ? `${loopText(job.scope.loops, state)} of ${job.scope.id}` : "nothing";
  return [`Transition ${event.edge} ${way}${when}.`, detail(`Cost: ${cost}.`)];
}

function resolvedSentence({ action, reason }: Extract<Event, { type: "hold.resolved" }>): string {
  const follows = {
    retry: "it runs again, with fresh budgets",
    fail: "it fails",
    skip: "it is skipped, and what depends on it runs",
    complete: "it counts as completed with the given output",
  }[action];
  return `Somebody resolved the hold by ${action} ("${quote(reason)}"): ${follows}.`;
}

function askedSentence({ prompt, choices, dueAt }: Extract<Event, { type: "human.asked" }>): string {
  const due = dueAt === null ? "" : `, until ${iso(dueAt)}`;
  return `It asked "${quote(prompt)}" (${choices.join(", ")})${due}.`;
}

function quote(text: string): string {
  return oneLine(text, MAX_QUOTE_CHARS);
}
