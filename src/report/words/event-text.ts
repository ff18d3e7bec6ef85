import type {
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
import { jobName, listNames } from "../lookup/job-name.js";
import { durationText } from "./duration-text.js";
import { shownKey, withShownKeys } from "./shown-keys.js";

const MAX_VALUE_CHARS = 200;
/** Fields that hold the id of one job, or of several. */
const JOB_FIELDS = new Set([
  "job",
  "target",
  "by",
  "for",
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
const HIDDEN_FIELDS = new Set(["type", "token", "definitionHash", "key"]);
/** The name of an event's job says these. */
const NAME_FIELDS = new Set(["step", "scope"]);

/** What an event holds, in one line with names in place of ids: `build attempt 2, error EXIT_1 ...`. */
export function eventText(run: Run, event: Event): string {
  return Object.entries(event)
    .filter(([field, value]) => !HIDDEN_FIELDS.has(field) && !isNothing(value))
    .filter(([field]) => !("job" in event && NAME_FIELDS.has(field)))
    .map(([field, value]) => fieldText(run, event.type, field, value))
    .join(", ");
}

function isNothing(value: unknown): boolean {
  return value === null || (typeof value === "object" && Object.keys(value as object).length === 0);
}

/** A test compares this with the shapes of all events. */
export function holdsJobIds(type: EventType, field: string): boolean {
  return JOB_FIELDS.has(field) && !OTHER_FIELDS.has(`${type} ${field}`);
}

function fieldText(run: Run, type: EventType, field: string, value: unknown): string {
  if (holdsJobIds(type, field)) {
    const names = listNames([value].flat(), (id) => nameOrId(run, id));
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
    case "output":
      return `output ${outputText(value as Output)}`;
    case "lost":
      return `lost ${listNames(value as readonly { job: number }[], ({ job }) => nameOrId(run, job))}`;
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

function nameOrId(run: Run, id: unknown): string {
  const job = typeof id === "number" ? findJob(run, id) : null;
  return job === null ? String(id) : jobName(job);
}

function errorText({ code, class: failureClass, message }: Failure): string {
  return `${code} (${failureClass}): ${cut(message)}`;
}

export function outputText(output: Output): string {
  return output.kind === "value" ? valueText(output.value) : `${output.bytes} bytes in ${output.path}`;
}

export function valueText(value: unknown): string {
  return cut(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}

function cut(text: string): string {
  return oneLine(text, MAX_VALUE_CHARS);
}
