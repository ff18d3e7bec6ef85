import { decide } from "../../src/core/decide/decide.js";
import { replay } from "../../src/core/decide/decision.js";
import { evolve } from "../../src/core/evolve/evolve.js";
import type { Command } from "../../src/core/model/commands.js";
import type { Definition } from "../../src/core/model/definition.js";
import type { EvaluationResult, Event, LoggedEvent, RunOptions } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/make-run.js";
import type { Outcome } from "../../src/core/model/outcome.js";
import { isInRecovery, isOver, type Job, type Run } from "../../src/core/model/run.js";
import { mayStart } from "../../src/core/model/workspace-turn.js";
import { type Chooser, meddle, wayOutOfRest } from "./meddling.js";

export const PLAIN_OPTIONS: RunOptions = {
  max_loops: null,
  retry_max: null,
  failure_routing: true,
  only: null,
};

export interface Driven {
  readonly run: Run;
  readonly log: readonly LoggedEvent[];
  readonly commands: readonly { readonly command: Command; readonly now: number }[];
  /** Why the run did not reach its end, or null. */
  readonly stuck: string | null;
}

export interface Chances {
  readonly capacity: number;
  /** One in so many turns; 0: never. */
  readonly crash: number;
  readonly cancel: number;
  /** Operators pause, retry, reset, go back and decide holds. */
  readonly meddle: number;
}

const MAX_TURNS = 20_000;
/** So that a run comes to its end although people keep sending it back. */
const MAX_MEDDLINGS = 12;
const START_AT = 1_700_000_000_000;

/** Run a workflow on the bare core: every command that could come next may be the next, with any outcome. */
export function drive(
  definition: Definition,
  options: RunOptions,
  chooser: Chooser,
  chances: Chances,
): Driven {
  const created: Event = {
    type: "run.created",
    workflow: definition.name,
    workflow_id: 1,
    definition_hash: "hash",
    inputs: {},
    context: {},
    options,
    folder: "/",
    file: null,
    parent: null,
    managed: false,
    failure_handlers: definition.failureHandlers.map(({ name }, place) => ({ name, id: place + 1 })),
  };
  let now = START_AT;
  let run = newRun(1, definition, created, now);
  evolve(run, created, now);
  const log: LoggedEvent[] = [{ seq: 1, at: now, event: created }];
  const commands: { command: Command; now: number }[] = [];
  let meddlings = 0;
  const take = (command: Command): void => {
    commands.push({ command, now });
    for (const event of decide(run, command, now)) log.push({ seq: log.length + 1, at: now, event });
  };
  const end = (stuck: string | null): Driven => ({ run, log, commands, stuck });
  take({ type: "run.start" });
  for (let turn = 0; ; turn += 1) {
    if (turn > MAX_TURNS) return end(`not over after ${MAX_TURNS} turns`);
    now += chooser.below(5);
    if (
      meddlings < MAX_MEDDLINGS &&
      chooser.oneIn(isOver(run) ? Math.min(2, chances.meddle) : chances.meddle)
    ) {
      meddlings += 1;
      take(meddle(run, chooser, `key-${meddlings}`));
      continue;
    }
    if (isOver(run)) return end(null);
    if (chooser.oneIn(chances.crash)) {
      run = refold(definition, log);
      // Some attempts may have survived on workers that are still there.
      const kept = run.jobs.filter((job) => isUnderWay(job) && chooser.oneIn(2)).map(({ id }) => id);
      take({ type: "run.resume", kept });
      continue;
    }
    if (chooser.oneIn(chances.cancel)) take({ type: "run.cancel", reason: "test", key: null });
    if (isOver(run)) continue;
    const early = chooser.below(2) === 0 ? workspaceCommand(run, chooser) : null;
    if (early !== null) {
      take(early);
      continue;
    }
    const next = possibleCommands(run, chances.capacity);
    if (next.length > 0) {
      const job = next[chooser.below(next.length)]!;
      if (job.status === "waiting" && job.dueAt !== null) now = Math.max(now, job.dueAt);
      take(commandFor(run, job, chooser));
      continue;
    }
    const built = workspaceCommand(run, chooser);
    if (built !== null) {
      take(built);
      continue;
    }
    const wayOut = wayOutOfRest(run, chooser);
    if (wayOut === null) return end(`nothing can happen: ${unfinished(run)}`);
    if (wayOut.type === "timer.fire") now = Math.max(now, wayOut.dueAt);
    take(wayOut);
  }
}

function isUnderWay(job: Job): boolean {
  return job.status === "running" || isInRecovery(job);
}

/** A run as its log tells it. */
export function refold(definition: Definition, log: readonly LoggedEvent[]): Run {
  const first = log[0]!;
  if (first.event.type !== "run.created") throw new Error("the log does not begin with run.created");
  const run = newRun(1, definition, first.event, first.at);
  replay(run, log);
  return run;
}

function unfinished(run: Run): string {
  const jobs = run.jobs.filter((job) => job.status !== "completed").map(describe);
  return `the run is ${run.status}, ${jobs.join(", ")}`;
}

function describe(job: Job): string {
  const list = job.list === null ? "" : ` waiting for ${job.list.steps[job.list.next]}`;
  return `${job.step.definition.id} in ${job.scope.id} ${job.status}${list}${job.barrier === null ? "" : " behind a barrier"}`;
}

function possibleCommands(run: Run, capacity: number): Job[] {
  const startable = run.running.size < capacity ? [...run.ready].filter((job) => mayStart(run, job)) : [];
  const asking = run.jobs.filter(
    (job) => job.evaluation !== null || isInRecovery(job) || job.status === "waiting",
  );
  return [...startable, ...run.running, ...asking];
}

/** What is done to the workspace comes about, or does not. */
function workspaceCommand(run: Run, chooser: Chooser): Command | null {
  const { rebuild, aside } = run.workspace;
  if (aside !== null) {
    const { job, attempt } = aside.leftover;
    const ok = chooser.below(6) > 0;
    const patch = ok ? "p" : null;
    return {
      type: "set_aside.finish",
      job: job.id,
      attempt,
      ok,
      patch,
      files: 1,
      message: "test",
      duration_ms: 1,
    };
  }
  if (rebuild === null || rebuild.built) return null;
  const ok = chooser.below(4) > 0;
  const path = ok ? `/${rebuild.id}` : null;
  return { type: "rebuild.finish", rebuild: rebuild.id, ok, path, message: "test", duration_ms: 1 };
}

function commandFor(run: Run, job: Job, chooser: Chooser): Command {
  const { id } = job;
  if (job.evaluation !== null)
    return { type: "evaluation.finish", job: id, id: job.evaluation.id, result: answer(run, job, chooser) };
  if (isInRecovery(job)) {
    const ok = chooser.below(3) > 0;
    return {
      type: "recovery.finish",
      job: id,
      attempt: job.attempt,
      outcome: ok
        ? { kind: "succeeded", output: { kind: "value", value: null }, duration_ms: 1 }
        : { kind: "failed", facts: { exitCode: 5, message: "" }, duration_ms: 1 },
    };
  }
  if (job.status === "ready") return begin(job);
  if (job.question !== null) return reply(job, chooser);
  if (job.status === "waiting") return { type: "timer.fire", job: id, dueAt: job.dueAt! };
  return {
    type: "attempt.finish",
    job: id,
    attempt: job.attempt,
    outcome: { ...outcome(job, chooser), duration_ms: 1 },
  };
}

function begin(job: Job): Command {
  const token = `t${job.id}-${job.attempt + 1}`;
  if (job.step.definition.action.type !== "human")
    return { type: "attempt.start", job: job.id, worker: "w", token };
  const { timeoutMs } = job.step.definition;
  return {
    type: "human.ask",
    job: job.id,
    token,
    prompt: "Go on?",
    choices: ["approve", "reject"],
    timeoutMs,
  };
}

/** Nobody looks at the clock here: whether the question times out is a matter of luck. */
function reply(job: Job, chooser: Chooser): Command {
  if (job.dueAt !== null && chooser.below(3) === 0)
    return { type: "timer.fire", job: job.id, dueAt: job.dueAt };
  const choice = chooser.below(3) === 0 ? "reject" : "approve";
  return { type: "human.answer", job: job.id, choice, text: "", key: null };
}

function outcome(job: Job, chooser: Chooser): Outcome {
  if (job.stopping !== null && chooser.below(3) > 0) return { kind: "stopped" };
  switch (chooser.below(8)) {
    case 0:
    case 1:
      return { kind: "failed", facts: { message: "exit code 1", exitCode: 1 } };
    case 2:
      return { kind: "failed", facts: { message: "exit code 10", exitCode: 10 } };
    case 3:
      return rareFailure(chooser);
    default: {
      const value =
        job.step.definition.forEach && chooser.below(10) > 0
          ? ["a", "b", "c"].slice(0, chooser.below(4))
          : null;
      return {
        kind: "succeeded",
        output: { kind: "value", value },
        items: value === null ? null : value.map((key) => ({ key })),
        checkpoint: { commit: "c", diff_hash: "d", changed_files: [], patch: "p" },
      };
    }
  }
}

function rareFailure(chooser: Chooser): Outcome {
  switch (chooser.below(4)) {
    case 0:
      return { kind: "failed", facts: { message: "bad", code: "TEMPLATE_ERROR" } };
    case 1:
      return { kind: "failed", facts: { message: "no", exitCode: 10, declared: { retryable: false } } };
    default:
      return { kind: "failed", facts: { message: "gone", lost: true } };
  }
}

function answer(run: Run, job: Job, chooser: Chooser): EvaluationResult {
  if (chooser.below(6) === 0) return { ok: false, code: "EXPRESSION_THREW", reason: "test", duration_ms: 0 };
  const steps = run.definition.steps.map((step) => step.id);
  const anyStep = (): string => steps[chooser.below(steps.length)]!;
  switch (job.evaluation!.purpose) {
    case "if":
    case "transition":
      return { ok: true, value: chooser.below(3) > 0, duration_ms: 0 };
    case "on_fail.run_js":
    case "on_success.run_js":
      return { ok: true, value: Array.from({ length: chooser.below(3) }, anyStep), duration_ms: 0 };
    default:
      return {
        ok: true,
        value: chooser.below(3) === 0 ? null : chooser.below(8) === 0 ? "nowhere" : anyStep(),
        duration_ms: 0,
      };
  }
}
