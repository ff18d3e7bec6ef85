import type { LoggedEvent } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";
import { Meter } from "./measure.js";
import { OtlpExporter, SpanMaker } from "./otlp.js";
import { PrometheusRegistry } from "./prometheus.js";
import { parseStatsdAddress, StatsdClient } from "./statsd.js";
import { type Environment, tracesUrl } from "./wanted.js";

/** Exports measurements of runs: counters for Prometheus and StatsD, traces for OpenTelemetry. */
export class Telemetry {
  readonly registry = new PrometheusRegistry();
  private readonly meter = new Meter();
  private readonly spans = new SpanMaker();

  constructor(
    private readonly statsd: StatsdClient | null,
    private readonly otlp: OtlpExporter | null,
  ) {}

  /** Takes in the log of a run that another process has run before. Later events are counted on top of it. */
  recall(run: Run, log: readonly LoggedEvent[]): void {
    this.meter.recall(run.id, log);
    if (this.otlp !== null) this.spans.recall(log);
  }

  /** Takes committed events, which must come in order. */
  take(run: Run, events: readonly LoggedEvent[]): void {
    for (const logged of events) {
      for (const measurement of this.meter.measure(run.id, logged.event)) {
        this.registry.add(measurement);
        this.statsd?.send(measurement);
      }
      if (this.otlp === null) continue;
      for (const span of this.spans.spansOf(run, logged)) this.otlp.send(span);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.statsd?.close(), this.otlp?.close()]);
  }
}

/** Reads DARUMA_STATSD (a StatsD server) and OTEL_EXPORTER_OTLP_ENDPOINT (a collector) with its usual companions. */
export function openTelemetry(env: Environment): Telemetry {
  const { DARUMA_STATSD: statsd } = env;
  const url = tracesUrl(env);
  return new Telemetry(
    statsd ? new StatsdClient(parseStatsdAddress(statsd)) : null,
    url === null
      ? null
      : new OtlpExporter({
          url,
          headers: headersOf(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? env.OTEL_EXPORTER_OTLP_HEADERS ?? ""),
          service: env.OTEL_SERVICE_NAME || "daruma",
        }),
  );
}

/** Parses `name=value,name=value`, with percent-encoded values. */
function headersOf(text: string): { [name: string]: string } {
  const headers: { [name: string]: string } = {};
  for (const pair of text.split(",")) {
    const at = pair.indexOf("=");
    if (at <= 0) continue;
    headers[pair.slice(0, at).trim()] = decode(pair.slice(at + 1).trim());
  }
  return headers;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
