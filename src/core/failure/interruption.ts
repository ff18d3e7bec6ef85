import type { FailureFacts } from "../model/failure.js";
import { failedWith, type Outcome } from "../model/outcome.js";
import { passedResource } from "../model/resources.js";

/** That what an attempt ran on was being stopped. Times are by one monotonic clock. */
export interface EndBegun {
  readonly at: number;
  /** How much earlier the signal may have reached the attempt's processes than the process that reports it. */
  readonly slackMs: number;
}

/** A shell whose program was ended by a signal exits with that signal's number above this. */
const SIGNAL_EXIT_BASE = 128;
/**
 * Signals with which schedulers, service managers and people stop all processes of a worker at once, including its
 * steps.
 */
const STOPPING: ReadonlyMap<string, number> = new Map([
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGQUIT", 3],
  ["SIGKILL", 9],
  ["SIGUSR1", 10],
  ["SIGUSR2", 12],
  ["SIGTERM", 15],
  ["SIGXCPU", 24],
]);

/**
 * Whether an attempt whose exit was collected then was interrupted. What it exited with says nothing about that: a
 * program may catch the signal, and a shell go on without the program that it waited for.
 */
export function wasInterrupted(exitedAt: number, { at, slackMs }: EndBegun): boolean {
  return exitedAt >= at - slackMs;
}

/** It ended for a reason of its own, or because nobody wanted it any more: that comes first. */
export function endedBefore(outcome: Outcome): boolean {
  if (outcome.kind === "stopped") return true;
  if (outcome.kind !== "failed") return false;
  const { timeout, evicted, lost, code } = outcome.facts;
  return timeout !== undefined || evicted === true || lost === true || passedResource(code ?? "") !== null;
}

/** Converts the outcome to that of an interrupted attempt. */
export function interrupted(outcome: Outcome): Outcome {
  if (outcome.kind === "stopped" || outcome.kind === "suspended") return outcome;
  const facts: FailureFacts = outcome.kind === "failed" ? outcome.facts : { message: "", exitCode: 0 };
  const message = `${howItEnded(facts)} while its worker was being stopped`;
  return failedWith({ ...facts, evicted: true, message }, outcome);
}

function howItEnded(facts: FailureFacts): string {
  const signal = stoppingSignalOf(facts) ?? facts.signal;
  if (signal !== undefined) return `ended by ${signal}`;
  return facts.exitCode === undefined ? "it ended" : `exited with ${facts.exitCode}`;
}

/** The signal that ended it, where it is one by which workers are stopped. */
export function stoppingSignalOf({ signal, exitCode }: FailureFacts): string | null {
  if (signal !== undefined) return STOPPING.has(signal) ? signal : null;
  for (const [name, number] of STOPPING) if (exitCode === SIGNAL_EXIT_BASE + number) return name;
  return null;
}
