import type { AllocationSpec } from "./provider.js";

/** How one batch system starts and stops a script. All texts are shell code. */
export interface ScriptDialect {
  /** Shell expressions for the job's id, its number of restarts (`restart`) and the node of the script (`node`). */
  readonly id: string;
  readonly restart: string;
  readonly node: string;
  /** Signals that mean: finish running jobs and take no more. */
  readonly drainOn: readonly string[];
  /** Signals that mean: the end comes within seconds. */
  readonly handBackOn: readonly string[];
  /**
   * How often the script asks the worker to stop at the end. The worker hands its jobs back at the second request; some
   * batch systems send one themselves.
   */
  readonly handBackRequests: 1 | 2;
  /** The batch system signals the script's process group, so the worker gets a group of its own. */
  readonly ownGroup: boolean;
  /**
   * The exit code of a script that was told to leave. Null for the worker's own, if the batch system distinguishes the
   * two by itself.
   */
  readonly toldToLeaveExit: number | null;
  /** A file whose existence asks the script to drain. Null if the batch system can signal the script. */
  readonly drainFile: string | null;
  readonly before: readonly string[];
}

/** Exit code of the script itself, in the style of sysexits.h: it could not make a scratch folder. */
const EXIT_NO_SCRATCH = 73;
const WATCH_POLL_S = 2;
/** Time for a worker to hand its jobs back after its script is gone. */
const HAND_BACK_S = 5;

/**
 * Starts the worker and passes on the wishes of the batch system. A worker drains at the first SIGTERM and hands its
 * jobs back at the second. A third would end it at once, so the script does not repeat one that the batch system sends.
 */
export function pilotScript(spec: AllocationSpec, dialect: ScriptDialect): string {
  const { drainOn, handBackOn } = dialect;
  return [
    "#!/bin/bash",
    ...dialect.before,
    "worker=''",
    "watcher=''",
    "told_to_leave=''",
    "leave() {",
    ...(dialect.toldToLeaveExit === null
      ? []
      : [`  [ -z "$told_to_leave" ] || exit ${dialect.toldToLeaveExit}`]),
    '  exit "$1"',
    "}",
    "stop_worker() {",
    '  [ -n "$worker" ] || leave 0',
    '  kill -TERM "$worker" 2>/dev/null',
    "}",
    "drain() { stop_worker; }",
    // Simultaneous signals of one kind merge, so there is a pause before the one that must arrive.
    "hand_back() {",
    "  told_to_leave=yes",
    ...(dialect.handBackRequests === 2 ? ["  stop_worker"] : []),
    "  sleep 0.5",
    "  stop_worker",
    "}",
    `trap drain ${drainOn.join(" ")}`,
    `trap hand_back ${handBackOn.join(" ")}`,
    ...spec.profile.setup,
    `scratch=$(mktemp -d "\${TMPDIR:-/tmp}/daruma.XXXXXX") || exit ${EXIT_NO_SCRATCH}`,
    `trap 'cd /; rm -rf "$scratch"; [ -z "$watcher" ] || kill -- "-$watcher"' EXIT`,
    `cd "$scratch" || exit ${EXIT_NO_SCRATCH}`,
    ...(dialect.ownGroup ? ["set -m"] : []),
    workerCommand(spec, dialect),
    "worker=$!",
    ...(dialect.drainFile === null ? [] : watchOver(dialect.drainFile)),
    // A signal interrupts `wait`, but the script must end only when the worker ends.
    "while :; do",
    '  wait "$worker"',
    "  status=$?",
    '  kill -0 "$worker" 2>/dev/null && continue',
    '  wait "$worker" 2>/dev/null',
    "  again=$?",
    '  [ "$again" -ne 127 ] && status=$again',
    '  leave "$status"',
    "done",
    "",
  ].join("\n");
}

function workerCommand(spec: AllocationSpec, dialect: ScriptDialect): string {
  const { cluster, profile, shape } = spec;
  const flags: readonly (readonly [string, string])[] = [
    ["server", shellQuote(spec.server)],
    ["token-file", shellQuote(spec.tokenFile)],
    ["name", `${shellQuote(cluster)}-${dialect.id}-${dialect.restart}-${dialect.node}`],
    ["tags", shellQuote(spec.tags.join(","))],
    ["lifetime", seconds(shape.runtimeMs)],
    ["drain-before", seconds(spec.drainMs)],
    ["idle-exit", seconds(spec.idleExitMs)],
    ["allocation", `${shellQuote(cluster)}/${dialect.id}`],
    ["restart", dialect.restart],
    ["node", dialect.node],
    ...(spec.slots === undefined ? [] : [["slots", String(spec.slots)] as const]),
  ];
  const words = [
    ...profile.program.map(shellQuote),
    "worker",
    ...flags.map(([name, value]) => `--${name}=${value}`),
    // Relative to the scratch folder, so that nothing of the pilot stays behind.
    "--output-dir=.",
    "&",
  ];
  return words.join(" ");
}

/**
 * Shell code of a watcher in a group of its own. It passes a drain on and ends a worker that has outlived the script: a
 * worker in a group of its own is not killed with the script, and must not take jobs on a node that it no longer has.
 */
function watchOver(drainFile: string): string[] {
  return [
    "script=$$",
    `( while sleep ${WATCH_POLL_S}; do`,
    `    [ -e ${drainFile} ] && rm -f ${drainFile} && kill -TERM "$worker"`,
    '    kill -0 "$script" 2>/dev/null && continue',
    '    kill -TERM "$worker" && sleep 0.5 && kill -TERM "$worker"',
    `    sleep ${HAND_BACK_S}`,
    '    kill -KILL -- "-$worker"',
    "    exit",
    "  done ) 2>/dev/null &",
    "watcher=$!",
  ];
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)}s`;
}

/** Quotes any text as one shell word. */
function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
