import { oneLine } from "../../../core/text/plain-text.js";
import type { OutputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/declaration.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/columns.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type Item = OutputOf<"list_workers">["items"][number];

const HEADER = ["name", "used", "slots", "tags", "node", "allocation", "last seen (UTC)", "state"];

export const workers: Present = async ({ input }, { out, options }, client) => {
  const { items } = await client.call("list_workers", input as never);
  if (options.json) writeJson(out, items);
  else if (items.length === 0) writeLines(out, ["no workers"]);
  else {
    const rows = items.map((item) => [
      item.name,
      item.connected ? item.used : "",
      item.connected ? item.slots : "",
      item.tags.join(" "),
      item.node ?? "",
      item.allocation ?? "",
      clockTime(item.last_seen_at),
      stateWords(item),
    ]);
    const table = tableLines(
      HEADER,
      rows.map((row) => row.map((cell) => oneLine(String(cell)))),
      out.width(),
    );
    const named = new Map(items.map((item) => [item.health.name, item]));
    writeLines(out, [...table, ...[...named.values()].flatMap(whyLines)]);
  }
  return 0;
};

const WAITING_HEADER = ["jobs", "such as", "run", "because"];

/** Lists ready jobs without a worker, grouped by reason. */
export const waiting: Present = async ({ input }, { out, options }, client) => {
  const { items } = await client.call("list_waiting", input as never);
  const rows = items.map(({ jobs, workflow, step, run_id, reason }) =>
    [String(jobs), `${workflow}/${step}`, String(run_id), reason].map(oneLine),
  );
  if (options.json) writeJson(out, items);
  else
    writeLines(
      out,
      rows.length === 0 ? ["nothing waits for a worker"] : tableLines(WAITING_HEADER, rows, out.width()),
    );
  return 0;
};

function stateWords({ connected, draining, leaves_at, health }: Item): string {
  const words: string[] = [];
  if (health.state === "quarantined") words.push(`quarantined until ${clockTime(health.until)}`);
  if (health.state === "probation") words.push("on probation");
  if (!connected) words.push("not connected");
  if (draining) words.push("draining");
  else if (leaves_at !== null) words.push(`leaves at ${clockTime(leaves_at)}`);
  return words.join(", ");
}

function whyLines({ health: { name, state, jobs } }: Item): string[] {
  if (name === null || state === "healthy") return [];
  const failed = jobs.map(
    ({ run_id, step, attempt, code, completed_on }) =>
      `  ${oneLine(`attempt ${attempt} of ${step} in run ${run_id} failed (${code}); ${completed_on} completed it`)}`,
  );
  return [
    "",
    oneLine(`${name} is in quarantine because jobs failed on it that others completed:`),
    ...failed,
  ];
}

export const breakers: Present = async ({ input }, { out, options }, client) => {
  const { items } = await client.call("list_breakers", input as never);
  if (options.json) writeJson(out, items);
  else if (items.length === 0) writeLines(out, ["no breakers"]);
  else {
    const rows = items.map(({ name, state, since, failures, policy, next_probe_at, probe, reason }) => [
      name,
      state,
      clockTime(since),
      state === "closed" ? `${failures} of ${policy.failures}` : "",
      probe === null ? clockTime(next_probe_at) : `run ${probe.run_id}`,
      oneLine(reason ?? ""),
    ]);
    const header = ["breaker", "state", "since (UTC)", "failures", "next probe (UTC)", "why"];
    writeLines(out, tableLines(header, rows, out.width()));
  }
  return 0;
};
