import type { ProcessExit, ProcessHost, ProcessSpec, RunningProcess } from "./process-host.js";

/** Variables by which some shells change how they run a line. A line may do without a new shell only without them. */
export const SHELL_SETTINGS = ["BASHOPTS", "POSIXLY_CORRECT", "SHELLOPTS"];

/** Letters that mean nothing to any shell: no quotes, globs, variables, redirections, braces, comments, tildes. */
const PLAIN_LINE = /^[ \t]*[\w./][\w./,:+@%=-]*(?:[ \t]+[\w./,:+@%=-]+)*[ \t]*\n?$/;
/** Beyond this a line is not worth looking at. */
const MAX_LINE_CHARS = 10_000;

/** What dash, bash, ksh or busybox take for a word of their own, although there may be a program of that name. */
const WORDS_OF_SHELLS: ReadonlySet<string> = new Set(
  `. : alias autoload bg bind break builtin caller case cd chdir command compgen complete compopt continue coproc declare
  dirs disown do done echo elif else enable esac eval exec exit export false fc fg fi float for function functions
  getopts hash help hist history if in integer jobs kill let local logout mapfile nameref popd print printf pushd pwd
  read readarray readonly return select set shift shopt source stop suspend test then time times trap true type
  typeset ulimit umask unalias unset until wait whence while`.split(/\s+/),
);

/**
 * The words of a line for which a shell would only start a program with them, such as `npm test`. Null if it could do
 * anything else. Without the shell a short step costs a quarter less, and a signal that ends the program is reported as
 * that signal with any shell (dash turns it into an exit code, bash does not).
 */
export function plainWordsOf(line: string, env: ProcessSpec["env"]): readonly string[] | null {
  if (line.length > MAX_LINE_CHARS || !PLAIN_LINE.test(line)) return null;
  const words = line.trim().split(/[ \t]+/);
  const [program] = words as [string];
  if (program.includes("=") || WORDS_OF_SHELLS.has(program)) return null;
  // bash takes functions from its environment.
  if (`BASH_FUNC_${program}%%` in env || SHELL_SETTINGS.some((name) => name in env)) return null;
  return words;
}

/** Starts the process without a shell where its line needs none. */
export function startCommand(host: ProcessHost, spec: ProcessSpec): RunningProcess {
  // A shell that the file makes up itself may set things up before it runs a text.
  const isPlain =
    typeof spec.exec === "string" && (spec.shell === undefined || typeof spec.shell === "string");
  const words = isPlain ? plainWordsOf(spec.exec, spec.env) : null;
  if (words === null) return host.start(spec);
  let running = host.start({ ...spec, exec: words });
  let isEnding = false;
  // What cannot be started is for the shell to judge: its words and exit codes (126, 127) are the ones people know.
  const viaShell = (exit: ProcessExit): ProcessExit | Promise<ProcessExit> => {
    if (exit.spawnError === undefined) return exit;
    if (isEnding) return { exitCode: null, signal: "SIGTERM" };
    running = host.start(spec);
    return running.exited;
  };
  const exited = running.exited.then(viaShell);
  return {
    exited,
    terminate: (graceMs) => {
      isEnding = true;
      return running.terminate(graceMs);
    },
  };
}
