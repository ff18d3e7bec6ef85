import { ansiPaint, type Paint, plainPaint, shownLine } from "../render/paint.js";
import { terminalText } from "../render/terminal-text.js";

/** One of the two streams, with what rendering must know of it. */
export interface Channel {
  write(text: string | Uint8Array): void;
  readonly isTerminal: boolean;
  readonly paint: Paint;
  /** Of the terminal; Infinity where nobody looks: what reads a pipe or a file wants all of a line. */
  width(): number;
  height(): number;
}

export interface Session {
  /** Results. */
  readonly out: Channel;
  /** Progress and errors. */
  readonly err: Channel;
  readonly options: GlobalOptions;
}

export interface GlobalOptions {
  readonly outputDir: string;
  /** A database file, or the address of a PostgreSQL database; by default the one in the output folder. */
  readonly store?: string | undefined;
  /** The address of a server that does what is asked; by default this process. */
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  /** The settings file that was named. */
  readonly config?: string | undefined;
  /** No settings, neither those of a file that lies here nor those that the environment names. */
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

/** A text that came from outside: as it is, but for a terminal without what a terminal obeys. */
export function writeText(channel: Channel, text: string): void {
  channel.write(channel.isTerminal ? terminalText(text) : text);
}

export function writeJson(channel: Channel, value: unknown): void {
  channel.write(`${jsonText(value, channel.isTerminal ? 2 : undefined)}\n`);
}

/** What JSON leaves as it is and a terminal obeys: DEL, controls of one byte more, marks that turn the order of a line. */
const OBEYED = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** The same value, with such characters written as escapes of JSON. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    OBEYED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
