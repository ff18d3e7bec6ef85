/** A word, or what stands between commands: `;`, `|`, `&&`, `(`, a new line. */
interface ShellToken {
  readonly at: number;
  readonly text: string;
  readonly isWord: boolean;
  /** The position of `$?` in it; null if it has none. */
  readonly status: number | null;
}

const LIQUID_PART = /\{\{.*?\}\}|\{%.*?%\}/gs;
const OPERATOR = /^(?:;;&|;;|;&|&&|\|\||\|&|[;&|()\n])/;
const REDIRECTION = /^(?:<<<|&>>?|[<>]&|>\||<>|>>|[<>])/;
const MARK = /^<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([^\s'"\\;|&<>()]+))/;
/** An operator or the mark of a here-document is never longer. */
const MAX_MARK_CHARS = 200;

/**
 * The tokens of a shell text and of every `$(...)` in it, each a list of its own. Templates stand for some word. It knows
 * quotes, substitutions, comments and here-documents; of anything stranger it thinks as of words.
 */
export function shellTokens(text: string): readonly (readonly ShellToken[])[] {
  const tokenizer = new Tokenizer(text.replace(LIQUID_PART, (part) => "x".repeat(part.length)));
  tokenizer.readList(null);
  return tokenizer.lists;
}

class Tokenizer {
  readonly lists: ShellToken[][] = [];
  #at = 0;
  #wordFrom: number | null = null;
  #status: number | null = null;
  #marks: string[] = [];

  constructor(private readonly text: string) {}

  /** Up to `end`, which is passed; null: to the end of the text. */
  readList(end: ")" | "`" | null): void {
    const tokens: ShellToken[] = [];
    this.lists.push(tokens);
    let depth = 0;
    while (this.#at < this.text.length) {
      const character = this.text[this.#at]!;
      if (character === end && depth === 0) break;
      if (character === "(") depth++;
      if (character === ")" && depth > 0) depth--;
      this.#readPart(character, tokens);
    }
    this.#endWord(tokens);
    this.#at++;
  }

  #readPart(character: string, tokens: ShellToken[]): void {
    const rest = this.text.slice(this.#at, this.#at + MAX_MARK_CHARS);
    if (character === "#" && this.#wordFrom === null) return this.#skipComment();
    if (this.#announce(rest)) return;
    const redirection = REDIRECTION.exec(rest)?.[0];
    const operator = redirection === undefined ? OPERATOR.exec(rest)?.[0] : undefined;
    if (operator !== undefined) {
      this.#endWord(tokens);
      tokens.push({ at: this.#at, text: operator, isWord: false, status: null });
      this.#at += operator.length;
      if (operator === "\n") this.#skipDocuments();
    } else if (character === " " || character === "\t") {
      this.#endWord(tokens);
      this.#at++;
    } else {
      this.#wordFrom ??= this.#at;
      if (redirection === undefined) this.#readInWord(character);
      else this.#at += redirection.length;
    }
  }

  #readInWord(character: string): void {
    if (character === "\\") this.#at += 2;
    else if (character === "'") this.#skipTo("'");
    else if (character === '"') this.#readQuoted();
    else if (!this.#readExpansion(character)) this.#at++;
  }

  #readQuoted(): void {
    this.#at++;
    while (this.#at < this.text.length && this.text[this.#at] !== '"') {
      const character = this.text[this.#at]!;
      if (character === "\\") this.#at += 2;
      else if (!this.#readExpansion(character)) this.#at++;
    }
    this.#at++;
  }

  #readExpansion(character: string): boolean {
    if (character === "`") return this.#readNested(1, "`");
    if (character !== "$") return false;
    const next = this.text[this.#at + 1];
    if (next === "?") {
      this.#status ??= this.#at;
      this.#at += 2;
      return true;
    }
    if (next === "(") return this.#readNested(2, ")");
    if (next !== "{") return false;
    this.#skipBraces();
    return true;
  }

  /** Its tokens are a list of their own; the word around it goes on. */
  #readNested(opening: number, end: ")" | "`"): true {
    const [from, status] = [this.#wordFrom, this.#status];
    this.#wordFrom = null;
    this.#status = null;
    this.#at += opening;
    this.readList(end);
    this.#wordFrom = from;
    this.#status = status;
    return true;
  }

  #skipBraces(): void {
    let depth = 0;
    for (; this.#at < this.text.length; this.#at++) {
      const character = this.text[this.#at];
      if (character === "\\") this.#at++;
      else if (character === "{") depth++;
      else if (character === "}" && --depth === 0) break;
    }
    this.#at++;
  }

  #skipTo(end: string): void {
    const found = this.text.indexOf(end, this.#at + 1);
    this.#at = found === -1 ? this.text.length : found + 1;
  }

  #skipComment(): void {
    const found = this.text.indexOf("\n", this.#at);
    this.#at = found === -1 ? this.text.length : found;
  }

  /** `<<EOF`: what follows this line is a document. */
  #announce(rest: string): boolean {
    const found = rest.startsWith("<<<") ? null : MARK.exec(rest);
    if (found === null) return false;
    this.#marks.push(found[1] ?? found[2] ?? found[3] ?? "");
    this.#wordFrom ??= this.#at;
    this.#at += found[0].length;
    return true;
  }

  #skipDocuments(): void {
    for (const mark of this.#marks) {
      while (this.#at < this.text.length) {
        const end = this.text.indexOf("\n", this.#at);
        const line = this.text.slice(this.#at, end === -1 ? this.text.length : end);
        this.#at = end === -1 ? this.text.length : end + 1;
        if (line.replace(/^\t+/, "") === mark) break;
      }
    }
    this.#marks = [];
  }

  #endWord(tokens: ShellToken[]): void {
    const from = this.#wordFrom;
    if (from !== null)
      tokens.push({ at: from, text: this.text.slice(from, this.#at), isWord: true, status: this.#status });
    this.#wordFrom = null;
    this.#status = null;
  }
}

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
