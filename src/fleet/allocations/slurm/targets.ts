import type { Target } from "../provider.js";
import { parseNodeList, parseTimeLimit } from "./parse-values.js";

export const PARTITIONS_COMMAND: readonly string[] = ["scontrol", "show", "partition"];
export const NODES_COMMAND: readonly string[] = ["scontrol", "show", "node"];

type ScontrolRecord = ReadonlyMap<string, string>;

/** Reads `Key=Value` pairs over several lines, with empty lines between records. */
export function parseRecords(text: string): ScontrolRecord[] {
  return text
    .split(/\n\s*\n/)
    .map((block) => new Map(Array.from(block.matchAll(PAIR), ([, key = "", value = ""]) => [key, value])))
    .filter((record) => record.size > 0);
}

const PAIR = /(?<=^|\s)([A-Za-z:/]+)=(\S*)/g;
const MEBIBYTE = 1024 ** 2;
/** States of a node that takes no new jobs, perhaps for weeks. */
const NODE_OUT = /DOWN|DRAIN|FAIL|MAINT|POWERED_DOWN.*NO_POWER|INVALID/;

export function readTargets(partitions: string, nodes: string): Target[] {
  const nodeRecords = new Map(
    parseRecords(nodes).flatMap((record) => {
      const name = record.get("NodeName");
      return name === undefined ? [] : [[name, record] as const];
    }),
  );
  return parseRecords(partitions).flatMap((partition) => {
    const name = partition.get("PartitionName");
    if (name === undefined) return [];
    const members = parseNodeList(partition.get("Nodes") ?? "").flatMap(
      (node) => nodeRecords.get(node) ?? [],
    );
    return [targetOf(name, partition, members)];
  });
}

function targetOf(name: string, partition: ScontrolRecord, nodes: readonly ScontrolRecord[]): Target {
  const runtimeMs = parseTimeLimit(partition.get("MaxTime") ?? "");
  const maxNodes = Number(partition.get("MaxNodes") ?? "");
  const most = Number.isInteger(maxNodes) && maxNodes > 0 ? Math.min(maxNodes, nodes.length) : nodes.length;
  const preemptMode = partition.get("PreemptMode") ?? "OFF";
  return {
    name,
    max: { ...(nodes.length > 0 && { nodes: most }), ...(runtimeMs !== null && { runtimeMs }) },
    perNode: nodes.length === 0 ? {} : biggest(nodes),
    preemptible: /REQUEUE|CANCEL|SUSPEND/.test(preemptMode),
    up: partition.get("State") === "UP" && (nodes.length === 0 || nodes.some(isUsable)),
    isDefault: partition.get("Default") === "YES",
  };
}

function isUsable(node: ScontrolRecord): boolean {
  return !NODE_OUT.test(node.get("State") ?? "");
}

function biggest(nodes: readonly ScontrolRecord[]): Target["perNode"] {
  const most = (amount: (node: ScontrolRecord) => number): number => Math.max(...nodes.map(amount));
  return {
    cpus: most((node) => Number(node.get("CPUEfctv") ?? node.get("CPUTot") ?? 0)),
    memoryBytes: most((node) => Number(node.get("RealMemory") ?? 0) * MEBIBYTE),
    gpus: most((node) => gpusOf(node.get("Gres") ?? "")),
  };
}

/** Counts GPUs in a text such as `gpu:a100:4(S:0-1),gpu:2`. */
function gpusOf(gres: string): number {
  const counts = Array.from(gres.matchAll(/gpu(?::[A-Za-z][^:,(]*)?(?::(\d+))?/g), ([, count]) =>
    Number(count ?? 1),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
