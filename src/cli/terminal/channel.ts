import { StringDecoder } from "node:string_decoder";
import { plainText } from "../../core/text/plain-text.js";
import { ansiPaint, type Paint, plainPaint, shownLine } from "../render/paint.js";

const ESCAPE = String.fromCharCode(0x1b);
const COLOURS = new RegExp(`(${ESCAPE}\\[[0-9;:]*m)`);
/** The beginning of an unfinished escape sequence: colours and moves, strings such as titles, the rest. */
const UNFINISHED = new RegExp(
  [
    `(?:${ESCAPE}\\[|\u009b)[0-?]*[ -/]*$`,
    `(?:${ESCAPE}[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007${ESCAPE}\u009c\\n]*(?:${ESCAPE})?$`,
    `${ESCAPE}[ -/]*$`,
    "\\r$",
  ].join("|"),
);
/** A longer unfinished sequence is treated as ordinary text. */
const MAX_HELD_CHARS = 4_096;

/**
 * Makes output of a step or file safe for a terminal. Colours stay; titles, links, cursor moves, other control
 * characters and marks that reorder a line are removed. The text may come in pieces.
 */
export class TerminalText {
  private readonly decoder = new StringDecoder("utf8");
  private held = "";

  write(bytes: Uint8Array): string {
    const text = this.held + this.decoder.write(Buffer.from(bytes));
    const at = UNFINISHED.exec(text.slice(-MAX_HELD_CHARS))?.index ?? null;
    const end = at === null ? text.length : Math.max(0, text.length - MAX_HELD_CHARS) + at;
    this.held = text.slice(end);
    return terminalText(text.slice(0, end));
  }
}

export function terminalText(text: string): string {
  return text
    .split(COLOURS)
    .map((piece, index) => (index % 2 === 1 ? piece : plainText(piece)))
    .join("");
}

/** One of the two output streams, with what renderers need to know about it. */
export interface Channel {
  write(text: string | Uint8Array): void;
  readonly isTerminal: boolean;
  readonly paint: Paint;
  /** The terminal's width. Infinity for a pipe or a file, where lines must not be cut. */
  width(): number;
  height(): number;
}

export interface Session {
  /** For results. */
  readonly out: Channel;
  /** For progress and errors. */
  readonly err: Channel;
  readonly options: GlobalOptions;
}

export interface GlobalOptions {
  readonly outputDir: string;
  /** A database file, or the address of a PostgreSQL database. By default the database in the output folder. */
  readonly store?: string | undefined;
  /** The address of a server that executes the command. By default this process does. */
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  /** The settings file that was named. */
  readonly config?: string | undefined;
  /** Uses no settings, neither from a file in this folder nor from one that the environment names. */
  readonly noConfig?: boolean;
  readonly json: boolean;
  readonly color: boolean;
  readonly quiet: boolean;
  readonly debug: boolean;
}

const DEFAULT_WIDTH = 80;
const DEFAULT_HEIGHT = 24;

type Environment = { readonly [name: string]: string | undefined };

export function openSession(options: GlobalOptions, env: Environment = process.env): Session {
  return {
    out: openChannel(process.stdout, options.color, env),
    err: openChannel(process.stderr, options.color, env),
    options,
  };
}

function openChannel(stream: NodeJS.WriteStream, colourWanted: boolean, env: Environment): Channel {
  const isTerminal = stream.isTTY === true && env.TERM !== "dumb";
  const coloured = isTerminal && colourWanted && !env.NO_COLOR;
  return {
    write: (text) => void stream.write(text),
    isTerminal,
    paint: coloured ? ansiPaint : plainPaint,
    width: () => (stream.isTTY === true ? stream.columns || DEFAULT_WIDTH : Number.POSITIVE_INFINITY),
    height: () => stream.rows || DEFAULT_HEIGHT,
  };
}

export function writeLines(channel: Channel, lines: readonly string[]): void {
  if (lines.length > 0) channel.write(`${lines.map(shownLine).join("\n")}\n`);
}

/** Writes text from outside. For a terminal, control sequences are removed. */
export function writeText(channel: Channel, text: string): void {
  channel.write(channel.isTerminal ? terminalText(text) : text);
}

export function writeJson(channel: Channel, value: unknown): void {
  channel.write(`${jsonText(value, channel.isTerminal ? 2 : undefined)}\n`);
}

/** Characters that JSON leaves unescaped but a terminal interprets: DEL, C1 controls, marks that reorder a line. */
const OBEYED = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** JSON with such characters escaped. It has the same value. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    OBEYED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const forTerminal = new TerminalText();

/** Writes bytes to stdout, no faster than its reader takes them. For a terminal, control sequences are removed. */
export function writeBytes(bytes: Uint8Array): Promise<void> {
  const { stdout } = process;
  return new Promise((resolve) => {
    stdout.write(stdout.isTTY === true ? forTerminal.write(bytes) : bytes, () => resolve());
  });
}

const INDENT = "  ";

/** Items are collected up to this size, because a write for each would cost more than the item itself. */
const CHARS_PER_WRITE = 64 * 1024;

/**
 * Writes what `writeJson` would write for the object with these items in its list `key` (empty so far). It writes them
 * one by one, so they are never all in memory.
 */
export async function writeJsonWithList<T extends object>(
  channel: Channel,
  value: T,
  key: keyof T & string,
  items: AsyncIterable<unknown>,
): Promise<void> {
  const indent = channel.isTerminal ? INDENT : "";
  const [opening, closing] = aroundList(value, key, indent);
  const lineIn = indent === "" ? "" : `\n${indent}${indent}`;
  let text = opening;
  let isEmpty = true;
  for await (const item of items) {
    const itemText = jsonText(item, indent.length);
    text += (isEmpty ? "" : ",") + lineIn + (indent === "" ? itemText : itemText.replaceAll("\n", lineIn));
    isEmpty = false;
    if (text.length < CHARS_PER_WRITE) continue;
    channel.write(text);
    text = "";
  }
  const lineOut = indent === "" || isEmpty ? "" : `\n${indent}`;
  channel.write(`${text}${lineOut}${closing}\n`);
}

/** The text up to the bracket that opens the list, and from the one that closes it. */
function aroundList(value: object, key: string, indent: string): [opening: string, closing: string] {
  const entries = Object.entries(value);
  const place = entries.findIndex(([name]) => name === key);
  const before = jsonText(Object.fromEntries([...entries.slice(0, place), [key, []]]), indent.length);
  const after = jsonText(Object.fromEntries([[key, []], ...entries.slice(place + 1)]), indent.length);
  return [before.slice(0, before.lastIndexOf("[]") + 1), after.slice(after.indexOf("[]") + 1)];
}
