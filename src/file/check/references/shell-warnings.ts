import { type NameRead, type Printed, placeInText, type TextWithNames } from "../../read/placed-text.js";
import type { Findings } from "../../read/problem.js";
import { quote } from "../../read/suggest.js";

/** How a shell would read a text that stands at some place of its line. */
type ShellPlace =
  /** Between words, where `| sh` is right. */
  | "words"
  /** Within '...' or "...": quotes of its own would end them, or be taken for text. */
  | "quotes"
  /** In a here-document, where quotes are text. */
  | "document"
  /** In a here-document with a quoted delimiter, where nothing is special. */
  | "plain_document";

interface Gap {
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

const LIQUID_PART = /\{\{.*?\}\}|\{%.*?%\}/gs;
const SHELL_FILTER = "sh";
/** Filters that give a number, whatever they are given. */
const NUMBER_FILTERS = new Set(
  "abs at_least at_most ceil divided_by floor minus modulo plus round size times".split(" "),
);
/** Values that Daruma makes itself, of letters and digits. */
const SAFE_VALUES = new Set([
  ...["attempt", "visit", "loop", "foreach.index", "foreach.total", "step.id"],
  ...["error", "failure"].flatMap((name) => [`${name}.class`, `${name}.exitCode`, `${name}.exit_code`]),
  ...["failure.step", "failure.attempt", "failure.job_id"],
]);

/** Values in a shell line that the shell would take for more than a word: `$(rm -r ~)` in an input is run. */
export function warnOfShellWords(
  text: TextWithNames,
  plainInputs: ReadonlySet<string>,
  findings: Findings,
): void {
  const risky = text.names.prints.filter(({ reads }) => reads.some((read) => !isSafe(read, plainInputs)));
  if (risky.length === 0) return;
  const gaps = [...text.text.matchAll(LIQUID_PART)].map((match) => ({
    from: match.index,
    to: match.index + match[0].length,
  }));
  const places = placesInShell(text.text, gaps);
  for (const printed of risky) {
    const gap = gaps.findLastIndex(({ from }) => from <= printed.from);
    const warning = warningFor(printed, places[gap] ?? "words", text.text);
    if (warning === null) continue;
    const inside = placeInText(text, printed.from);
    findings.warn({ code: "UNQUOTED_IN_SHELL", ...warning, at: text.node.at, path: text.path, inside });
  }
}

function isSafe({ path }: NameRead, plainInputs: ReadonlySet<string>): boolean {
  const [root, member] = path;
  if (root?.name === "inputs" && member !== undefined) return plainInputs.has(member.name);
  return SAFE_VALUES.has(path.map(({ name }) => name).join("."));
}

function warningFor(
  { from, to, filters }: Printed,
  place: ShellPlace,
  text: string,
): { readonly message: string; readonly hint: string } | null {
  const written = text.slice(from, to);
  const shown = quote(written);
  if (filters.includes(SHELL_FILTER)) {
    if (place !== "quotes") return null;
    const hint =
      "Remove the quotes around it: `| sh` adds its own, and inside other quotes they do not protect.";
    return { message: `${shown} is quoted twice`, hint };
  }
  const last = filters.findLast((name) => /^\w+$/.test(name));
  if (place === "plain_document" || (last !== undefined && NUMBER_FILTERS.has(last))) return null;
  const message = `${shown} is not quoted: the shell would run its contents`;
  if (place === "document")
    return {
      message,
      hint: "Quote the here-document's delimiter (`<<'EOF'`), or pass the value in `env`.",
    };
  const quoted = quote(written.replace(/\s*(-?(?:\}\}|%\}))$/, " | sh $1"));
  return {
    message,
    hint: place === "quotes" ? `Write ${quoted}, outside of the quotes.` : `Write ${quoted}.`,
  };
}
