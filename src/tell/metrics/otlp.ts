// Written by hand: one JSON document over fetch. The OpenTelemetry SDK is larger than Daruma, and its state would
// outlive a run.
import type { Span } from "./spans.js";

export interface OtlpOptions {
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
