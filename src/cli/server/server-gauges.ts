import type { ServerParts } from "../../host/server-parts.js";
import type { PrometheusRegistry } from "../../tell/metrics/prometheus.js";

type Load = ReturnType<ServerParts["load"]>;

const GAUGES: { readonly [key in keyof Load]: { readonly name: string; readonly help: string } } = {
  runs: { name: "daruma_owned_runs", help: "Runs that this server is running." },
  slots: { name: "daruma_busy_slots", help: "Slots in use, on all workers of this server." },
  workers: { name: "daruma_workers", help: "Workers of this server, itself included." },
};

/** Adds gauges for a server's present load, read whenever metrics are requested. */
export function addServerGauges(registry: PrometheusRegistry, parts: ServerParts): void {
  for (const key of Object.keys(GAUGES) as (keyof Load)[])
    registry.addGauge({ ...GAUGES[key], read: () => [{ labels: {}, value: parts.load()[key] }] });
  registry.addGauge({
    name: "daruma_breaker_open",
    help: "1 for each breaker in use here that is open, 0 for the others.",
    read: () =>
      [...parts.breakers()].map(([breaker, state]) => ({
        labels: { breaker },
        value: state === "open" ? 1 : 0,
      })),
  });
  registry.addGauge({
    name: "daruma_worker_quarantined",
    help: "1 for each worker or node known here that is in quarantine or on probation, 0 for the others.",
    read: () =>
      [...parts.workerHealth()].map(([worker, state]) => ({
        labels: { worker },
        value: state === "healthy" ? 0 : 1,
      })),
  });
}
