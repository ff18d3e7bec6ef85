import type { AllocationCode } from "../allocation-end.js";
import type { Phase } from "../provider.js";

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
