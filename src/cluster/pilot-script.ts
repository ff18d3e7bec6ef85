import type { AllocationSpec } from "./provider.js";
import { shellQuote } from "./shell-quote.js";

/** How one batch system starts and stops a script. Texts are shell. */
export interface ScriptDialect {
  /** Of the job's id, of how often it was restarted, and of the node on which the script runs. */
  readonly id: string;
  readonly restart: string;
  readonly node: string;
  /** The signals that say: finish what runs and take nothing more. */
  readonly drainOn: readonly string[];
  /** The signals that say: the end comes in seconds. */
  readonly handBackOn: readonly string[];
  /** How often the script itself asks the worker to stop when the end comes; the worker hands back at the second request. */
  readonly handBackRequests: 1 | 2;
  /** The batch system signals the process group of the script, so the worker gets its own. */
  readonly ownGroup: boolean;
  /** The exit code of a script that was told to leave. Null: that of the worker, since the batch system tells the two apart. */
  readonly toldToLeaveExit: number | null;
  /** A file that asks to drain by being there. Null: the batch system can signal the script. */
  readonly drainFile: string | null;
  readonly before: readonly string[];
}

/** Exit codes of the script itself, after sysexits.h: no scratch folder. */
const EXIT_NO_SCRATCH = 73;
const WATCH_POLL_S = 2;
/** What a worker has to hand its jobs back once its script is gone. */
const HAND_BACK_S = 5;

/**
 * Starts the worker and passes on what the batch system wants. A worker drains at the first SIGTERM and hands its jobs
 * back at the second; a third would end it at once, so none is sent that the batch system sends already.
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
    // Two signals of one kind that meet become one, so there is a pause before the one that must count.
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
    // A signal interrupts `wait`; only the end of the worker ends the script.
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
    // Relative to the scratch folder: nothing of the pilot stays behind.
    "--output-dir=.",
    "&",
  ];
  return words.join(" ");
}

/**
 * Beside the worker, in a group of its own: passes a drain on, and ends a worker that has outlived the script. A worker in
 * a group of its own is not killed with the script, and must not take jobs on a node that is no longer its own.
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
