import { createHash } from "node:crypto";
import type { Event, LoggedEvent } from "../../core/model/events.js";
import { jobById, type Run } from "../../core/model/run.js";

/** One bar of a trace. Times are milliseconds since the epoch. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly startAt: number;
  readonly endAt: number;
  readonly failure: string | null;
  readonly attributes: { readonly [name: string]: string | number };
}

/** How many jobs have their first attempt remembered. A forgotten job gets the span of its last attempt. */
const MAX_REMEMBERED_JOBS = 100_000;

/**
 * Makes spans (run > job > attempt) from committed events. Ids are derived from the run, so a run that another process
 * continues stays one trace.
 */
export class SpanMaker {
  private readonly begun = new Map<number, number>();

  /** Restores when jobs began from the log of a run that another process has run before. */
  recall(log: readonly LoggedEvent[]): void {
    for (const { at, event } of log) {
      if (event.type === "attempt.started") this.begin(event.job, at);
      else if (event.type === "attempt.succeeded" || event.type === "job.failed")
        this.begun.delete(event.job);
    }
  }

  spansOf(run: Run, { at, event }: LoggedEvent): Span[] {
    switch (event.type) {
      case "attempt.started":
        this.begin(event.job, at);
        return [];
      case "attempt.succeeded":
        return [this.attempt(run, event, at, null), ...this.job(run, event.job, at, null)];
      case "attempt.failed":
        return [this.attempt(run, event, at, event.error.code)];
      case "attempt.stopped":
        return [this.attempt(run, event, at, event.because)];
      case "attempt.suspended":
        return [this.attempt(run, event, at, null)];
      case "job.failed":
        return this.job(run, event.job, at, event.code);
      case "run.completed":
        return [runSpan(run, at, null)];
      case "run.failed":
        return [runSpan(run, at, event.code)];
      case "run.canceled":
        return [runSpan(run, at, "canceled")];
      default:
        return [];
    }
  }

  private begin(job: number, at: number): void {
    if (this.begun.has(job)) return;
    this.begun.set(job, at);
    if (this.begun.size > MAX_REMEMBERED_JOBS) this.begun.delete(this.begun.keys().next().value!);
  }

  private attempt(
    run: Run,
    event: Extract<
      Event,
      { type: "attempt.succeeded" | "attempt.failed" | "attempt.stopped" | "attempt.suspended" }
    >,
    at: number,
    failure: string | null,
  ): Span {
    const { step } = jobById(run, event.job);
    return {
      traceId: traceOf(run),
      spanId: idOf(`${run.id} ${run.createdAt} ${event.job} ${event.attempt}`),
      parentSpanId: jobSpanId(run, event.job),
      name: `${step.definition.id} attempt ${event.attempt}`,
      startAt: at - event.duration_ms,
      endAt: at,
      failure,
      attributes: { "daruma.job_id": event.job, "daruma.attempt": event.attempt },
    };
  }

  /** The span of one visit of a job, which ends with this event. */
  private job(run: Run, id: number, at: number, failure: string | null): Span[] {
    const startAt = this.begun.get(id);
    if (startAt === undefined) return [];
    this.begun.delete(id);
    const { step, scope, visit } = jobById(run, id);
    return [
      {
        traceId: traceOf(run),
        spanId: jobSpanId(run, id),
        parentSpanId: runSpanId(run),
        name: step.definition.id,
        startAt,
        endAt: at,
        failure,
        attributes: {
          "daruma.job_id": id,
          "daruma.scope": scope.id,
          "daruma.visit": visit,
          "daruma.action": step.definition.action.type,
        },
      },
    ];
  }
}

function runSpan(run: Run, at: number, failure: string | null): Span {
  return {
    traceId: traceOf(run),
    spanId: runSpanId(run),
    parentSpanId: null,
    name: run.workflow,
    startAt: run.startedAt ?? run.createdAt,
    endAt: at,
    failure,
    attributes: { "daruma.run_id": run.id, "daruma.workflow": run.workflow },
  };
}

function traceOf(run: Run): string {
  return digest(`trace ${run.id} ${run.createdAt} ${run.definitionHash}`, 32);
}

function runSpanId(run: Run): string {
  return idOf(`run ${run.id} ${run.createdAt}`);
}

function jobSpanId(run: Run, job: number): string {
  return idOf(`job ${run.createdAt} ${job} ${jobById(run, job).visit}`);
}

function idOf(text: string): string {
  return digest(text, 16);
}

function digest(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

// Written by hand: one JSON document over fetch. The OpenTelemetry SDK is larger than Daruma, and its state would
// outlive a run.

interface OtlpOptions {
  /** The complete address for traces, such as http://127.0.0.1:4318/v1/traces. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly service: string;
}

const BATCH_SPANS = 512;
/** How many spans are kept while the collector is away. Beyond that the oldest are dropped. */
const MAX_QUEUED_SPANS = 20_000;
const FLUSH_MS = 2_000;
const REQUEST_TIMEOUT_MS = 10_000;

/** Sends spans to an OpenTelemetry collector by OTLP over HTTP with JSON. Fire and forget. */
export class OtlpExporter {
  private queue: Span[] = [];
  private sending: Promise<void> | null = null;
  private readonly timer: NodeJS.Timeout;
  dropped = 0;

  constructor(private readonly options: OtlpOptions) {
    this.timer = setInterval(() => void this.flush(), FLUSH_MS);
    this.timer.unref();
  }

  send(span: Span): void {
    if (this.queue.length >= MAX_QUEUED_SPANS) {
      this.queue.shift();
      this.dropped += 1;
    }
    this.queue.push(span);
    if (this.queue.length >= BATCH_SPANS) void this.flush();
  }

  flush(): Promise<void> {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  /** Sends all queued spans. If the collector is away, they stay queued for the next flush. */
  private async sendAll(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue.slice(0, BATCH_SPANS);
      if (!(await this.post(batch))) return;
      this.queue = this.queue.slice(batch.length);
    }
  }

  /**
   * Posts a batch. Returns false if it should be tried again; a batch that the collector rejects for good is dropped.
   */
  private async post(batch: readonly Span[]): Promise<boolean> {
    try {
      const response = await fetch(this.options.url, {
        method: "POST",
        headers: { "content-type": "application/json", ...this.options.headers },
        body: JSON.stringify(traceDocument(batch, this.options.service)),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      await response.arrayBuffer();
      if (response.status === 429 || response.status >= 500) return false;
      if (!response.ok) this.dropped += batch.length;
      return true;
    } catch {
      return false;
    }
  }
}

function traceDocument(spans: readonly Span[], service: string): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ "service.name": service }) },
        scopeSpans: [{ scope: { name: "daruma" }, spans: spans.map(spanDocument) }],
      },
    ],
  };
}

function spanDocument(span: Span): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: 1,
    startTimeUnixNano: nanoseconds(span.startAt),
    endTimeUnixNano: nanoseconds(span.endAt),
    attributes: attributesOf(span.attributes),
    status: span.failure === null ? { code: 1 } : { code: 2, message: span.failure },
  };
}

function attributesOf(attributes: { readonly [name: string]: string | number }): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) },
  }));
}

function nanoseconds(at: number): string {
  return `${Math.round(at)}000000`;
}
