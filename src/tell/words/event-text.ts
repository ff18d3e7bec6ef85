import {
  type AttemptElsewhere,
  type EdgeConsidered,
  EVENTS,
  type Event,
  type EventType,
  type FailureRoute,
  type Output,
  type RungConsidered,
} from "../../core/model/events.js";
import type { Failure } from "../../core/model/failure.js";
import { findJob, type Run } from "../../core/model/run.js";
import { iso } from "../../core/text/iso-time.js";
import { oneLine } from "../../core/text/plain-text.js";
import type { Fields, Shape } from "../../core/text/shape.js";
import { jobName, listNames, shownOf } from "../lookup/job-name.js";
import { durationText } from "./duration-text.js";

const MAX_VALUE_CHARS = 200;
const HIDDEN_FIELDS = new Set(["seq", "at", "type", "token", "definition_hash", "key"]);
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

/** Describes the fields of any event whose jobs have names. */
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
    text += `${text === "" ? "" : ", "}${fieldText(nameOf, event.type, key, value)}`;
  }
  return text;
}

/** The jobs that its line names beside its own. */
export function othersNamed(event: { readonly type: EventType }): number[] {
  const ids: unknown[] = [];
  for (const field of Object.keys(event)) {
    if (field !== "lost" && (field === "job" || !holdsJobIds(event.type, field))) continue;
    const value = (event as { readonly [key: string]: unknown })[field];
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

/** The id of one job, or a list of them. */
function holdsJobIds(type: EventType, field: string): boolean {
  // A design's name for an event is none of ours.
  const fields: Fields = Object.hasOwn(EVENTS, type) ? EVENTS[type] : {};
  const declared = Object.hasOwn(fields, field) ? fields[field]! : null;
  return declared !== null && namesJobs("optional" in declared ? declared.optional : declared);
}

function namesJobs(shape: Shape): boolean {
  return (
    shape.names === "job" || ((shape.kind === "nullable" || shape.kind === "list") && namesJobs(shape.of))
  );
}

function fieldText(nameOf: NameOfJob, type: EventType, field: string, value: unknown): string {
  if (holdsJobIds(type, field)) {
    const names = Array.isArray(value)
      ? listNames(value, (id) => nameOrId(nameOf, id))
      : nameOrId(nameOf, value);
    return field === "job" ? names : `${field} ${names}`;
  }
  switch (field) {
    case "error":
      return errorText(value as Failure);
    case "considered":
      return (value as readonly (RungConsidered | EdgeConsidered)[]).map(consideredText).join(", ");
    case "failure_route":
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
    case "duration_ms":
      return `took ${durationText(value as number)}`;
    case "delay_ms":
      return `delay ${durationText(value as number)}`;
    case "due_at":
      return `due ${iso(value as number)}`;
    default:
      return `${field} ${valueText(value)}`;
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
