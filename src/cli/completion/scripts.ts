import type { Command } from "commander";

export type Shell = keyof typeof COMPLETIONS;

/** A completion script for each shell. Each finds the command being typed by its words, then offers what it accepts. */
export const COMPLETIONS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

const words = (list: readonly CompletedWord[]): string => list.map(({ word }) => word).join(" ");

/** A bash script. If it offers nothing, bash and zsh complete file names. */
function bashScript(trees: readonly WordTree[]): string {
  return `# bash completion for daruma; to use it now: source <(daruma completion bash)
_daruma() {
  local current=\${COMP_WORDS[COMP_CWORD]} command="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "\${command:+$command }$word" in
${casePatterns(trees)}) command="\${command:+$command }$word" ;;
    esac
  done
  local commands="" flags=""
  case "$command" in
${trees
  .map(
    ({ path, commands, flags }) =>
      `    ${quoted(path)}) commands="${words(commands)}" flags="${words(flags)}" ;;`,
  )
  .join("\n")}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}
complete -o default -o bashdefault -F _daruma daruma
`;
}

function zshScript(trees: readonly WordTree[]): string {
  const described = (list: readonly CompletedWord[]): string =>
    list.map(({ word, summary }) => quoted(`${word.replaceAll(":", "\\:")}:${summary}`)).join(" ");
  return `#compdef daruma
# zsh completion for daruma; to use it now: source <(daruma completion zsh)
_daruma() {
  local command="" word
  local -a offered
  for word in \${words[2,CURRENT-1]}; do
    case "\${command:+$command }$word" in
${casePatterns(trees)}) command="\${command:+$command }$word" ;;
    esac
  done
  if [[ $PREFIX == -* ]]; then
    case "$command" in
${trees.map(({ path, flags }) => `      ${quoted(path)}) offered=(${described(flags)}) ;;`).join("\n")}
    esac
  else
    case "$command" in
${trees
  .filter(({ commands }) => commands.length > 0)
  .map(({ path, commands }) => `      ${quoted(path)}) offered=(${described(commands)}) ;;`)
  .join("\n")}
    esac
  fi
  if (( \${#offered} )); then
    _describe daruma offered
  else
    _files
  fi
}
compdef _daruma daruma
`;
}

function fishScript(trees: readonly WordTree[]): string {
  const lines = trees.flatMap(({ path, commands, flags }) => {
    const here = `-n "__daruma_at ${quoted(path)}"`;
    return [
      ...commands.map(
        ({ word, summary }) => `complete -c daruma -f ${here} -a ${word} -d ${quoted(summary)}`,
      ),
      ...flags.map(
        ({ word, summary }) => `complete -c daruma ${here} -l ${word.slice(2)} -d ${quoted(summary)}`,
      ),
    ];
  });
  return `# fish completion for daruma; to use it now: daruma completion fish | source
function __daruma_at --argument-names wanted
    set -l command
    for word in (commandline -opc)[2..]
        set -l next (string join ' ' -- $command $word)
        if contains -- "$next" ${trees
          .filter(({ path }) => path !== "")
          .map(({ path }) => quoted(path))
          .join(" ")}
            set command $next
        end
    end
    test "$command" = "$wanted"
end
${lines.join("\n")}
`;
}

function casePatterns(trees: readonly WordTree[]): string {
  const paths = trees.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  return `      ${paths.join("|")}`;
}

/** Quotes a text in single quotes, which all three shells understand. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "").replaceAll("'", "’")}'`;
}

/** The words of one command, for completion. */
interface WordTree {
  /** The command's words, such as `token create`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly CompletedWord[];
  readonly flags: readonly CompletedWord[];
}

interface CompletedWord {
  readonly word: string;
  readonly summary: string;
}

/** The words of a program and all its commands, the outermost first. Every command also has the general flags. */
export function wordTrees(program: Command): WordTree[] {
  const general = flagsOf(program);
  const visit = (command: Command, path: string): WordTree[] => [
    {
      path,
      commands: command.commands.map((each) => ({
        word: each.name(),
        summary: firstLine(each.description()),
      })),
      flags: path === "" ? general : unique([...flagsOf(command), ...general]),
    },
    ...command.commands.flatMap((each) => visit(each, path === "" ? each.name() : `${path} ${each.name()}`)),
  ];
  return visit(program, "");
}

function flagsOf(command: Command): CompletedWord[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) =>
      long == null ? [] : [{ word: long, summary: firstLine(description) }],
    );
}

function unique(words: readonly CompletedWord[]): CompletedWord[] {
  return [...new Map(words.map((each) => [each.word, each])).values()];
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!;
}
