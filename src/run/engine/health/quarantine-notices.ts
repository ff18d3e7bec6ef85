import type { NotifyRule } from "../../../core/model/definition.js";
import type { Notice } from "../../../core/notices/notice.js";
import { noticesFor } from "../../../core/notices/notices-of.js";
import type { HealthState, WorkerHealth } from "../../../core/quarantine/quarantine.js";
import { durationAmount } from "../../../core/text/amount-text.js";

/** Notices for people about a worker that was just quarantined. */
export function quarantineNotices(
  name: string,
  before: WorkerHealth,
  after: WorkerHealth,
  rules: readonly NotifyRule[],
): { readonly notices: readonly Notice[] } {
  const { quarantine: found } = after;
  if (found === null || before.quarantine !== null || rules.length === 0) return { notices: [] };
  const cause = {
    ...({ kind: "quarantined", thing: JSON.stringify(["worker", name]), run_id: null } as const),
    ...{ workflow: null, step: null, signature: null },
    facts: { name, reason: healthText(name, after, "quarantined") },
  };
  return { notices: noticesFor(cause, rules, { at: found.since, mark: `worker\n${name}\n${found.since}` }) };
}

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
