import type { UncleanChild } from "../../core/model/events.js";
import type { Notice } from "../../core/notices/notice.js";
import { counted, durationAmount } from "../../core/text/amount-text.js";
import { oneLine } from "../../core/text/plain-text.js";
import { decisionText } from "../words/decided-text.js";

const MAX_REASON_CHARS = 80;

/** One line that says what it is about, for a subject or a title. */
export function subjectOf(notice: Notice): string {
  const { told } = notice;
  const plain = plainSubject(notice);
  if (told?.as === "reminder") return `Still waiting: ${plain}`;
  return told?.as === "again" ? `${plain} (${told.count} times)` : plain;
}

function plainSubject({ kind, workflow, step, run_id, facts }: Notice): string {
  const run = `run ${run_id}`;
  const why =
    facts.code === undefined
      ? ""
      : ` (${oneLine(facts.broke ?? facts.message ?? facts.code, MAX_REASON_CHARS)})`;
  switch (kind) {
    case "held":
      return `${workflow}: ${step} is held in ${run}${why}`;
    case "dead_letter":
      return `${workflow}: ${step} is a dead letter in ${run}${why}`;
    case "failed":
      return step === null
        ? `${workflow}: ${run} failed${why}`
        : `${workflow}: ${run} failed at ${step}${why}`;
    case "handled":
      return facts.below === undefined
        ? `${workflow}: ${run} completed, but ${step} failed and was ${handledHow(facts)}${why}`
        : `${workflow}: ${run} completed, but ${belowHow(facts.below)}`;
    case "completed":
      return `${workflow}: ${run} completed`;
    case "question":
      return `${workflow}: ${step} asks in ${run}: ${oneLine(facts.prompt ?? "", MAX_REASON_CHARS)}`;
    case "deadline":
      return facts.code === undefined
        ? `${workflow}: ${run} has been running for ${durationAmount(facts.limit_ms ?? 0)}`
        : `${workflow}: ${run} was canceled after its deadline of ${durationAmount(facts.limit_ms ?? 0)}`;
    case "breaker":
      return `Breaker ${facts.name} is open`;
    case "quarantined":
      return `Worker ${facts.name} is in quarantine`;
    case "recovered":
      return recoveredSubject({ workflow, step, facts });
  }
}

function belowHow({ run_id, handled, decided }: UncleanChild): string {
  return handled > 0
    ? `${counted(handled, "failure")} in its child run ${run_id} ${handled === 1 ? "was" : "were"} handled`
    : `${counted(decided, "step")} of its child run ${run_id} ${decided === 1 ? "was" : "were"} ended by a decision`;
}

function handledHow({ decided }: Notice["facts"]): string {
  return decided === undefined ? "handled" : decisionText(decided);
}

function recoveredSubject({ workflow, step, facts }: Pick<Notice, "workflow" | "step" | "facts">): string {
  if (step !== null) return `${workflow}: ${facts.family ?? step} works again`;
  return facts.was === "quarantined"
    ? `Worker ${facts.name} works again`
    : `Breaker ${facts.name} is closed again`;
}

/** The first sentence of the message. */
export function openingOf(notice: Notice): string {
  const { kind, workflow, step, run_id, facts, told } = notice;
  const run = `run ${run_id} of ${workflow}`;
  const again = told?.as === "reminder" ? " It was told before, and nobody has decided yet." : "";
  switch (kind) {
    case "held":
      return `Step ${step} in ${run} failed and waits for a decision.${again}`;
    case "dead_letter":
      return `Step ${step} in ${run} failed each time that the queue tried it. It is a dead letter now.${again}`;
    case "failed":
      return step === null ? `${cap(run)} failed.` : `${cap(run)} failed because step ${step} failed.`;
    case "handled":
      if (facts.below !== undefined)
        return `${cap(run)} completed, but ${belowHow(facts.below)} (step ${step}).`;
      return facts.decided === undefined || facts.decided.expired
        ? `${cap(run)} completed, but step ${step} failed. Its workflow file says what to do then, and that was done.`
        : `${cap(run)} completed, but step ${step} failed and was ${handledHow(facts)}.`;
    case "completed":
      return `${cap(run)} completed.`;
    case "question":
      return `Step ${step} in ${run} asks:\n\n  ${(facts.prompt ?? "").split("\n").join("\n  ")}${again === "" ? "" : `\n\n${again.trim()}`}`;
    case "deadline":
      return facts.code === undefined
        ? `${cap(run)} has been running for ${durationAmount(facts.limit_ms ?? 0)}, longer than its \`warn_after\`. It goes on.`
        : `${cap(run)} took longer than its deadline of ${durationAmount(facts.limit_ms ?? 0)} and was canceled.`;
    case "breaker":
      return facts.by === undefined
        ? `Breaker ${facts.name} is open (${facts.reason}). Steps that use it wait until it works again.`
        : `${facts.by} has opened the breaker ${facts.name} (${facts.reason}). Steps that use it wait until somebody closes it.`;
    case "quarantined":
      return `${cap(facts.reason ?? "")}. It gets no new attempts until then.`;
    case "recovered":
      return recoveredText(notice);
  }
}

function recoveredText({ workflow, step, facts, told }: Notice): string {
  const times =
    told === null ? "" : told.count === 1 ? " It had failed once." : ` It had failed ${told.count} times.`;
  if (step !== null)
    return `Step ${facts.family ?? step} of ${workflow} has completed again, and nothing of this failure waits any more.${times}`;
  return facts.was === "quarantined"
    ? `Worker ${facts.name} gets attempts again.`
    : `Breaker ${facts.name} is closed: the steps that waited for it go on.`;
}

function cap(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
