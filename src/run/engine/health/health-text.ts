import type { HealthState, WorkerHealth } from "../../../core/quarantine/quarantine.js";
import { durationAmount } from "../../../core/text/amount-text.js";

/** Describes a change of a worker's health in a sentence. */
export function healthText(name: string, { quarantine, freed }: WorkerHealth, state: HealthState): string {
  switch (state) {
    case "quarantined":
      return `worker ${name} is in quarantine for ${durationAmount(quarantine?.forMs ?? 0)}: ${reasonOf(quarantine)}`;
    case "probation":
      return `worker ${name} is on probation: one attempt shows whether it works again`;
    case "healthy":
      return `worker ${name} gets attempts again: ${freed?.reason ?? ""}`;
  }
}

function reasonOf(quarantine: WorkerHealth["quarantine"]): string {
  if (quarantine === null) return "";
  if (quarantine.times > 1) return "its probation failed";
  const jobs = quarantine.jobs.map(({ step, run }) => `${step} in run ${run}`).join(", ");
  return `jobs failed on it that others completed (${jobs})`;
}
