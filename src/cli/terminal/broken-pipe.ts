import { EXIT } from "./exit-codes.js";

/** The reader is gone: a closed pipe, or a terminal whose window was closed. */
const GONE = new Set(["EPIPE", "EIO"]);
/** There is no room for more where the stream ends: a full disk, a quota, the largest file that is allowed. */
const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

let outlives = false;

/**
 * A reader that has seen enough (`daruma events 1 | head -1`) ends the command without a word. A full disk loses progress
 * and log lines and nothing else; but a command whose result is what it prints has failed if that could not be written.
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

/** Work that must not end because nobody listens any more, such as a run. */
export function outlivePipes(): void {
  outlives = true;
}

/** Resolves when what was written has gone to the operating system. */
export async function flushStreams(): Promise<void> {
  const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
    new Promise((resolve) => stream.write("", () => resolve()));
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
}
