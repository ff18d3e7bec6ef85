import type { Event } from "../../src/core/model/events.js";
import type { Trial } from "./harness.js";

type Names = (id: number) => string;

/** A run's log as one short line for each event that shows what was decided, in order. */
export function trace(run: Pick<Trial, "log" | "jobs">): string[] {
  const byId = new Map(
    run.jobs.map((job) => [job.id, job.scope === "root" ? job.step : job.step + itemOf(job.scope)]),
  );
  const name: Names = (id) => byId.get(id) ?? String(id);
  return run.log.flatMap(({ event, at }) => lineFor(event, name, at) ?? []);
}

/** `[0]` for the first item of a list, `[0][1]` for the second within it. */
function itemOf(scope: string): string {
  return [...scope.matchAll(/\[\d+\]/g)].join("");
}

function lineFor(event: Event, name: Names, at: number): string | null {
  return (
    attemptLine(event, name) ??
    waitLine(event, name, at) ??
    routeLine(event, name) ??
    ladderLine(event, name) ??
    healLine(event, name) ??
    operatorLine(event, name) ??
    endLine(event, name)
  );
}

function attemptLine(event: Event, name: Names): string | null {
  switch (event.type) {
    case "attempt.started":
      return `start ${name(event.job)}`;
    case "attempt.succeeded":
      return `ok ${name(event.job)}`;
    case "attempt.failed":
      return `fail ${name(event.job)} ${event.error.code}`;
    case "if.failed":
      return `if failed ${name(event.job)}`;
    case "attempt.stopped":
      return `stopped ${name(event.job)} ${event.because}`;
    case "attempt.suspended":
      return `suspended ${name(event.job)} for ${event.awaits.map(name).join(" ")}`;
    case "calls.awaited":
      return `awaits its call: ${event.jobs.map(name).join(" ")}`;
    case "job.given":
      return `given ${name(event.job)}`;
    default:
      return null;
  }
}

function waitLine(event: Event, name: Names, at: number): string | null {
  if (event.type !== "wait.begun") return null;
  return `wait ${name(event.job)}${event.due_at === null ? "" : ` +${event.due_at - at}`}`;
}

function routeLine(event: Event, name: Names): string | null {
  switch (event.type) {
    case "ladder.climbed":
      return `climb ${name(event.job)} ${event.rung}`;
    case "retry.scheduled":
      return `retry ${name(event.job)} ${event.retry}/${event.max} +${event.delay_ms}`;
    case "restart.granted":
      return `restart ${name(event.job)} ${event.recovery}/${event.limit}`;
    case "remediation.started":
      return `remediate ${name(event.job)} by ${event.steps.join(" ")}`;
    case "remediation.finished":
      return event.ok
        ? `remediated ${name(event.job)}`
        : `not remediated ${name(event.job)}: ${event.failed_step}`;
    case "follow_up.started":
      return `follow up ${name(event.job)} by ${event.steps.join(" ")}`;
    case "follow_up.finished":
      return event.ok
        ? `followed up ${name(event.job)}`
        : `not followed up ${name(event.job)}: ${event.failed_step}`;
    case "goto.taken":
      return `goto ${name(event.job)} -> ${event.to} after ${event.trigger}${event.max == null ? "" : ` ${event.goto}/${event.max}`}, loop ${event.loop}`;
    case "barrier.closed":
      return `again ${event.invalidated.map(name).join(" ")}`;
    case "loop.exceeded":
      return `loop budget of ${event.scope}: ${event.transition} of ${name(event.job)} after ${event.count} of ${event.max}`;
    case "evaluation.finished":
      return `evaluated ${name(event.job)} ${event.purpose}: ${event.result.ok ? JSON.stringify(event.result.value) : event.result.code}`;
    default:
      return null;
  }
}

function ladderLine(event: Event, name: Names): string | null {
  switch (event.type) {
    case "rule.reserved":
      return `reserve ${name(event.job)} attempt ${event.next} by ${event.handler} rule ${event.rule}`;
    case "recovery.started":
      return `script ${name(event.job)} try ${event.try}`;
    case "recovery.interrupted":
      return `script interrupted ${name(event.job)}`;
    case "recovery.finished":
      return `script over ${name(event.job)} ${event.ok ? "ok" : `failed ${event.exit_code}`}`;
    case "edge.taken": {
      const how =
        event.status === "already_scheduled" ? ", already scheduled" : event.counted ? ", again" : "";
      return `edge ${event.edge} ${name(event.job)} -> ${event.to} on ${event.on}${how}`;
    }
    case "job.stood_in":
      return `stood in ${name(event.job)} by ${name(event.by)}`;
    case "routes.settled":
      return `settled handled [${event.handled.map(name).join(" ")}] unhandled [${event.unhandled.map(name).join(" ")}]`;
    case "job.held":
      return `held ${name(event.job)} ${event.code}`;
    default:
      return null;
  }
}

function healLine(event: Event, name: Names): string | null {
  switch (event.type) {
    case "reset.reserved":
      return `reset ${name(event.job)} for ${event.trigger}${event.reset === null ? "" : ` ${event.reset}/${event.max}`}`;
    case "rebuild.started":
      return `rebuild ${event.rebuild} for ${name(event.job)} from [${event.replay.join(" ")}]${event.try > 1 ? ` try ${event.try}` : ""}`;
    case "rebuild.finished":
      return `rebuilt ${event.rebuild} ${event.ok ? "ok" : "failed"}`;
    case "set_aside.started":
      return `set aside ${name(event.job)} ${event.attempt} for ${name(event.for)}${event.try > 1 ? ` try ${event.try}` : ""}`;
    case "set_aside.finished":
      return `aside ${name(event.job)} ${event.attempt} ${event.ok ? "ok" : "failed"}`;
    case "workspace.promoted":
      return `promoted ${event.rebuild}`;
    case "workspace.discarded":
      return `discarded ${event.rebuild}`;
    case "requeue.scheduled":
      return `requeue ${name(event.job)} ${event.requeue}/${event.max} +${event.delay_ms}`;
    case "job.dead_lettered":
      return `dead letter ${name(event.job)} after ${event.queue_attempts}`;
    default:
      return null;
  }
}

function operatorLine(event: Event, name: Names): string | null {
  switch (event.type) {
    case "hold.resolved":
      return `resolved ${name(event.job)} ${event.action}`;
    case "jobs.retried":
      return `retried ${event.jobs.map(name).join(" ")}${event.reblocked.length > 0 ? `, blocked again ${event.reblocked.map(name).join(" ")}` : ""}`;
    case "operator.goto":
      return `operator goto ${event.to}`;
    case "human.asked":
      return `asked ${name(event.job)}`;
    case "human.answered":
      return `answered ${name(event.job)} ${event.choice}`;
    case "job.reused":
      return `reused ${name(event.job)}`;
    case "run.paused":
    case "run.unpaused":
    case "run.held":
    case "run.reopened":
      return event.type.replace(".", " ");
    default:
      return null;
  }
}

function endLine(event: Event, name: Names): string | null {
  switch (event.type) {
    case "job.failed":
      return `failed ${name(event.job)} ${event.code}`;
    case "jobs.canceled":
      return `canceled ${event.jobs.map(name).join(" ")} ${event.code}`;
    case "jobs.skipped":
      return `skipped ${event.jobs.map(name).join(" ")}`;
    case "scope.abandoned":
      return `abandoned ${event.scope} ${event.because}`;
    case "join.decided":
      return `join ${name(event.job)} ${event.satisfied ? "met" : "unmet"}: ${event.completed} completed, ${event.failed} failed, ${event.skipped} skipped`;
    case "run.completed":
      return "run completed";
    case "run.failed":
      return `run failed ${event.code}`;
    case "run.canceled":
      return "run canceled";
    default:
      return null;
  }
}
