/** A word, or what stands between commands: `;`, `|`, `&&`, `(`, a new line. */
export interface ShellToken {
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
