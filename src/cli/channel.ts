import { ansiPaint, type Paint, plainPaint, shownLine } from "./render/paint.js";

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
  /** A database file, or the address of a PostgreSQL database; the one in the output folder unless told. */
  readonly store?: string | undefined;
  /** The address of a server that does what is asked; this process unless told. */
  readonly server?: string | undefined;
  readonly token?: string | undefined;
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

export function writeJson(channel: Channel, value: unknown): void {
  channel.write(`${JSON.stringify(value, null, channel.isTerminal ? 2 : undefined)}\n`);
}
