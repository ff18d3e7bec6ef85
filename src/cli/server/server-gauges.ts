import type { ServerParts } from "../../host/server-parts.js";
import type { PrometheusRegistry } from "../../telemetry/prometheus.js";

type Load = ReturnType<ServerParts["load"]>;

const GAUGES: { readonly [key in keyof Load]: { readonly name: string; readonly help: string } } = {
  runs: { name: "daruma_owned_runs", help: "Runs that this server is running." },
  slots: { name: "daruma_busy_slots", help: "Slots in use, on all workers of this server." },
  workers: { name: "daruma_workers", help: "Workers of this server, itself included." },
};

/** What a server has to do right now, as it is when somebody looks. */
export function addServerGauges(registry: PrometheusRegistry, parts: ServerParts): void {
  for (const key of Object.keys(GAUGES) as (keyof Load)[])
    registry.addGauge({ ...GAUGES[key], read: () => [{ labels: {}, value: parts.load()[key] }] });
}
