import { decide } from "../core/decide/decide.js";
import type { Refusal } from "../core/decide/operator.js";
import { type CommandOutcome, type TakenCommand, takeCommand } from "../core/decide/take-command.js";
import { DarumaError } from "../core/errors/errors.js";
import type { HoldDecision, OperatorCommand } from "../core/model/commands.js";
import type { Event, JobRaise, LoggedEvent } from "../core/model/events.js";
import type { Run } from "../core/model/run.js";
import { loadRun } from "../run/engine/load-run.js";
import type { Store } from "../store/store.js";
import { readLog } from "../tell/lookup/replayed-log.js";
import { requireRun } from "../tell/lookup/run-reference.js";

/** The result of a command, whichever process executed it. */
export async function outcomeOf(
  store: Store,
  { runId, command }: { readonly runId: number; readonly command: OperatorCommand },
  { refusal, outcome }: TakenCommand,
): Promise<CommandOutcome> {
  throwIfRefused(refusal);
  return outcome ?? recallOutcome(store, runId, command);
}

export function throwIfRefused(refusal: Refusal | null): void {
  if (refusal === null) return;
  const { code, message, hint } = refusal;
  throw new DarumaError(code, message, hint === undefined ? {} : { hint });
}

/** What a command did when its key was taken. */
async function recallOutcome(store: Store, runId: number, command: OperatorCommand): Promise<CommandOutcome> {
  return (await findOutcome(store, runId, command)) ?? nothingDone(store, runId, command);
}

/**
 * The command decided once more, over the log as it stood when its key was taken; null: it has left no trace. A key that
 * was taken for something else is refused.
 */
export async function findOutcome(
  store: Store,
  runId: number,
  command: OperatorCommand,
): Promise<CommandOutcome | null> {
  const recorded = await eventsWith(store, runId, command.key);
  const first = recorded[0];
  if (first === undefined) return null;
  const { run } = await loadRun(store, runId, { beforeSeq: first.seq });
  let again: readonly Event[] = [];
  const { outcome } = takeCommand(run, asTaken(command, recorded), () => {
    again = decide(run, asTaken(command, recorded), first.at);
  });
  const keyed = again.filter((event) => keyOf(event) === command.key);
  if (outcome === null || wishesOf(keyed) !== wishesOf(recorded.map(({ event }) => event)))
    throw new DarumaError(
      "KEY_REUSED",
      `run ${runId} already used the key ${command.key} for something else`,
    );
  return outcome;
}

/** The run as it was when the key was taken; null: it never was. */
export async function runBefore(store: Store, runId: number, key: string): Promise<Run | null> {
  const [first] = await eventsWith(store, runId, key);
  return first === undefined ? null : (await loadRun(store, runId, { beforeSeq: first.seq })).run;
}

async function eventsWith(store: Store, runId: number, key: string | null): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for await (const logged of readLog(store, runId))
    if (key !== null && keyOf(logged.event) === key) found.push(logged);
  return found;
}

/** It applied, and there was nothing to do: the run was paused, canceled or whole already. */
async function nothingDone(store: Store, runId: number, { type }: OperatorCommand): Promise<CommandOutcome> {
  const { status } = await requireRun(store, runId);
  return { done: type, before: status, status, changed: [], goes_back: null };
}

function keyOf(event: Event): string | null {
  return "key" in event ? event.key : null;
}

/** An output that somebody gave for a held job is in the log; it is not asked for again. */
function asTaken(command: OperatorCommand, recorded: readonly LoggedEvent[]): OperatorCommand {
  if (command.type !== "holds.resolve") return command;
  const given = new Map<number, Pick<HoldDecision, "output" | "items">>();
  for (const { event } of recorded)
    if (event.type === "hold.resolved") given.set(event.job, { output: event.output, items: event.items });
  return { ...command, items: command.items.map((item) => ({ ...item, ...given.get(item.job) })) };
}

/** What was asked for, without why. */
function wishesOf(events: readonly Event[]): string {
  return events
    .flatMap((event) => wishOf(event) ?? [])
    .sort()
    .join("; ");
}

function raisedWish(raised: readonly JobRaise[] = []): string {
  return raised.map(({ job, resource, to }) => ` ${job} ${resource} ${to}`).join("");
}

function wishOf(event: Event): string | null {
  switch (event.type) {
    case "run.cancel_requested":
      return event.now === true ? `${event.type} now` : event.type;
    case "run.unpaused":
      return event.type;
    case "run.paused":
      return `${event.type} ${event.takeover}`;
    case "jobs.retried":
      return `${event.action} ${event.jobs.join(" ")} ${event.max_attempts ?? ""}${raisedWish(event.raised)}`;
    case "operator.goto":
      return `${event.type} ${event.target}`;
    case "job.let_through":
      return `retry_step ${event.job} `;
    case "reset.reserved":
      return `${event.type} ${event.job}`;
    case "hold.resolved":
      return `${event.type} ${event.job} ${event.action}`;
    case "human.answered":
      return `${event.type} ${event.job} ${event.choice} ${event.text}`;
    default:
      return null;
  }
}
