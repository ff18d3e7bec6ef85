import type { NoticeKind, NotifyRule } from "../model/definition.js";
import { isUndone } from "../model/ending/run-ending.js";
import type { Event } from "../model/events.js";
import { brokeOf, excerptOf } from "../model/excerpt.js";
import type { Failure } from "../model/failure.js";
import { type Job, jobById, type Run } from "../model/run.js";
import { isOneOfSeveral, stepPlace, writtenStep } from "../model/written-step.js";
import { firstChars } from "../text/head-tail.js";
import { plainText } from "../text/plain-text.js";
import { sha256Hex } from "../text/sha256.js";
import { expiryOf } from "./expiry.js";
import type { Notice, NoticeCause, NoticeFacts } from "./notice.js";

const ID_CHARS = 32;
const MAX_MESSAGE_CHARS = 1_000;
const MAX_READ_CHARS = 8_000;
const MAX_LINES = 12;
const MAX_LINE_CHARS = 300;
const MAX_OTHERS = 10;
const MAX_RUNGS = 12;
const NONE: readonly Notice[] = [];

/** What an event of a run that was just decided is worth to those whom its workflow or the settings name. */
export function noticesOf(
  run: Run,
  event: Event,
  { seq, at }: { readonly seq: number; readonly at: number },
  shared: readonly NotifyRule[],
): readonly Notice[] {
  const own = run.definition.notify;
  if (own === undefined && shared.length === 0) return NONE;
  // It happened elsewhere, and people were notified there.
  if (run.options.imported === true) return NONE;
  const cause = causeOf(run, event);
  if (cause === null) return NONE;
  const mark = `${run.workflow}\n${run.createdAt}\n${run.id}\n${seq}`;
  return noticesFor(cause, [...(own ?? []), ...shared], { at, mark });
}

/** One for each rule and channel; `mark` names the cause, so that the same one never gives others. */
export function noticesFor(
  cause: NoticeCause,
  rules: readonly NotifyRule[],
  { at, mark }: { readonly at: number; readonly mark: string },
): Notice[] {
  const notices: Notice[] = [];
  for (const { on, to, when } of rules) {
    if (!on.includes(cause.kind)) continue;
    for (const channel of to) {
      if (notices.some((other) => other.channel === channel && other.condition === when)) continue;
      notices.push({
        ...cause,
        facts: { ...cause.facts, recovery: recoveryFor(channel, rules) },
        id: `msg_${sha256Hex(`${mark}\n${notices.length}\n${channel}`).slice(0, ID_CHARS)}`,
        ...{ at, channel, condition: when, state: "new", told: null, tries: 0, error: null },
        ...{ next_at: 0, settled_at: null },
      });
    }
  }
  return notices;
}

function recoveryFor(channel: string, rules: readonly NotifyRule[]): NoticeFacts["recovery"] {
  const rule = rules.find(({ on, to }) => on.includes("recovered") && to.includes(channel));
  return rule === undefined ? null : { when: rule.when };
}

function causeOf(run: Run, event: Event): NoticeCause | null {
  switch (event.type) {
    case "job.held":
      return withExpiry(ofJob(run, "held", jobById(run, event.job)), event);
    case "job.dead_lettered":
      return ofJob(run, "dead_letter", jobById(run, event.job));
    case "run.failed":
      // A child's failure is its parent's.
      return run.parent === null ? ofFailedRun(run, event) : null;
    case "run.completed":
      return run.parent === null ? ofCompletedRun(run, event) : null;
    case "human.asked": {
      const { prompt, choices, due_at: dueAt } = event;
      const asked = { prompt: cut(prompt), choices, due_at: dueAt };
      const job = jobById(run, event.job);
      const cause = ofRun(run, "question", ["question", job.id, event.attempt], {
        ...asked,
        ...placeOf(job),
      });
      return withExpiry({ ...cause, step: job.step.definition.id }, event);
    }
    case "time.warned":
      return ofRun(run, "deadline", ["run", run.id, "long"], { limit_ms: event.after_ms });
    case "run.canceled": {
      const limit = run.definition.timeLimits?.deadlineMs ?? null;
      const limits = limit === null ? {} : { limit_ms: limit };
      const facts = { code: "DEADLINE", message: cut(event.reason), ...limits };
      return event.code === "DEADLINE" ? ofRun(run, "deadline", ["run", run.id, "over"], facts) : null;
    }
    default:
      return null;
  }
}

function withExpiry(cause: NoticeCause, event: Parameters<typeof expiryOf>[0]): NoticeCause {
  const expiry = expiryOf(event);
  return expiry === null ? cause : { ...cause, facts: { ...cause.facts, expiry } };
}

function ofFailedRun(run: Run, event: Extract<Event, { type: "run.failed" }>): NoticeCause {
  const facts = { code: event.code, message: cut(event.message) };
  return ofJobs(run, "failed", event.unhandled) ?? ofRun(run, "failed", ["run", run.id, "failed"], facts);
}

/**
 * A rule for completed runs does not apply to a run in which a failure was only handled, or a job finished by hand, be it
 * in a child run.
 */
function ofCompletedRun(run: Run, { handled }: Extract<Event, { type: "run.completed" }>): NoticeCause {
  const others = run.jobs.filter(({ decided, below }) => decided !== null || below !== null);
  const cause = ofJobs(run, "handled", [...handled, ...others.map(({ id }) => id)]);
  if (cause === null) return ofRun(run, "completed", ["run", run.id, "completed"], {});
  const [first] = handled.length === 0 ? others : [];
  return first === undefined ? cause : { ...cause, facts: { ...cause.facts, ...endOf(first) } };
}

function endOf({ decided, below }: Job): NoticeCause["facts"] {
  return { ...(decided === null ? {} : { decided }), ...(below === null ? {} : { below }) };
}

/** The notice for several failures: about the first, with the names of the others. Null if there are none. */
function ofJobs(run: Run, kind: NoticeKind, ids: readonly number[]): NoticeCause | null {
  const [job, ...others] = ids.slice(0, MAX_OTHERS + 1).map((id) => jobById(run, id));
  if (job === undefined) return null;
  const cause = ofJob(run, kind, job);
  return others.length === 0 ? cause : { ...cause, facts: { ...cause.facts, others: others.map(nameOf) } };
}

function ofRun(
  run: Run,
  kind: NoticeKind,
  thing: readonly (string | number)[],
  facts: NoticeCause["facts"],
): NoticeCause {
  const { id, workflow, file, labels, managed, held, asking } = run;
  return {
    kind,
    thing: JSON.stringify(thing),
    ...{ run_id: id, workflow, step: null, signature: null },
    facts: {
      ...{ file, labels, managed, held: held.size, questions: asking.size, ...facts },
      ...(isUndone(run) ? { undone: true } : {}),
    },
  };
}

function ofJob(run: Run, kind: NoticeKind, job: Job): NoticeCause {
  const failure = job.failure ?? job.error;
  const step = job.step.definition.id;
  const signature = failure?.signature ?? null;
  const cause = ofRun(
    run,
    kind,
    signature === null
      ? ["job", job.id]
      : stepThing(run.workflow, writtenStep(stepPlace(job)), signatureOfFirst(run, job) ?? signature),
    {
      ...placeOf(job),
      ...(failure === null ? {} : factsOf(failure)),
      tried: triedOf(job),
    },
  );
  return { ...cause, step, signature };
}

/**
 * Jobs of a run that its file writes as one step are one thing, whatever they failed of: that of the first which waits.
 * Null: the job is the only one of its step, or none of them waits.
 */
function signatureOfFirst({ held }: Run, job: Job): string | null {
  const place = stepPlace(job);
  if (!isOneOfSeveral(place)) return null;
  for (const other of held)
    if (writtenStep(stepPlace(other)) === writtenStep(place))
      return (other.failure ?? other.error)?.signature ?? null;
  return null;
}

/** What a failure is about, in whatever run it is met. */
export function stepThing(workflow: string, step: string, signature: string): readonly string[] {
  return ["step", workflow, step, signature];
}

function placeOf({ id, step, scope, attempt }: Job): NoticeCause["facts"] {
  const { family } = step.definition;
  return { job_id: id, scope: scope.id, ...(family === undefined ? {} : { family }), attempt };
}

function factsOf(failure: Failure): NoticeCause["facts"] {
  return {
    code: failure.code,
    class: failure.class,
    message: cut(failure.message),
    broke: cut(brokeOf(failure)),
    lines: excerptOf(failure, MAX_LINES).map(({ text }) => firstChars(text, MAX_LINE_CHARS)),
  };
}

/** What the file does not ask for was not tried. */
function triedOf({ climbed }: Job): NonNullable<NoticeFacts["tried"]> {
  return climbed
    .filter(({ kind, rung }) => kind !== "not_configured" && kind !== "does_not_concern" && rung !== "hold")
    .slice(0, MAX_RUNGS)
    .map(({ rung, reason }) => ({ rung, reason: firstChars(reason, MAX_LINE_CHARS) }));
}

function nameOf({ step, scope }: Job): string {
  return scope.id === "root" ? step.definition.id : `${step.definition.id}@${scope.id}`;
}

function cut(text: string): string {
  return firstChars(plainText(text.slice(0, MAX_READ_CHARS)), MAX_MESSAGE_CHARS);
}
