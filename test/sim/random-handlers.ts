/** Failure handlers of every kind: with and without scripts, for all exit codes or some, and one that raises resources. */
export const HANDLERS = [
  { name: "tidy", rules: [{ match_all_exit_codes: true, recovery_script: "./tidy.sh", max_retries: 3 }] },
  {
    name: "again",
    rules: [
      { match_all_exit_codes: true, max_retries: 2 },
      { exit_codes: [10], recovery_script: "./fix.sh", recovery_timeout_ms: 50, max_retries: 4 },
    ],
  },
  { name: "narrow", rules: [{ exit_codes: [10], max_retries: 3 }] },
  {
    name: "larger",
    rules: [
      { exit_codes: [137, 152], max_retries: 5, scale: { memory: 1.5, max_memory: "4m", runtime: 1.4 } },
      { match_all_exit_codes: true, max_retries: 2 },
    ],
  },
];
