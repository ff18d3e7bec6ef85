/**
 * Words of other programs, and what does the same here: one line each, ours in backquotes. They are answers to what
 * is unknown, so a word that is ours where it stands never gets here.
 */
const WORDS = {
  command: {
    status: "`daruma show RUN` shows a run, `daruma list` all of them",
    stop: "`daruma cancel RUN` ends a run, `daruma pause RUN` lets it wait",
    start: "`daruma run FILE` runs a file, `daruma serve` starts a server",
    check: "`daruma validate FILE` checks a file",
    lint: "`daruma validate FILE` checks a file",
    plan: "`daruma run FILE --reuse --dry-run` says what a run would do, `daruma validate FILE` checks the file",
    rerun: "`daruma retry RUN STEP` runs a step again, `daruma run FILE --reuse` only what has not completed",
    runs: "`daruma list` lists the runs",
    ls: "`daruma list` lists the runs",
    ps: "`daruma list --status running` lists the runs that are going on",
    kill: "`daruma cancel RUN --now` ends a run at once",
    ui: "`daruma serve --open` starts a server and opens its page, `daruma page` opens that of a server",
    version: "`daruma --version` prints the version",
    rm: "`daruma prune` removes runs that are over",
    clean: "`daruma prune` removes runs that are over",
    slurm:
      "`daruma run FILE --server URL` runs a file on the cluster of a server, `daruma cluster plan` and `daruma allocations` show what is submitted",
  },
  flag: {
    "--dry-run": "`daruma run FILE --reuse --dry-run` says what a run would do, and runs nothing",
    "-n": "`daruma run FILE --reuse --dry-run` says what a run would do, and runs nothing",
    "-j": "`--max-parallel N` says how many attempts run at a time",
    "-k": "what does not depend on a failed step runs anyway; `failure_policy: fail_fast` in the file turns that off",
  },
  /** Files by name or ending. FILE is what was named. */
  file: {
    ".js": "`node FILE` starts it: a program runs its workflows itself",
    ".mjs": "`node FILE` starts it: a program runs its workflows itself",
    ".cjs": "`node FILE` starts it: a program runs its workflows itself",
    ".ts": "`node FILE` starts it: a program runs its workflows itself",
    ".mts": "`node FILE` starts it: a program runs its workflows itself",
    ".cts": "`node FILE` starts it: a program runs its workflows itself",
    ".py": "a step runs it: `daruma init` writes a workflow file, with `exec: python FILE`",
    ".sh": "a step runs it: `daruma init` writes a workflow file, with `exec: sh FILE`",
    "package.json": "`daruma init`, in its folder, writes a workflow file that runs its scripts",
    "pyproject.toml": "`daruma init`, in its folder, writes a workflow file that runs its tools",
    Makefile: "`daruma init`, in its folder, writes a workflow file that runs its targets",
    makefile:
      "rename it to Makefile; `daruma init`, in its folder, then writes a workflow file that runs its targets",
  },
  key: {
    run: "write the command as `exec` (of `jobs`: `command`)",
    script: "write the command as `exec` (of `jobs`: `command`)",
    command: "write the command as `exec`",
    needs: "write the steps it waits for as `depends_on`",
    retry: "write it in `on_fail`, such as `on_fail: { retry: { max: 3 } }`",
    retries: "write it in `on_fail`, such as `on_fail: { retry: { max: 3 } }`",
    timeout: "write it as `timeout_ms`, such as `timeout_ms: 10m`",
    "timeout-minutes": "write it as `timeout_ms`, such as `timeout_ms: 10m`",
    matrix: "write `jobs` with `parameters`, or a step with `forEach: true` whose output is a list",
    strategy: "write `jobs` with `parameters`, or a step with `forEach: true` whose output is a list",
    "if-failure":
      "write what a failure leads to in `on_fail`, or as one of the `transitions` with `on: failure`",
    "continue-on-error": "write `continue_on_failure: true`",
    env_file: "write the variables as `env`, or read the file in the command, as in `exec: . ./FILE && make`",
    image:
      "a step runs on the machine; start the container in the command, as in `exec: docker run --rm IMAGE make`",
    transform_js: "a step has one output; change it in a `script` step that depends on this one",
    on: "a file runs when it is told to; say what started it with --context, and decide with `if`",
    failure_conditions: "write a failure that the output shows as `fail_if`",
    project: "write it as `labels`, a map of texts by which runs are found",
    metadata: "write it as `labels`, a map of texts by which runs are found",
    execution_config:
      "how jobs start is in the settings of the cluster, how they end in their `kill_grace_ms`",
    enable_ro_crate: "every attempt records its files with their SHA-256 in any case",
    datasets: "write the files as `files`, or the jobs to wait for as `depends_on`",
    input_datasets: "write the files as `input_files`, or the jobs to wait for as `depends_on`",
    output_datasets: "write the files as `output_files`; whoever needs them names this one in `depends_on`",
    parameters_file: "write the rows as `parameters` with `parameter_mode: zip`",
    use_parameters_file: "write the rows as `parameters` with `parameter_mode: zip`",
    dynamic_jobs:
      "a run cannot add jobs to itself; use `steps`, one with `forEach: true` and a list as its output",
    serialize_allocations:
      "a job for which an allocation has not enough time left gets the next one; `num_allocations: 1` keeps it to one at a time",
    stdio: "what a job prints is always kept; `max_log` says how much of it",
  },
} as const;

/** What to write instead of another program's word; null if the word is unknown. */
export function oursFor(kind: keyof typeof WORDS, word: string): string | null {
  const words: { readonly [word: string]: string } = WORDS[kind];
  return Object.hasOwn(words, word) ? words[word]! : null;
}

/** All words of one kind, for documents and tests. */
export function foreignWords(kind: keyof typeof WORDS): readonly string[] {
  return Object.keys(WORDS[kind]);
}
