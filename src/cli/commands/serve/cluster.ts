import { DarumaError } from "../../../core/errors/errors.js";
import { oneLine } from "../../../core/text/plain-text.js";
import type { OutputOf } from "../../../operations/client.js";
import { readSource } from "../../../operations/workflows/workflow-source.js";
import type { Present } from "../../declare/declaration.js";
import { parseRunReference } from "../../declare/typed-names.js";
import { tableLines } from "../../render/columns.js";
import { writeJson, writeLines, writeText } from "../../terminal/channel.js";

const MIB = 1024 ** 2;

/** Plans for a workflow file or a run. */
export const planCluster: Present = async ({ input, args }, { out, options }, client) => {
  const what = args[0] as string | undefined;
  if (what === undefined) throw new DarumaError("USAGE", "name a workflow file or a run");
  const reference = parseRunReference(what);
  const chosen = reference === null ? { source: readSource(what), file_name: what } : { run_id: reference };
  const plan = await client.call("plan_cluster", { ...input, ...chosen });
  if (options.json) writeJson(out, plan);
  else writeLines(out, planLines(plan));
  return 0;
};

function planLines({ dry_run, items, waits, impossible }: OutputOf<"plan_cluster">): string[] {
  const verb = dry_run ? "would submit" : "submitted";
  const lines = items.flatMap((item) => [
    `${item.cluster}: ${verb} ${item.num_nodes === 1 ? "" : `${item.num_nodes} nodes with `}${item.cpus} cpus, ${Math.ceil(item.memory_bytes / MIB)} MB, ${Math.ceil(item.runtime_ms / 60_000)} min: ${item.reason}`,
    `  ${item.command}`,
    ...item.warnings.map((warning) => `  warning: ${warning}`),
    ...(dry_run
      ? item.script
          .trimEnd()
          .split("\n")
          .map((line) => `  | ${line}`)
      : []),
  ]);
  const more = [
    ...waits.map(({ cluster, message }) => `${cluster}: nothing more is submitted: ${oneLine(message)}`),
    ...impossible.map(({ cluster, step, reason }) => `${cluster}: ${step} can never run there: ${reason}`),
  ];
  const all = [...lines, ...more];
  return all.length === 0 ? ["no step waits for a cluster"] : all;
}

export const listAllocations: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("list_allocations", input as never);
  if (options.json) writeJson(out, answer);
  else {
    const rows = answer.items.map(({ cluster, id, key, state, nodes, cpus, num_nodes, reason, end }) => [
      id === null ? key : `${cluster}/${id}`,
      state,
      nodes.join(","),
      String(cpus * num_nodes),
      oneLine(end === null ? reason : `${end.code}: ${end.message}`),
    ]);
    const none = rows.length === 0 ? ["no allocations"] : [];
    const header = ["allocation", "state", "nodes", "cpus", "why"];
    writeLines(out, [...none, ...(rows.length === 0 ? [] : tableLines(header, rows, out.width()))]);
    for (const { cluster, message } of answer.suspended)
      writeLines(out, [
        `${cluster} is suspended: ${oneLine(message)}. To go on: daruma allocations resume ${cluster}`,
      ]);
    for (const { cluster, jobs, job_ids, reason } of answer.impossible) {
      const who = jobs === 1 ? `job ${job_ids[0]}` : `${jobs} jobs (${job_ids[0]}, ...)`;
      writeLines(out, [`${cluster}: ${who} can never run there: ${oneLine(reason)}`]);
    }
  }
  return 0;
};

export const showAllocation: Present = async ({ input }, { out }, client) => {
  const { items } = await client.call("list_allocations", input as never);
  const { log: _log, ...item } = items[0]!;
  writeJson(out, item);
  return 0;
};

export const allocationLogs: Present = async ({ input }, { out, options }, client) => {
  const { items } = await client.call("list_allocations", input as never);
  const log = items[0]?.log ?? "";
  if (options.json) writeJson(out, { log });
  else writeText(out, log);
  return 0;
};

export const controlAllocations: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("control_allocations", input as never);
  const said = answer.state === "resumed" ? "submits allocations again" : answer.state;
  if (options.json) writeJson(out, answer);
  else writeLines(out, [`${answer.target}: ${said}`]);
  return 0;
};
