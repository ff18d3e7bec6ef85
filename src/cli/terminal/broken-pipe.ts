/** The reader is gone: a closed pipe, or a terminal whose window was closed. */
const GONE = new Set(["EPIPE", "EIO"]);

let outlives = false;

/** A reader that has seen enough (`daruma events 1 | head -1`) ends the command without a word. */
export function watchPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (!GONE.has(error.code ?? "")) throw error;
      if (!outlives) process.exit(0);
    });
  }
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
