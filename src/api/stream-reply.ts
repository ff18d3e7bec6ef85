import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { DarumaError } from "../core/errors/errors.js";
import type { StreamItem } from "../operations/operation.js";
import {
  DEFAULT_STREAMS_PER_TOKEN,
  FIRST_ITEM_MS,
  HEARTBEAT_MS,
  MAX_STREAMS,
  SESSION_FRESH_MS,
  STALLED_READER_MS,
  STREAM_BUFFER_BYTES,
  STREAM_RETRY_MS,
} from "./limits.js";
import { problemOf, type Reader, readerOf } from "./problem.js";

export type StreamForm = "events" | "text";

type OpenStream = (signal: AbortSignal) => AsyncIterable<StreamItem>;

/** Throws once the reader may no longer read the stream. */
export type ReaderCheck = () => Promise<void>;

/** The open streams of a server. Each is read only as fast as its reader takes it, so nothing piles up here. */
export class StreamReplies {
  /** Open streams with their reader. */
  private readonly open = new Map<AbortController, string>();
  private readonly heartbeatMs: number;
  private readonly perToken: number;
  private closed = false;

  constructor({
    heartbeatMs = HEARTBEAT_MS,
    streamsPerToken = DEFAULT_STREAMS_PER_TOKEN,
  }: {
    readonly heartbeatMs?: number;
    /** Limit for each token; 0 means no limit. */
    readonly streamsPerToken?: number;
  } = {}) {
    this.heartbeatMs = heartbeatMs;
    this.perToken = streamsPerToken;
  }

  get size(): number {
    return this.open.size;
  }

  async send(
    reply: FastifyReply,
    form: StreamForm,
    checkReader: ReaderCheck,
    openStream: OpenStream,
  ): Promise<FastifyReply> {
    if (this.closed) throw new DarumaError("SERVER_STOPPING", "the server is stopping");
    const reading = reply.request.caller?.key ?? "";
    this.refuseTooMany(reading);
    const controller = new AbortController();
    this.open.set(controller, reading);
    reply.raw.once("close", () => {
      this.open.delete(controller);
      controller.abort();
    });
    reply.raw.socket?.setTimeout(STALLED_READER_MS, () => reply.raw.destroy());
    const source = new Source(openStream(controller.signal), controller.signal);
    // An error such as an unknown run shows at once, while the status can still be set.
    await source.peek(FIRST_ITEM_MS);
    const bySession = reply.request.caller?.bySession === true;
    const everyMs = bySession ? Math.min(SESSION_FRESH_MS, this.heartbeatMs) : this.heartbeatMs;
    const items = checked(source, this.heartbeatMs, { everyMs, check: checkReader });
    const text = form === "events" ? eventText(items, readerOf(reply.request.headers)) : plainText(items);
    return reply
      .header("content-type", `text/${form === "events" ? "event-stream" : "plain"}; charset=utf-8`)
      .header("cache-control", "no-store")
      .header("x-accel-buffering", "no")
      .send(Readable.from(text, { objectMode: false, highWaterMark: STREAM_BUFFER_BYTES }));
  }

  /** Ends all streams. Readers may continue at another server. */
  close(): void {
    this.closed = true;
    for (const controller of this.open.keys()) controller.abort();
  }

  /** Limits streams in total and for each reader, so that one token cannot take all of them. */
  private refuseTooMany(reader: string): void {
    if (this.open.size >= MAX_STREAMS)
      throw new DarumaError("TOO_MANY_STREAMS", `the server has ${MAX_STREAMS} streams open already`);
    if (this.perToken === 0) return;
    let own = 0;
    for (const other of this.open.values()) if (other === reader) own += 1;
    if (own >= this.perToken)
      throw new DarumaError("TOO_MANY_STREAMS", `this token has ${own} streams open already`);
  }
}

type Waited = IteratorResult<StreamItem> | "quiet" | "aborted";
type Settled = { readonly result: IteratorResult<StreamItem> } | { readonly error: unknown };

/** Yields items one by one and waits for each no longer than given. */
class Source {
  private readonly iterator: AsyncIterator<StreamItem>;
  private asked = false;
  private settled: Settled | null = null;
  private wake: () => void = () => {};

  constructor(
    items: AsyncIterable<StreamItem>,
    private readonly signal: AbortSignal,
  ) {
    this.iterator = items[Symbol.asyncIterator]();
  }

  /** Waits for the first item without taking it. Rejects if it cannot be read. */
  async peek(patienceMs: number): Promise<void> {
    await this.wait(patienceMs);
    if (this.settled !== null && "error" in this.settled) throw this.settled.error;
  }

  async next(patienceMs: number): Promise<Waited> {
    await this.wait(patienceMs);
    if (this.signal.aborted) return "aborted";
    const { settled } = this;
    if (settled === null) return "quiet";
    this.settled = null;
    this.asked = false;
    if ("error" in settled) throw settled.error;
    return settled.result;
  }

  /** Not awaited: a source that is slow to stop must not keep the connection open. */
  close(): void {
    this.iterator.return?.().catch(() => {});
  }

  /** Waits until an item arrives, the reader is gone, or the time is up. */
  private wait(patienceMs: number): Promise<void> {
    if (!this.asked) this.ask();
    if (this.settled !== null || this.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.signal.removeEventListener("abort", finish);
        resolve();
      };
      const timer = setTimeout(finish, patienceMs);
      this.signal.addEventListener("abort", finish, { once: true });
      this.wake = finish;
    });
  }

  /** Requests an item with a single callback, however often it is waited for. */
  private ask(): void {
    this.asked = true;
    const settle = (settled: Settled): void => {
      this.settled = settled;
      this.wake();
    };
    this.iterator.next().then(
      (result) => settle({ result }),
      (error: unknown) => settle({ error }),
    );
  }
}

/** Decodes one piece of text to its bytes. */
function pieceOf(data: unknown): string | Buffer {
  const { text, encoding } = data as { readonly text: string; readonly encoding?: "utf8" | "base64" };
  return encoding === "base64" ? Buffer.from(text, "base64") : text;
}

/**
 * Yields items, and null at each heartbeat without one. Checks the reader at each interval, however many items there
 * are.
 */
async function* checked(
  source: Source,
  heartbeatMs: number,
  reader: { readonly everyMs: number; readonly check: ReaderCheck },
): AsyncGenerator<StreamItem | null, "ended" | "aborted"> {
  let checkedAt = performance.now();
  let toldAt = checkedAt;
  try {
    for (;;) {
      const waited = await source.next(reader.everyMs);
      if (waited === "aborted") return "aborted";
      if (waited === "quiet" || performance.now() - checkedAt >= reader.everyMs) {
        await reader.check();
        checkedAt = performance.now();
      }
      if (waited !== "quiet" && waited.done) return "ended";
      if (waited === "quiet" && reader.everyMs < heartbeatMs && checkedAt - toldAt < heartbeatMs) continue;
      toldAt = performance.now();
      yield waited === "quiet" ? null : waited.value;
    }
  } finally {
    source.close();
  }
}

type Checked = ReturnType<typeof checked>;

async function* plainText(items: Checked): AsyncGenerator<string | Buffer> {
  for await (const item of items) if (item !== null) yield pieceOf(item.data);
}

/**
 * Formats items as server-sent events. `end` means that no more will come and the client need not reconnect; `error`
 * means that the stream cannot go on.
 */
async function* eventText(items: Checked, reader: Reader): AsyncGenerator<string> {
  yield `retry: ${STREAM_RETRY_MS}\n\n`;
  try {
    for (;;) {
      const { value, done } = await items.next();
      if (done === true) {
        if (value === "ended") yield "event: end\ndata: {}\n\n";
        return;
      }
      yield value === null ? ": still there\n\n" : eventOf(value);
    }
  } catch (error) {
    yield `event: error\ndata: ${JSON.stringify(problemOf(error, reader))}\n\n`;
  } finally {
    await items.return("aborted");
  }
}

/**
 * Formats one event. JSON contains no raw line breaks, and they are removed from ids and names, so no value can forge a
 * field.
 */
function eventOf({ id, event, data }: StreamItem): string {
  const place = id === null ? "" : `id: ${oneLine(id)}\n`;
  return `${place}event: ${oneLine(event)}\ndata: ${JSON.stringify(data)}\n\n`;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, " ");
}
