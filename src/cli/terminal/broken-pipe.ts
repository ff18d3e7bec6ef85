import { EXIT } from "./exit-codes.js";

/** Errors when the reader is gone: a closed pipe, or a closed terminal window. */
const GONE = new Set(["EPIPE", "EIO"]);
/** Errors when there is no room left: a full disk, a quota, the largest allowed file. */
const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

let outlives = false;

/**
 * Watches the standard streams. A reader that has seen enough (`daruma events 1 | head -1`) ends the command silently.
 * On a full disk, only progress and log lines are lost; but if the result of a command is its output, the command
 * fails.
 */
export function watchPipes(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (outlives && cannotBeWritten(error)) return;
    if (GONE.has(error.code ?? "")) process.exit(EXIT.completed);
    if (!FULL.has(error.code ?? "")) throw error;
    process.stderr.write(`error: the output could not be written: ${error.message}\n`);
    process.exit(EXIT.infrastructure);
  });
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (!cannotBeWritten(error)) throw error;
    if (!outlives && GONE.has(error.code ?? "")) process.exit(EXIT.completed);
  });
}

function cannotBeWritten({ code = "" }: NodeJS.ErrnoException): boolean {
  return GONE.has(code) || FULL.has(code);
}

/** Keeps work such as a run going when nobody reads its output any more. */
export function outlivePipes(): void {
  outlives = true;
}

/** Resolves when all written text has been passed to the operating system. */
export async function flushStreams(): Promise<void> {
  const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
    new Promise((resolve) => stream.write("", () => resolve()));
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
}
