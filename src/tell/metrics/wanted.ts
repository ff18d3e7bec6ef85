export type Environment = { readonly [name: string]: string | undefined };

/** Whether any telemetry is configured. If not, a command line need not even load the rest. */
export function isTelemetryWanted(env: Environment): boolean {
  return Boolean(env.DARUMA_STATSD) || tracesUrl(env) !== null;
}

/** The address for traces, from the standard OpenTelemetry variables. */
export function tracesUrl(env: Environment): string | null {
  if (env.OTEL_SDK_DISABLED === "true") return null;
  if (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return base ? `${base.replace(/\/+$/, "")}/v1/traces` : null;
}
