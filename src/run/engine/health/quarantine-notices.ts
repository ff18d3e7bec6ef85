import type { NotifyRule } from "../../../core/model/definition.js";
import type { Notice } from "../../../core/notices/notice.js";
import { noticesFor } from "../../../core/notices/notices-of.js";
import type { WorkerHealth } from "../../../core/quarantine/quarantine.js";
import { healthText } from "./health-text.js";

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
