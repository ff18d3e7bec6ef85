import type { AdvisedCommand, Call } from "./advised-commands.js";
import { type CommandText, shellWord } from "./words/shell-word.js";

export const ADVICE_KINDS = [
  "nothing",
  "wait",
  "mend",
  "explain",
  "logs",
  "workspace",
  "resume",
  "recover",
  "retry",
  "hard_reset",
  "resume_from",
  "redrive",
  "fork",
  "run",
  "resolve",
  "answer",
] as const;

/** What it comes down to; `nothing`, `wait` and `mend` have no command. */
export type AdviceKind = (typeof ADVICE_KINDS)[number];

/** One thing that can be done about a run as it stands. Its commands work as they are: nothing in them is left to fill in. */
export interface Advice {
  readonly kind: AdviceKind;
  /** What it does, and when it is the thing to do: a sentence, which ends with a colon before a command. */
  readonly text: string;
  /** Commands to type one after the other, each as its words after `daruma`. */
  readonly argv: readonly (readonly string[])[];
  /** The same advice as calls of operations, in order. */
  readonly calls: readonly Call[];
}

const INDENT = "  ";

export function advice(kind: AdviceKind, text: string, ...commands: readonly AdvisedCommand[]): Advice {
  return {
    kind,
    text,
    argv: commands.flatMap(({ argv }) => (argv === null ? [] : [argv])),
    calls: commands.flatMap(({ call }) => call ?? []),
  };
}

/** What to type, in one line; null where there is nothing to type. */
export function commandOf({ argv }: Pick<Advice, "argv">, type: CommandText): string | null {
  if (argv.length === 0) return null;
  return argv.map((words) => type(words.map(shellWord).join(" "))).join(" && ");
}

/** Formats advice for people. Each command gets a line of its own, so that it can be copied. */
export function adviceLines(advised: readonly Pick<Advice, "text" | "argv">[], type: CommandText): string[] {
  if (advised.length === 1 && advised[0]!.argv.length === 0) return [advised[0]!.text];
  return [
    "Next:",
    ...advised.flatMap((each) => {
      const command = commandOf(each, type);
      return [`- ${each.text}`, ...(command === null ? [] : [`${INDENT}${INDENT}${command}`])];
    }),
  ];
}
