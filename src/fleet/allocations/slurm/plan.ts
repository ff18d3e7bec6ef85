import { checkSpec, findTarget, readSiteOptions, refuse } from "../check-spec.js";
import { pilotScript, type ScriptDialect } from "../pilot-script.js";
import { type AllocationSpec, isRefusal, type Plan, type Refusal, type Target } from "../provider.js";

/** Options that Daruma sets itself, or that change the meaning of sbatch's answer. */
const RESERVED: ReadonlySet<string> = new Set(
  `-J --job-name -o --output -e --error -i --input --open-mode --export --export-file --get-user-env --wrap -a --array
  --parsable -W --wait --signal -t --time -N --nodes -n --ntasks --ntasks-per-node -c --cpus-per-task --mem
  --mem-per-cpu -D --chdir -p --partition -x --exclude -w --test-only -M --clusters -h --help --usage -V --version
  -A --account -q --qos --gres`.split(/\s+/),
);
const MINUTE_MS = 60_000;
const MEBIBYTE = 1024 ** 2;

/** Only the batch script gets USR1, at the warning time and at a preemption. Every process of the job gets TERM. */
const DIALECT: ScriptDialect = {
  id: '"$SLURM_JOB_ID"',
  restart: `"\${SLURM_RESTART_COUNT:-0}"`,
  node: '"$SLURMD_NODENAME"',
  drainOn: ["USR1"],
  handBackOn: ["TERM"],
  handBackRequests: 1,
  ownGroup: false,
  toldToLeaveExit: null,
  drainFile: null,
  // Programs started with srun then get the whole environment, not only the variables that sbatch passes on.
  before: ["export SLURM_EXPORT_ENV=ALL"],
};

export function planSlurm(spec: AllocationSpec, targets: readonly Target[]): Plan | Refusal {
  // Slurm rounds up to minutes, so the limit is checked the way Slurm will see it.
  const minutes = Math.ceil(spec.shape.runtimeMs / MINUTE_MS);
  const rounded = { ...spec, shape: { ...spec.shape, runtimeMs: minutes * MINUTE_MS } };
  const wrong = checkSpec(rounded, targets) ?? checkLogFile(spec);
  if (wrong !== null) return wrong;
  const extra = readSlurmOptions(spec.profile.options);
  if (isRefusal(extra)) return extra;
  return {
    spec,
    script: pilotScript(spec, DIALECT),
    argv: ["sbatch", ...ownOptions(spec, minutes), ...extra],
    warnings: warningsFor(spec, findTarget(spec, targets)),
  };
}

/** Splits further options into arguments. Refuses one that is malformed or set by Daruma. */
export function readSlurmOptions(options: readonly string[]): readonly string[] | Refusal {
  return readSiteOptions(options, RESERVED, "getopt");
}

function ownOptions(spec: AllocationSpec, minutes: number): string[] {
  const { shape, profile } = spec;
  const optional: readonly (readonly [string, string | null | undefined])[] = [
    ["partition", spec.target],
    ["account", profile.account],
    ["qos", profile.qos],
    ["gres", shape.gpus > 0 ? `${profile.gres ?? "gpu"}:${shape.gpus}` : null],
    ["exclude", spec.excludeNodes.length > 0 ? spec.excludeNodes.join(",") : null],
  ];
  return [
    "--parsable",
    `--job-name=${spec.key}`,
    `--nodes=${shape.nodes}`,
    "--ntasks-per-node=1",
    `--cpus-per-task=${shape.cpus}`,
    `--mem=${Math.ceil(shape.memoryBytes / MEBIBYTE)}M`,
    `--time=${minutes}`,
    `--signal=B:USR1@${Math.ceil(spec.drainMs / 1000)}`,
    `--output=${spec.logFile.replaceAll("%", "%%")}`,
    "--open-mode=append",
    "--chdir=/",
    // Never ALL: a token in the server's environment would end up in Slurm's files.
    "--export=PATH,HOME,LANG,USER,LOGNAME,SHELL",
    "--no-requeue",
    ...optional.flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [`--${name}=${value}`],
    ),
  ];
}

/** In an output file name, Slurm replaces what follows a percent sign, and a backslash turns that off. */
function checkLogFile({ logFile }: AllocationSpec): Refusal | null {
  return logFile.includes("\\")
    ? refuse("BAD_OPTION", `the log file ${JSON.stringify(logFile)} has a backslash in it`)
    : null;
}

function warningsFor(spec: AllocationSpec, target: Target | undefined): string[] {
  const warnings: string[] = [];
  if (spec.shape.runtimeMs % MINUTE_MS !== 0)
    warnings.push("Slurm counts in minutes: the time limit is rounded up");
  if (spec.drainMs < MINUTE_MS)
    warnings.push(
      "Slurm may send its warning up to a minute early: the pilot may drain sooner than asked for",
    );
  if (target?.preemptible === true)
    warnings.push(`${target.name} can be preempted: its jobs may be restarted elsewhere`);
  return warnings;
}
