import type { ResourceRequirements } from "../../core/model/definition.js";
import {
  list,
  noted,
  nullable,
  number,
  type Of,
  type OfFields,
  object,
  type Shape,
  text,
  word,
} from "../../core/text/shape.js";
import type { AttemptUsage } from "./attempt-usage.js";

type AskedResource = "cpus" | "memory" | "runtime";

/** What somebody may want to change in the workflow file. */
const RESOURCE_FINDING = object({
  kind: word(["asked_too_much", "near_limit"]),
  resource: word<AskedResource>(["cpus", "memory", "runtime"]),
  /** The amount in processors, bytes or milliseconds. */
  asked: number,
  /** The most that an attempt used. */
  used: number,
  /** The job of the group that came nearest to its limit. */
  job: nullable(text),
});
type ResourceFinding = Of<typeof RESOURCE_FINDING>;

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

function findingsOf({ asked, needed, peaks }: GroupUsage): ResourceFinding[] {
  if (asked === null) return [];
  const amounts = amountsOf(asked);
  const near = (["memory", "runtime"] as const).flatMap((resource): ResourceFinding[] => {
    const peak = peaks[resource];
    if (peak === null || peak.share < NEAR_SHARE) return [];
    return [{ kind: "near_limit", resource, asked: peak.limit, used: peak.used, job: peak.job }];
  });
  // Jobs of one group may need very different amounts. What is too little for one is not too much for the group.
  const short = new Set<AskedResource>(near.map(({ resource }) => resource));
  const tooMuch = (Object.keys(amounts) as AskedResource[]).flatMap((resource): ResourceFinding[] => {
    const amount = amounts[resource];
    const used = needed[resource];
    if (amount === null || used === 0 || amount < TOO_LITTLE_TO_MIND[resource]) return [];
    if (short.has(resource) || amount < TOO_MANY_TIMES * used || roundedUp(resource, used) >= amount)
      return [];
    return [{ kind: "asked_too_much", resource, asked: amount, used, job: null }];
  });
  return [...near, ...tooMuch];
}

function amountsOf({ cpus, memoryBytes, runtimeMs }: ResourceRequirements): {
  readonly [resource in AskedResource]: number | null;
} {
  return { cpus, memory: memoryBytes, runtime: runtimeMs };
}

/** The requirements of the group with what the findings are about set to what was used, and something to spare. */
function suggestionFor({ asked, needed }: GroupUsage, findings: readonly ResourceFinding[]): string {
  const { cpus = 1, memoryBytes = null, runtimeMs = null, gpus = 0, nodes = 1 } = asked ?? {};
  const about = new Map(findings.map(({ resource, used }) => [resource, used]));
  const better = <T extends number | null>(resource: AskedResource, now: T): number | T => {
    const used = about.get(resource);
    // A job that was given more may have completed with more than the one that came nearest to its limit.
    return used === undefined ? now : roundedUp(resource, Math.max(used, needed[resource]));
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

/** The distribution over a group's attempts: median, 95th percentile and maximum. */
const SPREAD = object({ p50: number, p95: number, max: number });
type Spread = Of<typeof SPREAD>;
const each = <T>(of: Shape<T>) => ({
  cpus: nullable(of),
  memory_bytes: nullable(of),
  runtime_ms: nullable(of),
});

/** Jobs that ask for the same and are called alike: `train_01` and `train_02` are `train_*`. */
export const RESOURCE_GROUP = {
  name: text,
  jobs: number,
  attempts: number,
  asked: object(each(number)),
  /** `cpus`: processors at work, on average over an attempt. */
  used: object({ ...each(SPREAD), cpu_ms: number, read_bytes: number, written_bytes: number }),
  findings: list(RESOURCE_FINDING),
  suggestion: noted(
    nullable(text),
    "To be pasted into the workflow file; null: what is asked for is right, or nothing is.",
  ),
} as const;
type ResourceGroup = OfFields<typeof RESOURCE_GROUP>;

/** The most that an attempt used of what it had: 1 is all of it. */
interface Peak {
  readonly share: number;
  readonly limit: number;
  readonly used: number;
  readonly job: string;
}

/** What is known of a group before it is summed up. */
interface GroupUsage {
  readonly asked: ResourceRequirements | null;
  readonly cpus: number[];
  readonly memory: number[];
  readonly runtime: number[];
  /** The most that attempts used which succeeded; 0: none was measured. */
  readonly needed: { cpus: number; memory: number; runtime: number };
  readonly peaks: { memory: Peak | null; runtime: Peak | null };
}

interface Collected extends GroupUsage {
  readonly pattern: string;
  readonly jobs: Set<number>;
  attempts: number;
  cpuMs: number;
  readBytes: number;
  writtenBytes: number;
  firstName: string;
}

/** Too short to tell how many processors are at work: the start of a process alone takes some milliseconds. */
const MIN_TELLING_MS = 100;
const NUMBERS = /\d+(?:\.\d+)*/g;

/** Adds up attempts by the name and the requirements of their steps. */
export class ResourceGroups {
  private readonly groups = new Map<string, Collected>();
  private readonly keys = new Map<string, string>();

  add(usage: AttemptUsage, step: string, asked: ResourceRequirements | null): void {
    const group = this.groupOf(step, asked);
    group.jobs.add(usage.job);
    group.attempts += 1;
    group.cpuMs += usage.cpuMs ?? 0;
    group.readBytes += usage.readBytes ?? 0;
    group.writtenBytes += usage.writtenBytes ?? 0;
    const { peakMemoryBytes: memory, durationMs: runtime, cpuMs } = usage;
    const cpus = cpuMs === null || runtime < MIN_TELLING_MS ? null : cpuMs / runtime;
    group.runtime.push(runtime);
    if (memory !== null) group.memory.push(memory);
    if (cpus !== null) group.cpus.push(cpus);
    if (usage.hasSucceeded) {
      const { needed } = group;
      needed.runtime = Math.max(needed.runtime, runtime);
      needed.memory = Math.max(needed.memory, memory ?? 0);
      needed.cpus = Math.max(needed.cpus, cpus ?? 0);
    }
    const { peaks } = group;
    peaks.memory = higher(peaks.memory, memory, usage.asked?.memoryBytes ?? null, step);
    peaks.runtime = higher(peaks.runtime, runtime, usage.asked?.runtimeMs ?? null, step);
  }

  /** The groups. Those with findings come first, then by what they used. */
  result(): ResourceGroup[] {
    return [...this.groups.values()]
      .map(summedUp)
      .sort(
        (first, second) =>
          Number(second.findings.length > 0) - Number(first.findings.length > 0) ||
          second.used.cpu_ms - first.used.cpu_ms ||
          (first.name < second.name ? -1 : 1),
      );
  }

  private groupOf(step: string, asked: ResourceRequirements | null): Collected {
    const key = this.keys.get(step) ?? `${step.replaceAll(NUMBERS, "*")}\n${JSON.stringify(asked)}`;
    this.keys.set(step, key);
    const known = this.groups.get(key);
    if (known !== undefined) return known;
    const group: Collected = {
      ...{ asked, pattern: key.slice(0, key.indexOf("\n")), firstName: step, jobs: new Set(), attempts: 0 },
      ...{ cpus: [], memory: [], runtime: [], cpuMs: 0, readBytes: 0, writtenBytes: 0 },
      needed: { cpus: 0, memory: 0, runtime: 0 },
      peaks: { memory: null, runtime: null },
    };
    this.groups.set(key, group);
    return group;
  }
}

function higher(known: Peak | null, used: number | null, limit: number | null, job: string): Peak | null {
  if (used === null || limit === null || used / limit <= (known?.share ?? 0)) return known;
  return { share: used / limit, limit, used, job };
}

function summedUp(group: Collected): ResourceGroup {
  const { asked, jobs, firstName, pattern } = group;
  const name = jobs.size === 1 ? firstName : pattern;
  const findings = findingsOf(group).map((found) => (found.job === name ? { ...found, job: null } : found));
  return {
    name,
    jobs: jobs.size,
    attempts: group.attempts,
    asked: {
      cpus: asked?.cpus ?? null,
      memory_bytes: asked?.memoryBytes ?? null,
      runtime_ms: asked?.runtimeMs ?? null,
    },
    used: {
      cpus: spreadOf(group.cpus),
      memory_bytes: spreadOf(group.memory),
      runtime_ms: spreadOf(group.runtime),
      cpu_ms: group.cpuMs,
      read_bytes: group.readBytes,
      written_bytes: group.writtenBytes,
    },
    findings,
    suggestion: findings.length === 0 ? null : suggestionFor(group, findings),
  };
}

function spreadOf(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1]!;
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}
