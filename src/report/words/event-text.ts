import type {
  AttemptElsewhere,
  EdgeConsidered,
  Event,
  EventType,
  FailureRoute,
  Output,
  RungConsidered,
} from "../../core/model/events.js";
import type { Failure } from "../../core/model/failure.js";
import { findJob, type Run } from "../../core/model/run.js";
import { iso } from "../../core/text/iso-time.js";
import { oneLine } from "../../core/text/plain-text.js";
import { jobName, listNames, shownOf } from "../lookup/job-name.js";
import { durationText } from "./duration-text.js";
import { shownKey, storedKey, withShownKeys } from "./shown-keys.js";

const MAX_VALUE_CHARS = 200;
/** Fields that hold the id of one job, or of several. */
const JOB_FIELDS = new Set([
  "job",
  "target",
  "by",
  "for",
  "of",
  "keptBack",
  "from",
  "partOf",
  "jobs",
  "canceled",
  "stopping",
  "handled",
  "unhandled",
  "members",
  "invalidated",
  "retired",
  "reblocked",
]);
/** These hold something else under such a name: the run that was forked, and why the run goes on. */
const OTHER_FIELDS = new Set(["run.forked from", "job.failed handled"]);
const HIDDEN_FIELDS = new Set(["seq", "at", "type", "token", "definitionHash", "definition_hash", "key"]);
/** The name of an event's job says these. */
const NAME_FIELDS = new Set(["step", "scope"]);

/** What an event holds, in one line with names in place of ids: `build attempt 2, error EXIT_1 ...`. */
export function eventText(run: Run, event: Event): string {
  return fieldsText(event, (id) => {
    const job = findJob(run, id);
    return job === null ? null : jobName(job);
  });
}

/** What a job is called; null: nobody knows it. */
type NameOfJob = (id: number) => string | null;

/** The same of an event as programs see it, or as it is stored. */
export function fieldsText(event: { readonly type: EventType }, nameOf: NameOfJob): string {
  const hasJob = "job" in event;
  let text = "";
  for (const key of Object.keys(event)) {
    const value = (event as { readonly [key: string]: unknown })[key];
    if (
      HIDDEN_FIELDS.has(key) ||
      isNothing(value) ||
      (key === "reason" && value === "") ||
      (key === "output" && outputText(value as Output) === "") ||
      (hasJob && NAME_FIELDS.has(key))
    )
      continue;
    text += `${text === "" ? "" : ", "}${fieldText(nameOf, event.type, storedKey(key), value)}`;
  }
  return text;
}

/** The jobs that its line names beside its own. */
export function othersNamed(event: { readonly type: EventType }): number[] {
  const ids: unknown[] = [];
  for (const key of Object.keys(event)) {
    const field = storedKey(key);
    if (field !== "lost" && (field === "job" || !holdsJobIds(event.type, field))) continue;
    const value = (event as { readonly [key: string]: unknown })[key];
    for (const shown of shownOf([value].flat()))
      ids.push(field === "lost" ? (shown as { readonly job: number }).job : shown);
  }
  return ids.filter((id) => typeof id === "number");
}

function isNothing(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === null;
  for (const _ in value) return false;
  return true;
}

/** A test compares this with the shapes of all events. */
export function holdsJobIds(type: EventType, field: string): boolean {
  // Of a visit a job asks; of a command a person or an agent does.
  if (field === "by") return type.startsWith("visit.");
  return JOB_FIELDS.has(field) && (field === "job" || !OTHER_FIELDS.has(`${type} ${field}`));
}

function fieldText(nameOf: NameOfJob, type: EventType, field: string, value: unknown): string {
  if (holdsJobIds(type, field)) {
    const names = Array.isArray(value)
      ? listNames(value, (id) => nameOrId(nameOf, id))
      : nameOrId(nameOf, value);
    return field === "job" ? names : `${shownKey(field)} ${names}`;
  }
  switch (field) {
    case "error":
      return errorText(value as Failure);
    case "considered":
      return (value as readonly (RungConsidered | EdgeConsidered)[]).map(consideredText).join(", ");
    case "failureRoute":
      return `failure_route ${(value as FailureRoute).status}`;
    case "reuse":
      return `${(value as readonly unknown[]).length} reused`;
    case "origin": {
      const { run, attempt } = value as AttemptElsewhere;
      return `from run ${run}, attempt ${attempt}`;
    }
    case "output":
      return `output ${outputText(value as Output)}`;
    case "lost":
      return `lost ${listNames(value as readonly { job: number }[], ({ job }) => nameOrId(nameOf, job))}`;
    case "items":
      return `${(value as readonly unknown[]).length} items`;
    case "durationMs":
      return `took ${durationText(value as number)}`;
    case "delayMs":
      return `delay ${durationText(value as number)}`;
    case "dueAt":
      return `due ${iso(value as number)}`;
    default:
      return `${shownKey(field)} ${valueText(withShownKeys(value))}`;
  }
}

function consideredText(considered: RungConsidered | EdgeConsidered): string {
  if ("rung" in considered)
    return `${considered.rung} ${considered.applied ? "taken" : "passed"} (${considered.reason})`;
  const { edge, to, matched, why } = considered;
  return `transition ${edge} to ${to} ${matched ? "taken" : "passed"} (${why})`;
}

function nameOrId(nameOf: NameOfJob, id: unknown): string {
  return (typeof id === "number" ? nameOf(id) : null) ?? String(id);
}

function errorText({ code, class: failureClass, message }: Failure): string {
  return `${code} (${failureClass}): ${cut(message)}`;
}

export function outputText(output: Output): string {
  return output.kind === "value" ? valueText(output.value) : `${output.bytes} bytes in ${output.path}`;
}

export function valueText(value: unknown): string {
  if (typeof value === "number") return String(value);
  return cut(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}

function cut(text: string): string {
  return oneLine(text, MAX_VALUE_CHARS);
}
