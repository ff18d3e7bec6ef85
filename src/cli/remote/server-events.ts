import { createParser } from "eventsource-parser";

/** One server-sent event. `id` is "" if it has none. */
export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Limit for an incomplete event. No Daruma server sends a longer one. */
const MAX_PENDING_CHARS = 64 * 1_024 * 1_024;

/**
 * Reads events as they arrive. One that is incomplete when the connection ends is dropped, because it will be sent
 * again.
 */
export async function* readServerEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const ready: ServerEvent[] = [];
  let pendingChars = 0;
  const parser = createParser({
    onEvent: ({ id = "", event = "message", data }) => ready.push({ id, event, data }),
  });
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    parser.feed(text);
    pendingChars = ready.length > 0 ? 0 : pendingChars + text.length;
    if (pendingChars > MAX_PENDING_CHARS) throw new RangeError("an event of the stream is too long");
    yield* ready.splice(0);
  }
}
