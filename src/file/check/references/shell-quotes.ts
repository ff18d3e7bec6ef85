/** How a shell would read a text that stands at some place of its line. */
export type ShellPlace =
  /** Between words, where `| sh` is right. */
  | "words"
  /** Within '...' or "...": quotes of its own would end them, or be taken for text. */
  | "quotes"
  /** In a here-document, where quotes are text. */
  | "document"
  /** In a here-document with a quoted delimiter, where nothing is special. */
  | "plain_document";

export interface Gap {
  readonly from: number;
  readonly to: number;
}

interface Document {
  readonly mark: string;
  readonly isPlain: boolean;
}

const ENDS = { "'": "'", "#": "\n" } as const;
const MARK = /^<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([^\s'"\\;|&<>()]+))/;

/**
 * Reads a line of POSIX shell with gaps in it, and tells how each gap stands. It knows quotes, substitutions and
 * here-documents; of anything stranger it thinks as of words.
 */
export function placesInShell(line: string, gaps: readonly Gap[]): ShellPlace[] {
  const reader = new ShellReader(line);
  return gaps.map(({ from, to }) => {
    reader.readTo(from);
    const place = reader.place();
    reader.skipTo(to);
    return place;
  });
}

class ShellReader {
  #at = 0;
  /** What is open, the innermost last; `'` and comments never hold anything. */
  readonly #open: ('"' | "'" | "(" | "`" | "#")[] = [];
  readonly #announced: Document[] = [];
  #document: Document | null = null;

  constructor(private readonly line: string) {}

  place(): ShellPlace {
    if (this.#document !== null) return this.#document.isPlain ? "plain_document" : "document";
    const innermost = this.#open.at(-1);
    return innermost === '"' || innermost === "'" ? "quotes" : "words";
  }

  skipTo(end: number): void {
    this.#at = end;
  }

  readTo(end: number): void {
    while (this.#at < end) {
      if (this.#document !== null) this.#readDocumentLine(this.#document);
      else this.#readCharacter();
    }
  }

  #readCharacter(): void {
    const character = this.line[this.#at]!;
    const innermost = this.#open.at(-1);
    if (innermost === "'" || innermost === "#") {
      if (character === ENDS[innermost]) this.#open.pop();
    } else if (character === "\\") this.#at++;
    else if (character === '"' || character === "`") this.#toggle(character);
    else if (character === "$" && this.line[this.#at + 1] === "(") {
      this.#open.push("(");
      this.#at++;
    } else if (innermost !== '"') this.#readWordCharacter(character);
    this.#at++;
  }

  #readWordCharacter(character: string): void {
    if (character === "'") this.#open.push("'");
    else if (character === "(") this.#open.push("(");
    else if (character === ")" && this.#open.at(-1) === "(") this.#open.pop();
    else if (character === "#" && /^$|[\s;&|(]/.test(this.line[this.#at - 1] ?? "")) this.#open.push("#");
    else if (character === "<") this.#announce();
    else if (character === "\n") this.#document = this.#announced.shift() ?? null;
  }

  #toggle(quote: '"' | "`"): void {
    if (this.#open.at(-1) === quote) this.#open.pop();
    else this.#open.push(quote);
  }

  /** `<<EOF`: what follows this line is a document; `<<<` is a word. */
  #announce(): void {
    if (this.line.startsWith("<<<", this.#at)) {
      this.#at += 2;
      return;
    }
    const found = MARK.exec(this.line.slice(this.#at, this.#at + 200));
    if (found === null) return;
    const [whole, single, double, bare] = found;
    const mark = single ?? double ?? bare ?? "";
    this.#announced.push({ mark, isPlain: bare === undefined || whole.includes("\\") });
    this.#at += whole.length - 1;
  }

  #readDocumentLine({ mark }: Document): void {
    const end = this.line.indexOf("\n", this.#at);
    const text = this.line.slice(this.#at, end === -1 ? this.line.length : end);
    const isWhole = this.line[this.#at - 1] === "\n";
    if (isWhole && text.replace(/^\t+/, "") === mark) this.#document = this.#announced.shift() ?? null;
    this.#at = end === -1 ? this.line.length : end + 1;
  }
}
