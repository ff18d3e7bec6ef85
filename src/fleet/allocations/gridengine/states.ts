import {
  type AllocationCode,
  type AllocationEnd,
  allocationEnd,
  classifyUnknown,
} from "../allocation-end.js";
import type { AllocationStatus, KnownOfPilot, Phase } from "../provider.js";

/**
 * Meaning of the letters of `qstat`: `qw` waits, `hqw` is held, `Eqw` is in error, `t` is on its way to a host, `r`
 * runs, `Rr` runs again, `dr` is being deleted, `s` `S` `T` are suspended. The first match counts.
 */
const LETTERS: readonly (readonly [RegExp, { readonly phase: Phase; readonly stuck?: true }])[] = [
  [/z/, { phase: "unknown" }],
  [/E/, { phase: "pending", stuck: true }],
  [/d/, { phase: "ending" }],
  [/q.*h|h.*q/, { phase: "pending", stuck: true }],
  [/q|w/, { phase: "pending" }],
  [/t/, { phase: "starting" }],
  [/r|s|S|T/, { phase: "running" }],
];

export function meaningOfLetters(letters: string): { readonly phase: Phase; readonly stuck: boolean } {
  const found = LETTERS.find(([pattern]) => pattern.test(letters))?.[1];
  return { phase: found?.phase ?? "unknown", stuck: found?.stuck ?? false };
}

export function wasRestarted(letters: string): boolean {
  return letters.includes("R");
}

/**
 * Meaning of `failed` in `qacct`. Some numbers stand for two different ends; `classify` looks further for `by_exit`,
 * `by_limit` and `killed`.
 */
type FailedMeaning = AllocationCode | "by_exit" | "by_limit" | "killed";

const FAILED: { readonly [failed: number]: FailedMeaning } = {
  0: "by_exit",
  // Steps after the job, which do not affect how it ended.
  12: "by_exit", // before pestop
  13: "by_exit", // in pestop
  14: "by_exit", // before epilog
  15: "by_exit", // in epilog
  16: "by_exit", // releasing processor set
  24: "REQUEUED", // migrating
  25: "REQUEUED", // rescheduling: qmod -rj, exit code 99, or a lost host
  30: "PILOT_FAILED", // exit code 100
  37: "by_limit", // h_rt, h_cpu or h_vmem
  100: "killed", // qdel and kill -9 look the same
};

/** All other numbers are steps before the job: its shell, its output file, its folder, the prolog. */
export function meaningOfFailed(failed: number): FailedMeaning {
  return FAILED[failed] ?? "LAUNCH_FAILED";
}

/** The script's exit code when the batch system announced its end. Grid Engine reserves 99 and 100. */
export const EXIT_TOLD_TO_LEAVE = 75;

export function classifyGridEngine(status: AllocationStatus, known: KnownOfPilot): AllocationEnd | null {
  if (status.phase === "unknown") return classifyUnknown(status, known);
  const failed = /^failed (\d+)$/.exec(status.native.state)?.[1];
  if (status.stuck && failed === undefined) return allocationEnd("NEVER_STARTS", status);
  if (failed === undefined || (status.phase !== "ended" && !status.stuck)) return null;
  const meaning = meaningOfFailed(Number(failed));
  switch (meaning) {
    case "by_exit":
      return classifyByExit(status, known);
    case "by_limit":
      return classifyByLimit(status);
    case "killed":
      return known.cancelAsked
        ? allocationEnd("CANCELED", status)
        : allocationEnd("PILOT_FAILED", status, false);
    case "REQUEUED":
      // Not certain without times: both a lost host and a job that an operator reschedules have none.
      return allocationEnd("REQUEUED", status, status.endedAt !== null);
    default:
      return allocationEnd(meaning, status);
  }
}

/** Grid Engine does not count `qdel` as a failure, so only the script's exit code can say that it was told to leave. */
function classifyByExit(status: AllocationStatus, known: KnownOfPilot): AllocationEnd {
  const { exitCode } = status.native;
  if (exitCode === EXIT_TOLD_TO_LEAVE) return allocationEnd("CANCELED", status);
  const asItShould = exitCode === 0 && (known.registered || known.cancelAsked);
  return allocationEnd(asItShould ? "DRAINED" : "PILOT_FAILED", status);
}

/** Grid Engine has one number for the limits of time and of memory. */
function classifyByLimit(status: AllocationStatus): AllocationEnd {
  const { limit, peakMemoryBytes, startedAt, endedAt } = status;
  const ranMs = startedAt === null || endedAt === null ? null : endedAt - startedAt;
  if (limit.runtimeMs !== null && ranMs !== null && ranMs >= limit.runtimeMs)
    return allocationEnd("WALLTIME", status);
  if (limit.memoryBytes !== null && peakMemoryBytes !== null && peakMemoryBytes > limit.memoryBytes)
    return allocationEnd("OOM", status);
  return allocationEnd("WALLTIME", status, false);
}
