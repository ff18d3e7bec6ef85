import { checkSpec, findTarget, readSiteOptions, refuse } from "../check-spec.js";
import { pilotScript, type ScriptDialect } from "../pilot-script.js";
import { type AllocationSpec, isRefusal, type Plan, type Refusal, type Target } from "../provider.js";
import { EXIT_TOLD_TO_LEAVE } from "./states.js";

/**
 * Options that Daruma sets itself, or that change what qsub does or prints. -V would pass on every secret of the
 * server.
 */
const RESERVED: ReadonlySet<string> = new Set(
  `-N -o -e -i -j -C -S -wd -cwd -terse -sync -now -inherit -t -b -shell -pe -q -masterq -P -v -V -w -notify -h
  -verify -help -clear -pty`.split(/\s+/),
);
const DEFAULT_PARALLEL_ENVIRONMENT = "smp";
const DEFAULT_MEMORY_RESOURCE = "mem_free";
/** Resources counted per slot. Others are defined for the host as a whole. */
const PER_SLOT = /_vmem$|^m_mem_free$/;
/** Values that are measured on a host, not configured. */
const LOAD_VALUE = /^(mem|virtual|swap)_(free|total|used)$/;
const SECOND_MS = 1000;
const MEBIBYTE = 1024 ** 2;
/** Node reserves address space that it never uses: it aborts with a limit of 1 GB and runs with 2 GB. */
const LEAST_ADDRESS_SPACE = 2 * 1024 ** 3;

/** USR1 comes at s_rt and before a suspension, USR2 before a KILL; both go to the process group of the script. */
const DIALECT: ScriptDialect = {
  id: '"$JOB_ID"',
  restart: `"\${RESTARTED:-0}"`,
  node: '"$(hostname)"',
  drainOn: ["USR1"],
  handBackOn: ["USR2", "TERM"],
  handBackRequests: 2,
  ownGroup: true,
  toldToLeaveExit: EXIT_TOLD_TO_LEAVE,
  drainFile: '"$SGE_STDOUT_PATH.drain"',
  before: [],
};

export function planGridEngine(spec: AllocationSpec, targets: readonly Target[]): Plan | Refusal {
  const wrong = checkQueues(spec, targets) ?? checkOwn(spec);
  if (wrong !== null) return wrong;
  const extra = readSiteOptions(spec.profile.options, RESERVED, "single-dash");
  if (isRefusal(extra)) return extra;
  return {
    spec,
    script: pilotScript(spec, DIALECT),
    argv: ["qsub", ...ownOptions(spec), ...extra],
    warnings: warningsFor(spec, findTarget(spec, targets)),
  };
}

/** Checks the spec against its queue, or without one against all queues, since any of them may take the job. */
function checkQueues(spec: AllocationSpec, targets: readonly Target[]): Refusal | null {
  if (spec.target !== null || targets.length === 0) return checkSpec(spec, targets);
  const refusals = targets.map(({ name }) => checkSpec({ ...spec, target: name }, targets));
  return refusals.includes(null) ? null : (refusals[0] ?? null);
}

function ownOptions(spec: AllocationSpec): string[] {
  const { shape, profile, target } = spec;
  const hard = shape.runtimeMs / SECOND_MS;
  const resources = [
    `h_rt=${Math.ceil(hard)}`,
    `s_rt=${Math.floor(hard - spec.drainMs / SECOND_MS)}`,
    memoryRequest(spec),
    ...(shape.gpus > 0 ? [`${profile.gres ?? "gpu"}=${shape.gpus}`] : []),
    ...(spec.excludeNodes.length > 0 ? [`hostname=!(${spec.excludeNodes.join("|")})`] : []),
  ];
  return [
    "-terse",
    // This prefix keeps lines of the script from being read as options.
    ...["-C", ""],
    ...["-N", spec.key],
    ...["-S", "/bin/bash"],
    ...["-wd", "/"],
    ...["-o", `:${spec.logFile}`],
    ...["-j", "y"],
    ...["-r", "n"],
    // qsub would refuse what does not fit in an empty cluster, but that check ignores load values.
    ...["-w", LOAD_VALUE.test(memoryResource(spec)) ? "n" : "e"],
    "-notify",
    ...["-v", "PATH,LANG"],
    ...["-l", resources.join(",")],
    ...(shape.cpus > 1
      ? ["-pe", profile.parallelEnvironment ?? DEFAULT_PARALLEL_ENVIRONMENT, String(shape.cpus)]
      : []),
    ...(target === null ? [] : ["-q", target]),
    ...(profile.account ? ["-P", profile.account] : []),
  ];
}

function memoryResource({ profile }: AllocationSpec): string {
  return profile.memoryResource ?? DEFAULT_MEMORY_RESOURCE;
}

function memoryRequest(spec: AllocationSpec): string {
  const { shape } = spec;
  const resource = memoryResource(spec);
  const bytes = PER_SLOT.test(resource) ? shape.memoryBytes / shape.cpus : shape.memoryBytes;
  return `${resource}=${Math.ceil(bytes / MEBIBYTE)}M`;
}

function checkOwn({ shape, logFile, profile }: AllocationSpec): Refusal | null {
  if (shape.nodes > 1)
    return refuse("TOO_BIG", `${shape.nodes} nodes asked for, but on Grid Engine an allocation has 1 node`);
  // qsub gives these characters a meaning: host, list, variable and escape.
  if (/[:,$\\]/.test(logFile))
    return refuse("BAD_OPTION", `the log file ${JSON.stringify(logFile)} has one of : , $ \\ in it`);
  if (profile.qos) return refuse("BAD_OPTION", "Grid Engine has no qos");
  return null;
}

function warningsFor(spec: AllocationSpec, target: Target | undefined): string[] {
  const { shape } = spec;
  const warnings: string[] = [];
  const resource = memoryResource(spec);
  if (!resource.endsWith("_vmem"))
    warnings.push(`memory is asked for as ${resource}, which places the job but does not limit it`);
  else if (shape.memoryBytes < LEAST_ADDRESS_SPACE)
    warnings.push(`${resource} limits the address space, and the worker needs at least 2 GB of it`);
  if (target?.preemptible === true) warnings.push(`${target.name} can be suspended by other queues`);
  return warnings;
}
