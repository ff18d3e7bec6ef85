import { shortSignature } from "../../core/failure/short-signature.js";
import type { Notice } from "../../core/notices/notice.js";
import { nameOf } from "../lookup/job-name.js";
import { shellWord } from "../words/shell-word.js";

export interface ToldCommand {
  /** The command as it is typed. */
  readonly command: string;
  readonly does: string;
}

const MAX_CHOICES = 8;

/** How to decide, or to find out more. */
export function commandsFor({ kind, run_id, step, signature, facts }: Notice): ToldCommand[] {
  const run = String(run_id);
  const job = step === null ? null : nameOf(step, facts.scope ?? "root");
  const again = [told("try again what failed", "reset", run)];
  // What was undone cannot go on; a fork does it again.
  const anew =
    step === null ? [] : [told("run it again from there, as a new run", "fork", run, "--from", step)];
  switch (kind) {
    case "held":
      return [
        told("run it again, once the cause is fixed", "resolve", run, job ?? "", "--retry"),
        told("continue without it", "resolve", run, job ?? "", "--skip"),
        told("let it fail", "resolve", run, job ?? "", "--fail"),
        ...toMute(signature),
      ];
    case "dead_letter":
      return [
        told("put it back into the queue", "redrive", run, job ?? ""),
        told("see why", "explain", run, job ?? ""),
        ...toMute(signature),
      ];
    case "failed":
      return [
        told("see why", "explain", run, ...(job === null ? [] : [job])),
        ...(job === null ? [] : [told("read its log", "logs", run, job)]),
        ...(facts.undone === true ? anew : again),
        ...toMute(signature),
      ];
    case "handled":
      return [
        facts.below === undefined
          ? told("see why", "explain", run, job ?? "")
          : told("see why", "explain", String(facts.below.run_id)),
        told("see what ran and what was skipped", "show", run),
        ...toMute(signature),
      ];
    case "completed":
      return [told("see how it went", "show", run)];
    case "question":
      return (facts.choices ?? [])
        .slice(0, MAX_CHOICES)
        .map((choice) => told(`answer ${choice}`, "answer", run, job ?? "", "--choose", choice));
    case "deadline":
      return [told("see what took how long", "timeline", run)];
    case "breaker":
      return [told("see what waits for it", "breakers")];
    case "quarantined":
      return [
        told("see why, and until when", "workers"),
        told("let it work again", "workers", "release", facts.name ?? "", "--reason", "REASON"),
      ];
    case "recovered":
      return [];
  }
}

function toMute(signature: string | null): ToldCommand[] {
  if (signature === null) return [];
  const muted = ["failures", "mute", shortSignature(signature), "--until", "7d"];
  return [told("mute this failure for a week", ...muted)];
}

function told(does: string, ...words: readonly string[]): ToldCommand {
  return { command: ["daruma", ...words.filter((word) => word !== "").map(shellWord)].join(" "), does };
}
