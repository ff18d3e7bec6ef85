/** Command lines with which a text is run; it is the last argument. `--` allows it to begin with a dash. */
const SHELL_ARGV = {
  sh: ["/bin/sh", "-e", "-c", "--"],
  bash: ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", "--"],
  plain_sh: ["/bin/sh", "-c", "--"],
  plain_bash: ["bash", "-c", "--"],
} as const satisfies { readonly [name: string]: readonly string[] };

/** What a file may name. A list is a program with its arguments, for which nobody knows what a text means. */
export type WrittenShell = (typeof SHELL_WORDS)[number] | readonly string[];
export const SHELL_WORDS = ["sh", "bash"] as const;

/** What starts a text. */
export type Shell = keyof typeof SHELL_ARGV | readonly string[];

/**
 * The shell of the batch form: `bash -c` if the worker has a bash, else `sh -c`. `attempt.started` records which one it
 * was; until then a definition has this value.
 */
export const BASH_OR_SH = "bash_or_sh";

/** What began an attempt of the batch form, as its event says it. */
export type FoundShell = (typeof SHELL_WORDS)[number];

/** A definition says nothing of the shell for texts that run as plain `sh -c`, such as recovery scripts. */
export function shellArgv(shell: Shell = "plain_sh"): readonly string[] {
  return typeof shell === "string" ? SHELL_ARGV[shell] : shell;
}

/** The text ends at its first command that fails. */
export function stopsAtFailure(shell: Shell): boolean {
  return shellFlags(shell).some((flag) => /^-[A-Za-z]*e[A-Za-z]*$/.test(flag));
}

/** A failure before the last command of a pipe counts. */
export function noticesPipes(shell: Shell): boolean {
  return shellFlags(shell).includes("pipefail");
}

const SHELLS: ReadonlySet<string> = new Set(["sh", "ash", "bash", "dash", "ksh", "mksh", "zsh"]);

/** None of a program that is no shell. */
function shellFlags(shell: Shell): readonly string[] {
  const [program = "", ...flags] = shellArgv(shell);
  return SHELLS.has(program.slice(program.lastIndexOf("/") + 1)) ? flags : [];
}

/** The shell as people write it: `sh -e`, `bash -e -o pipefail`. */
export function shellText(shell: Shell | typeof BASH_OR_SH): string {
  if (shell === BASH_OR_SH) return "bash -c, or sh -c where there is no bash";
  if (shell === "sh") return "sh -e -c";
  if (shell === "bash") return "bash -e -o pipefail -c";
  return shellArgv(shell).join(" ");
}
