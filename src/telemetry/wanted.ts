export type Environment = { readonly [name: string]: string | undefined };

/** Whether anything is asked for; else a command line need not even load the rest. */
export function isTelemetryWanted(env: Environment): boolean {
  return Boolean(env.DARUMA_STATSD) || tracesUrl(env) !== null;
}

/** Where traces go, by the variables that every OpenTelemetry program knows. */
export function tracesUrl(env: Environment): string | null {
  if (env.OTEL_SDK_DISABLED === "true") return null;
  if (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return base ? `${base.replace(/\/+$/, "")}/v1/traces` : null;
}
