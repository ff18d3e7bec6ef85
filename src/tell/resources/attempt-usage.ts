import type { ResourceRequirements } from "../../core/model/definition.js";
import type { AttemptCost, EventType, LoggedEvent } from "../../core/model/events.js";
import { type RaisedResources, resourcesOf, withRaise } from "../../core/model/resources.js";
import { number, type OfFields } from "../../core/text/shape.js";

/** What one attempt had asked for, and what it used; null where nobody could tell. */
export interface AttemptUsage {
  readonly job: number;
  readonly attempt: number;
  readonly endedAt: number;
  readonly durationMs: number;
  readonly hasSucceeded: boolean;
  readonly asked: ResourceRequirements | null;
  readonly peakMemoryBytes: number | null;
  readonly cpuMs: number | null;
  readonly readBytes: number | null;
  readonly writtenBytes: number | null;
}

/** All that tells what attempts asked for and used. */
export const USAGE_EVENTS: readonly EventType[] = [
  "attempt.succeeded",
  "attempt.failed",
  "attempt.stopped",
  "rule.reserved",
  "jobs.retried",
];

/** Goes through the log of a run: what a job asks for may be raised between two of its attempts. */
export class UsageReader {
  private readonly raised = new Map<number, RaisedResources>();

  /** `askedBy`: what the step of a job asks for. */
  constructor(private readonly askedBy: (job: number) => ResourceRequirements | null) {}

  /** Reads an event. Null if it ends no attempt. */
  read({ event, at }: LoggedEvent): AttemptUsage | null {
    switch (event.type) {
      case "rule.reserved":
        if (event.raised !== undefined)
          this.raised.set(event.job, withRaise(this.raised.get(event.job) ?? null, event.raised));
        return null;
      case "jobs.retried":
        for (const raise of event.raised ?? [])
          this.raised.set(raise.job, withRaise(this.raised.get(raise.job) ?? null, raise));
        return null;
      case "attempt.succeeded":
      case "attempt.failed":
      case "attempt.stopped":
        return this.usageOf(event, at, event.type === "attempt.succeeded");
      default:
        return null;
    }
  }

  private usageOf(
    { job, attempt, ...cost }: AttemptCost & { readonly job: number; readonly attempt: number },
    at: number,
    hasSucceeded: boolean,
  ): AttemptUsage {
    const {
      duration_ms: durationMs,
      peak_memory_bytes: peakMemoryBytes = null,
      cpu_ms: cpuMs = null,
      read_bytes: readBytes = null,
      written_bytes: writtenBytes = null,
    } = cost;
    const raised = this.raised.get(job) ?? null;
    const asked = resourcesOf({ raised }, { resources: this.askedBy(job) });
    const used = { peakMemoryBytes, cpuMs, readBytes, writtenBytes };
    return { job, attempt, endedAt: at, durationMs, hasSucceeded, asked, ...used };
  }
}

/** What the processes of an attempt had used by then; memory and their number are of that moment. */
export const USAGE_SAMPLE = {
  ...{ ms: number, processes: number, memory_bytes: number },
  ...{ cpu_ms: number, read_bytes: number, written_bytes: number },
} as const;
export type UsageSample = OfFields<typeof USAGE_SAMPLE>;

const COLUMNS = Object.keys(USAGE_SAMPLE);
/** More than a picture can show. */
const MAX_SAMPLES = 400;

/** At most so many, evenly chosen. A line that is not whole, because it is being written or was cut off, is left out. */
export function parseSamples(csv: string): UsageSample[] {
  const [header, ...lines] = csv.split("\n");
  if (header !== COLUMNS.join(",")) return [];
  lines.pop();
  const every = Math.ceil(lines.length / MAX_SAMPLES);
  return lines
    .filter((_, at) => at % every === 0 || at === lines.length - 1)
    .map((line) => line.split(",").map(Number))
    .filter(
      (values) =>
        values.length === COLUMNS.length &&
        values.every((value) => Number.isSafeInteger(value) && value >= 0),
    )
    .map(
      (values) =>
        Object.fromEntries(COLUMNS.map((column, at) => [column, values[at]!])) as unknown as UsageSample,
    );
}
