import { ansiPaint, type Paint, plainPaint, shownLine } from "../render/paint.js";
import { terminalText } from "../render/terminal-text.js";

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
