import type { ShellToken } from "./shell-tokens.js";

/** A command with what stands before it and after it. */
export interface ShellCommand {
  /** Without the reserved words before it, such as `then`. */
  readonly words: readonly ShellToken[];
  readonly before: string;
  readonly after: string;
  /** The position of `after`. */
  readonly end: number;
  /** Whether it fails decides something: after `if`, `while`, `until`, `elif` or `!`. */
  readonly isCondition: boolean;
  /** Whether it closes a compound command, such as `done` or `}`. */
  readonly isClosing: boolean;
  /** The position of a `$?` that reads the previous command's status; null if there is none. */
  readonly status: number | null;
}

const ASKING: ReadonlySet<string> = new Set(["if", "while", "until", "elif"]);
const DECIDED: ReadonlySet<string> = new Set(["then", "do"]);
const LEADING: ReadonlySet<string> = new Set([...ASKING, ...DECIDED, "else", "{", "time", "!"]);
const CLOSING: ReadonlySet<string> = new Set(["fi", "done", "esac", "}", ")"]);

/** The commands of a list of tokens, in their order; what opens and closes a subshell is between commands. */
export function shellCommands(tokens: readonly ShellToken[]): readonly ShellCommand[] {
  const reader = new CommandReader();
  for (const token of tokens) reader.take(token);
  return reader.end(tokens.at(-1));
}

class CommandReader {
  readonly #commands: ShellCommand[] = [];
  #words: ShellToken[] = [];
  #before = "";
  #asks = false;
  /** The state within `case`, whose patterns are no commands. `in`: before that word; `pattern`: before its `)`. */
  #case: "in" | "pattern" | null = null;
  #cases = 0;
  #closesGroup = false;

  take(token: ShellToken): void {
    if (this.#case !== null) this.#readCase(token);
    else if (token.isWord) this.#words.push(token);
    else {
      this.#finish(token);
      this.#before = token.text;
      this.#closesGroup = token.text === ")";
      if (token.text.startsWith(";;") && this.#cases > 0) this.#case = "pattern";
    }
    if (this.#case === null && this.#words[0]?.text === "case") this.#beginCase();
  }

  end(last: ShellToken | undefined): readonly ShellCommand[] {
    const at = last === undefined ? 0 : last.at + last.text.length;
    this.#finish({ at, text: "", isWord: false, status: null });
    return this.#commands;
  }

  #beginCase(): void {
    this.#case = "in";
    this.#cases++;
  }

  #readCase(token: ShellToken): void {
    const { isWord, text } = token;
    if (this.#case === "in") {
      if (text !== "in") this.#words.push(token);
      else {
        this.#finish({ ...token, text: "" });
        this.#case = "pattern";
      }
    } else if (isWord && text === "esac") this.#endCase();
    else if (!isWord && text === ")") this.#case = null;
  }

  #endCase(): void {
    this.#case = null;
    this.#cases--;
    this.#closesGroup = true;
  }

  #finish({ text: after, at: end }: ShellToken): void {
    const isNegated = this.#words.some(({ text }, place) => text === "!" && this.#isLeading(place));
    let first = 0;
    for (; LEADING.has(this.#words[first]?.text ?? ""); first++) {
      if (ASKING.has(this.#words[first]!.text)) this.#asks = true;
      if (DECIDED.has(this.#words[first]!.text)) this.#asks = false;
    }
    if (this.#words[0]?.text === "esac") this.#cases--;
    const words = this.#words.slice(first);
    const isClosing = CLOSING.has(words[0]?.text ?? "") || (this.#closesGroup && words.length === 0);
    if (words.length > 0 || isClosing)
      this.#commands.push({
        words,
        before: this.#before,
        after,
        end,
        isCondition: this.#asks || isNegated,
        isClosing,
        // What stands before `else` did not run just now; the condition did.
        status: this.#isElse ? null : (this.#words.find(({ status }) => status !== null)?.status ?? null),
      });
    this.#words = [];
    this.#closesGroup = false;
  }

  get #isElse(): boolean {
    return this.#words[0]?.text === "else";
  }

  #isLeading(place: number): boolean {
    return this.#words.slice(0, place).every(({ text }) => LEADING.has(text));
  }
}
