import { resolve } from "node:path";
import { shellArgv } from "../../core/model/shell.js";
import { SHELL_SETTINGS } from "./plain-words.js";
import type { ProcessSpec } from "./process-host.js";

/**
 * Command lines that a subshell of a shell which is already there can run in place of a new `sh -c`, because nothing in
 * them could tell the difference: only built-ins, only literal words. There is no `$` (so no `$$`, no `$PPID`, no
 * environment to read), no redirection, no substitution, no background job and no other program. Everything else gets
 * a shell of its own.
 */
// One character at a time: nested repetition would make the test exponential for some lines.
const WORD = /(?:[\w./,:+@%=-]|'[^'\n]*'|"[^"\n$`\\!]*")+/.source;
const COMMAND = `(?:true|false|:|exit(?: +(?:[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5]))?|echo(?: +${WORD})*)`;
const BUILTIN_LINE = new RegExp(`^ *${COMMAND}(?: *(?:;|&&|\\|\\|) *${COMMAND})* *\\n?$`);

/** Beyond this a line is not worth looking at, and would not fit into a pipe at once. */
const MAX_LINE_CHARS = 1_000;

export function isBuiltinLine(line: string): boolean {
  return line.length <= MAX_LINE_CHARS && BUILTIN_LINE.test(line);
}

/**
 * The launcher's reports: hello, asked to stop, started, stdout, stderr, main process gone but not its group, over,
 * refused.
 */
export type FrameType = "H" | "T" | "S" | "O" | "E" | "L" | "X" | "F";

const FRAME_HEADER_BYTES = 9;

/** The most that any frame but an output frame carries. */
const MAX_FACT_BYTES = 36;

export function argvOf({ exec, shell }: Pick<ProcessSpec, "exec" | "shell">): readonly string[] {
  return typeof exec === "string" ? [...shellArgv(shell), exec] : exec;
}

/** What no system call could carry, or null. */
export function findUnusable(spec: ProcessSpec): string | null {
  const argv = argvOf(spec);
  if (!argv[0]) return "the command has no name";
  if (argv.some((argument) => argument.includes("\0"))) return "the command contains a NUL character";
  if (spec.cwd.includes("\0")) return "the working folder contains a NUL character";
  for (const name in spec.env) {
    if (name === "" || name.includes("=") || name.includes("\0"))
      return `environment name ${JSON.stringify(name)}`;
    if (spec.env[name]!.includes("\0")) return `environment variable ${name} contains a NUL character`;
  }
  return null;
}

type Environment = ProcessSpec["env"];

/** The environment from which the jobs' environments differ little: setting 40 variables takes a fork's child 0.1 ms. */
export function encodeBaseEnvironment(env: Environment): Buffer {
  return encodeMessage("B", [], Object.entries(env).flat().join("\0"));
}

export function encodeStart(id: number, spec: ProcessSpec, base: Environment): Buffer {
  const set: string[] = [];
  const unset: string[] = [];
  for (const name in spec.env) if (spec.env[name] !== base[name]) set.push(name, spec.env[name]!);
  for (const name in base) if (!(name in spec.env)) unset.push(name);
  const letter = startLetter(spec);
  const argv = `${argvOf(letter === "Q" ? forWaitingShell(spec) : spec).join("\0")}\0`;
  const fields = [resolve(spec.cwd), argv, set.join("\0"), unset.join("\0")];
  return encodeMessage(letter, [id, ...fields], spec.stdin ?? "");
}

function startLetter(spec: ProcessSpec): "R" | "I" | "Q" {
  if (spec.stdin !== undefined) return "I";
  if (typeof spec.exec !== "string" || !isBuiltinLine(spec.exec)) return "R";
  if (spec.shell !== undefined && spec.shell !== "sh") return "R";
  return SHELL_SETTINGS.some((name) => name in spec.env) ? "R" : "Q";
}

/** The shell that waits does not stop at failures by itself. */
function forWaitingShell({ exec, shell }: ProcessSpec): Pick<ProcessSpec, "exec"> {
  return { exec: shell === "sh" ? `set -e;${exec as string}` : exec };
}

/** Signal 0 tells the launcher to wait no longer for a group that does not go away. */
export function encodeSignal(id: number, signal: number): Buffer {
  return encodeMessage("K", [id, signal], "");
}

/** A length, a letter, fields (numbers as 4 bytes, texts with their length before them), the rest. */
function encodeMessage(type: string, fields: readonly (number | string)[], rest: string): Buffer {
  let size = 1 + Buffer.byteLength(rest);
  for (const field of fields) size += typeof field === "number" ? 4 : 4 + Buffer.byteLength(field);
  const message = Buffer.allocUnsafe(4 + size);
  let at = message.writeUInt32BE(size, 0);
  at += message.write(type, at, "latin1");
  for (const field of fields) {
    if (typeof field === "number") {
      at = message.writeUInt32BE(field, at);
    } else {
      const bytes = message.write(field, at + 4);
      message.writeUInt32BE(bytes, at);
      at += 4 + bytes;
    }
  }
  message.write(rest, at);
  return message;
}

/**
 * Cuts the launcher's stream into frames. Output is handed on in the pieces in which it arrives, however long its
 * frame is, so that nothing is gathered; other frames are a few bytes and arrive whole.
 */
export class FrameReader {
  private readonly header = Buffer.alloc(FRAME_HEADER_BYTES);
  private readonly fact = Buffer.alloc(MAX_FACT_BYTES);
  private headerBytes = 0;
  private type: FrameType = "H";
  private id = 0;
  private size = 0;
  private missing = 0;

  constructor(private readonly onFrame: (type: FrameType, id: number, payload: Buffer) => void) {}

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.headerBytes < FRAME_HEADER_BYTES) {
        at = this.readHeader(chunk, at);
      } else {
        const piece = chunk.subarray(at, at + this.missing);
        at += piece.length;
        this.readPiece(piece);
      }
    }
  }

  private readHeader(chunk: Buffer, from: number): number {
    const copied = chunk.copy(this.header, this.headerBytes, from);
    this.headerBytes += copied;
    if (this.headerBytes === FRAME_HEADER_BYTES) {
      this.type = String.fromCharCode(this.header[0]!) as FrameType;
      this.id = this.header.readUInt32BE(1);
      this.size = this.header.readUInt32BE(5);
      this.missing = this.size;
      if (this.size === 0) this.endFrame();
    }
    return from + copied;
  }

  private readPiece(piece: Buffer): void {
    const isOutput = this.type === "O" || this.type === "E";
    if (isOutput) this.onFrame(this.type, this.id, piece);
    else piece.copy(this.fact, this.size - this.missing);
    this.missing -= piece.length;
    if (this.missing > 0) return;
    if (isOutput) this.headerBytes = 0;
    else this.endFrame();
  }

  private endFrame(): void {
    this.headerBytes = 0;
    this.onFrame(this.type, this.id, this.fact.subarray(0, this.size));
  }
}
