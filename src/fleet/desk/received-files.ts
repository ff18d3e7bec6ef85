import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  open,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { DarumaError } from "../../core/errors/errors.js";
import { DEFAULT_MAX_LOG_BYTES } from "../../core/model/definition.js";
import { describeOutputFile, type OutputFile } from "../../run/worker/attempt-output.js";
import { logFile, outputArtifact, summaryArtifact } from "../../run/worker/attempt-paths.js";
import type { HeldAttempt } from "../../run/worker.js";
import type { Stream } from "./protocol.js";

export interface LogPiece {
  readonly stream: Stream;
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly begin: boolean;
}

/**
 * How many large outputs are remembered. They are reported soon after they were sent; otherwise the file is read again.
 */
const MAX_DESCRIBED = 20;
/**
 * A generous limit for what a worker adds to logs that have reached their limit: notices, and samples of resource use.
 */
const LOG_NOTE_BYTES = 1024 * 1024;
const STREAMS: readonly Stream[] = ["stdout", "stderr", "usage"];
const LOG_FLAGS = constants.O_RDWR | constants.O_CREAT;
const openAsync = promisify(open);

/** Files that workers send, in the server's own folder. Paths come only from the server's record. */
export class ReceivedFiles {
  /** Outputs written here, by path. */
  private readonly described = new Map<string, OutputFile>();

  constructor(private readonly base: string) {}

  /**
   * Writes bytes of a log at their position. Resolves to the size of the log here; if that is smaller than `offset`,
   * nothing was written. `begin` starts a new log, replacing one that an earlier database has left under its name.
   * Opening is asynchronous: while a database syncs, creating a file can take tens of milliseconds.
   */
  async writeLog(attempt: HeldAttempt, { stream, offset, bytes, begin }: LogPiece): Promise<number> {
    // A worker applies the limit itself. One that does not must not fill the disk.
    const others = STREAMS.filter((other) => other !== stream).map((other) => this.logSize(attempt, other));
    const taken = others.reduce((sum, size) => sum + size, offset);
    const room = (attempt.maxLogBytes ?? DEFAULT_MAX_LOG_BYTES) + LOG_NOTE_BYTES - taken;
    if (room <= 0) return offset + bytes.length;
    const fd = await openLog(logFile(this.base, attempt, stream));
    try {
      if (begin) ftruncateSync(fd, 0);
      const { size } = fstatSync(fd);
      if (offset > size) return size;
      const end = Math.min(bytes.length, room);
      for (let written = 0; written < end; )
        written += writeSync(fd, bytes, written, end - written, offset + written);
      return Math.max(size, offset + bytes.length);
    } finally {
      closeSync(fd);
    }
  }

  logSize(attempt: HeldAttempt, stream: Stream): number {
    return sizeOf(logFile(this.base, attempt, stream));
  }

  writeSummary(attempt: HeldAttempt, text: string): void {
    writePrivately(summaryArtifact(this.base, attempt), text);
  }

  /**
   * Writes an output that was too large for the log and returns its hash. It must be JSON, because the engine parses
   * it.
   */
  writeOutput(attempt: HeldAttempt, bytes: Buffer): { readonly bytes: number; readonly sha256: string } {
    const path = this.outputPath(attempt);
    let described: OutputFile;
    try {
      described = describeOutputFile(path, bytes);
    } catch (error) {
      const why = error instanceof DarumaError ? error.message : "the output is not JSON";
      throw new DarumaError("MALFORMED_REQUEST", why);
    }
    writePrivately(path, bytes);
    this.described.set(path, described);
    if (this.described.size > MAX_DESCRIBED) this.described.delete(this.described.keys().next().value!);
    return { bytes: bytes.length, sha256: described.output.sha256 };
  }

  outputPath(attempt: HeldAttempt): string {
    return outputArtifact(this.base, attempt);
  }

  /** The output that was sent before the report; null if it is missing. */
  sentOutput(attempt: HeldAttempt): OutputFile | null {
    const path = this.outputPath(attempt);
    try {
      // It is remembered unless this server has been restarted since.
      return this.described.get(path) ?? describeOutputFile(path, readFileSync(path));
    } catch {
      return null;
    }
  }
}

async function openLog(file: string): Promise<number> {
  try {
    return await openAsync(file, LOG_FLAGS, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    return openAsync(file, LOG_FLAGS, 0o600);
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function writePrivately(file: string, content: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, content, { mode: 0o600 });
}
