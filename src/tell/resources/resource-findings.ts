import type { ResourceRequirements } from "../../core/model/definition.js";
import { nullable, number, type Of, object, text, word } from "../../core/text/shape.js";
import type { GroupUsage } from "./resource-groups.js";

export type AskedResource = "cpus" | "memory" | "runtime";

/** What somebody may want to change in the workflow file. */
export const RESOURCE_FINDING = object({
  kind: word(["asked_too_much", "near_limit"]),
  resource: word<AskedResource>(["cpus", "memory", "runtime"]),
  /** The amount in processors, bytes or milliseconds. */
  asked: number,
  /** The most that an attempt used. */
  used: number,
  /** The job of the group that came nearest to its limit. */
  job: nullable(text),
});
export type ResourceFinding = Of<typeof RESOURCE_FINDING>;

/** A request of this many times the use is too large. */
const TOO_MANY_TIMES = 10;
/** Beyond this share of a limit the next attempt may pass it. */
const NEAR_SHARE = 0.9;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const MINUTE_MS = 60_000;
/** Nobody gains by asking for less than this. */
const TOO_LITTLE_TO_MIND = { cpus: 2, memory: 64 * MIB, runtime: MINUTE_MS } as const;
/** What an attempt may use more than the largest so far. */
const HEADROOM = 1.5;

export function findingsOf({ asked, needed, peaks }: GroupUsage): ResourceFinding[] {
  if (asked === null) return [];
  const amounts = amountsOf(asked);
  const tooMuch = (Object.keys(amounts) as AskedResource[]).flatMap((resource): ResourceFinding[] => {
    const amount = amounts[resource];
    const used = needed[resource];
    if (amount === null || used === 0 || amount < TOO_LITTLE_TO_MIND[resource]) return [];
    if (amount < TOO_MANY_TIMES * used || roundedUp(resource, used) >= amount) return [];
    return [{ kind: "asked_too_much", resource, asked: amount, used, job: null }];
  });
  const near = (["memory", "runtime"] as const).flatMap((resource): ResourceFinding[] => {
    const peak = peaks[resource];
    if (peak === null || peak.share < NEAR_SHARE) return [];
    return [{ kind: "near_limit", resource, asked: peak.limit, used: peak.used, job: peak.job }];
  });
  return [...near, ...tooMuch];
}

function amountsOf({ cpus, memoryBytes, runtimeMs }: ResourceRequirements): {
  readonly [resource in AskedResource]: number | null;
} {
  return { cpus, memory: memoryBytes, runtime: runtimeMs };
}

/** The requirements of the group with what the findings are about set to what was used, and something to spare. */
export function suggestionFor(
  { asked }: Pick<GroupUsage, "asked">,
  findings: readonly ResourceFinding[],
): string {
  const { cpus = 1, memoryBytes = null, runtimeMs = null, gpus = 0, nodes = 1 } = asked ?? {};
  const about = new Map(findings.map(({ resource, used }) => [resource, used]));
  const better = <T extends number | null>(resource: AskedResource, now: T): number | T => {
    const used = about.get(resource);
    return used === undefined ? now : roundedUp(resource, used);
  };
  const memory = better("memory", memoryBytes);
  const runtime = better("runtime", runtimeMs);
  const parts = [
    `num_cpus: ${better("cpus", cpus)}`,
    ...(memory === null ? [] : [`memory: ${memoryText(memory)}`]),
    ...(runtime === null ? [] : [`runtime: ${runtimeText(runtime)}`]),
    ...(gpus > 0 ? [`num_gpus: ${gpus}`] : []),
    ...(nodes > 1 ? [`num_nodes: ${nodes}`] : []),
  ];
  return `resource_requirements: { ${parts.join(", ")} }`;
}

function roundedUp(resource: AskedResource, used: number): number {
  const wanted = used * HEADROOM;
  if (resource === "cpus") return Math.max(1, Math.ceil(used));
  const unit = resource === "runtime" ? MINUTE_MS : wanted > 4 * GIB ? GIB : 64 * MIB;
  return Math.max(unit, Math.ceil(wanted / unit) * unit);
}

function memoryText(bytes: number): string {
  if (bytes % GIB === 0) return `${bytes / GIB}g`;
  return bytes % MIB === 0 ? `${bytes / MIB}m` : String(bytes);
}

function runtimeText(ms: number): string {
  return ms % MINUTE_MS === 0 ? `${ms / MINUTE_MS}m` : `${ms}ms`;
}
