import {
  close,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdir,
  mkdirSync,
  open,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { DarumaError } from "../../core/errors/errors.js";
import type { RedactionStream } from "../../core/redaction/redaction.js";
import { shortageBehind } from "../process/machine-shortage.js";
import { type LogQuota, LogTail } from "./log-limits.js";

/** What an attempt prints, redacted on its way to a file. */
export interface LogFile {
  write(chunk: Uint8Array): void;
  /**
   * Settles when all is written. Rejects with LOG_FAILED if something could not be; never before. A full disk is waited
   * for until the signal is aborted: what was done must not be done again for want of its log.
   */
  close(signal?: AbortSignal): Promise<void>;
  /** The last redacted bytes as text, 8 KB at most. */
  tail(bytes: number): string;
  /** Redacted bytes taken so far. */
  readonly bytesWritten: number;
}

export const MAX_TAIL_BYTES = 8_192;
const BATCH_BYTES = 65_536;
/** Longer than this a reader of the file never waits for what was printed. */
const FLUSH_AFTER_MS = 100;
/** What may wait for a slow `open` or a full disk; beyond that the caller is made to wait too, or the log fails. */
const MAX_QUEUED_BYTES = 4 * 1_024 * 1_024;
/** How often a log that waits for room on the disk, or for a descriptor, is tried again. */
const TRY_AGAIN_MS = 250;
const LOG_MODE = 0o600;
const LOG_FLAGS = constants.O_WRONLY | constants.O_CREAT;

const openAsync = promisify(open);
const closeAsync = promisify(close);
const mkdirAsync = promisify(mkdir);

export interface LogFileOptions {
  /** By default with the first byte. */
  readonly create?: "now" | "on_first_byte";
  /** Hears all that is printed, redacted. */
  readonly listener?: ((redacted: Uint8Array) => void) | null;
  readonly quota?: LogQuota | null;
  /** Where a log of an earlier database may be, which could be mistaken for this one. By default the same path. */
  readonly leftovers?: readonly string[];
  /** Told of each try that failed for want of something that may come. */
  readonly onShortage?: (error: unknown) => void;
}

/**
 * Creates the file with the first byte: most commands print to one stream or to none, and to create two files for each was an
 * eighth of the CPU time of a wide run. What has no file printed nothing.
 *
 * Opening is asynchronous: while SQLite syncs, creating a file waits for the file system's journal.
 * Measured on ext4 beside a loop of fdatasync: `openSync` blocked 90-110 us a file and 25-55 ms at worst, `open` kept
 * this thread busy 30 us a file. Large output is written synchronously in batches, so that a step that prints faster
 * than the disk takes it is slowed down and never fills the memory. Every write has its own position, so order does
 * not depend on which one finishes first.
 */
export function openLogFile(
  path: string,
  redaction: RedactionStream,
  {
    create = "on_first_byte",
    listener = null,
    quota = null,
    leftovers = [path],
    onShortage = () => {},
  }: LogFileOptions = {},
): LogFile {
  // One that is made now is emptied when it is opened.
  for (const leftover of leftovers) if (create !== "now" || leftover !== path) removeLeftover(leftover);
  return new AttemptLogFile(path, redaction, { isMadeNow: create === "now", listener, quota, onShortage });
}

const filesBeingMade = new Set<Promise<void>>();

/** Resolves when the files of all logs that were closed empty are there. */
export async function emptyLogsMade(): Promise<void> {
  await Promise.all(filesBeingMade);
}

/** What could not be written; null: all is. */
export async function closeLogs(logs: readonly LogFile[], signal: AbortSignal): Promise<unknown> {
  let failure: unknown = null;
  for (const log of logs) {
    await log.close(signal).catch((error: unknown) => {
      failure ??= error;
    });
  }
  return failure;
}

class AttemptLogFile implements LogFile {
  bytesWritten = 0;
  private readonly keptTail = new LogTail(MAX_TAIL_BYTES);
  private opening: Promise<void> | null = null;
  private fd: number | null = null;
  private queue: Uint8Array[] = [];
  private queuedBytes = 0;
  private isCut = false;
  private position = 0;
  private timer: NodeJS.Timeout | null = null;
  private failure: unknown = null;
  /** What the last try failed for; null: nothing is lacking. */
  private lack: unknown = null;
  private closing: Promise<void> | null = null;

  constructor(
    private readonly path: string,
    private readonly redaction: RedactionStream,
    private readonly options: Required<Omit<LogFileOptions, "create" | "leftovers">> & {
      readonly isMadeNow: boolean;
    },
  ) {
    if (options.isMadeNow) this.opening = this.open();
  }

  write(chunk: Uint8Array): void {
    if (this.closing) return;
    this.take(this.redaction.write(chunk));
    if (this.lack !== null) return this.checkQueue();
    if (this.queuedBytes >= BATCH_BYTES) this.flush();
    else if (this.queuedBytes > 0) this.timer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS);
  }

  tail(bytes: number): string {
    return this.keptTail.text(bytes);
  }

  close(signal?: AbortSignal): Promise<void> {
    this.closing ??= this.finish(signal);
    return this.closing;
  }

  private take(printed: Uint8Array): void {
    if (printed.length === 0) return;
    // Also of what the file has no room for: the last words say why a step failed.
    this.keptTail.append(printed);
    this.options.listener?.(printed);
    const redacted = this.withinQuota(printed);
    if (redacted.length === 0) return;
    this.bytesWritten += redacted.length;
    if (this.failure !== null) return;
    this.opening ??= this.open();
    this.queue.push(redacted);
    this.queuedBytes += redacted.length;
  }

  private withinQuota(printed: Uint8Array): Uint8Array {
    if (this.options.quota === null) return printed;
    const kept = this.options.quota.take(printed);
    if (kept.length === printed.length || this.isCut) return kept;
    this.isCut = true;
    return Buffer.concat([kept, this.options.quota.notice()]);
  }

  private takeQueue(): Uint8Array {
    const batch = this.queue.length === 1 ? this.queue[0]! : Buffer.concat(this.queue);
    this.queue = [];
    this.queuedBytes = 0;
    return batch;
  }

  private flush(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.failure !== null || this.queuedBytes === 0) return;
    try {
      if (this.fd === null) {
        if (this.queuedBytes < MAX_QUEUED_BYTES) return;
        mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
        this.adopt(openSync(this.path, LOG_FLAGS, LOG_MODE));
      }
      this.writeAll(this.takeQueue());
      this.lack = null;
    } catch (error) {
      this.failOrWait(error);
    }
  }

  /** What could not be written stays in the queue. */
  private writeAll(batch: Uint8Array): void {
    let at = 0;
    try {
      while (at < batch.length) {
        const written = writeSync(this.fd!, batch, at, batch.length - at, this.position);
        at += written;
        this.position += written;
      }
    } finally {
      if (at < batch.length) this.queue = [batch.subarray(at)];
      this.queuedBytes = batch.length - at;
    }
  }

  private failOrWait(error: unknown): void {
    const shortage = shortageBehind(error);
    if (shortage !== "room" && shortage !== "files") return this.fail(error);
    this.lack = error;
    this.options.onShortage(error);
    this.checkQueue();
    if (this.failure === null && this.closing === null)
      this.timer ??= setTimeout(() => void this.tryAgain(), TRY_AGAIN_MS);
  }

  private checkQueue(): void {
    if (this.queuedBytes > MAX_QUEUED_BYTES) this.fail(this.lack);
  }

  private async tryAgain(): Promise<void> {
    this.timer = null;
    if (this.fd === null) {
      this.lack = null;
      this.opening = this.open();
      await this.opening;
    }
    if (this.fd !== null) this.flush();
  }

  private async open(): Promise<void> {
    try {
      const fd = await this.openOrMakeFolder();
      if (this.fd !== null) return await closeAsync(fd);
      this.adopt(fd);
      // Without a timer: it came while the file was being made, and nobody else would write what is queued.
      if (this.timer === null || this.queuedBytes >= BATCH_BYTES) this.flush();
    } catch (error) {
      this.failOrWait(error);
    }
  }

  private async openOrMakeFolder(): Promise<number> {
    try {
      return await openAsync(this.path, LOG_FLAGS, LOG_MODE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      await mkdirAsync(dirname(this.path), { recursive: true, mode: 0o700 });
      return await openAsync(this.path, LOG_FLAGS, LOG_MODE);
    }
  }

  /** A file of an earlier database may have the same name. Not O_TRUNC: that could come after the first write. */
  private adopt(fd: number): void {
    this.fd = fd;
    if (fstatSync(fd).size > 0) ftruncateSync(fd, 0);
  }

  private fail(error: unknown): void {
    this.failure ??= error;
    this.queue = [];
    this.queuedBytes = 0;
  }

  private async finish(signal: AbortSignal | undefined): Promise<void> {
    this.take(this.redaction.end());
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.fd === null && this.opening !== null) {
      if (this.bytesWritten === 0) return this.closeLater(this.opening);
      await this.opening;
    }
    this.flush();
    while (this.lack !== null && this.failure === null) {
      if (signal?.aborted) this.fail(this.lack);
      else {
        await delay(TRY_AGAIN_MS, undefined, { signal }).catch(() => {});
        await this.tryAgain();
      }
    }
    this.closeFile();
    if (this.failure === null) return;
    const reason = this.failure instanceof Error ? this.failure.message : String(this.failure);
    throw new DarumaError("LOG_FAILED", `${this.path}: ${reason}`, { cause: this.failure });
  }

  /** Nothing was printed: the attempt need not wait until its empty file is there. */
  private closeLater(opening: Promise<void>): void {
    const made = opening.then(() => {
      this.closeFile();
      filesBeingMade.delete(made);
    });
    filesBeingMade.add(made);
  }

  /** Synchronous: it takes microseconds, where a trip through the thread pool holds up the next step of a chain. */
  private closeFile(): void {
    if (this.fd === null) return;
    try {
      closeSync(this.fd);
    } catch (error) {
      this.fail(error);
    }
  }
}

/** A log of an earlier database under this name would pass for what the attempt printed. Devices and pipes are no logs. */
function removeLeftover(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) rmSync(path, { force: true });
  } catch {
    // The writer of the first byte gets the error.
  }
}
