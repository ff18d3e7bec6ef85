/** One server-sent event. `id` is "" where it has none. */
export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** What is longer without a line break is no stream of a Daruma server. */
const MAX_PENDING_CHARS = 64 * 1_024 * 1_024;

/** Events as they come in. What is not complete when the connection ends is dropped: it comes again. */
export async function* readServerEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let pending = "";
  let fields = emptyFields();
  for await (const chunk of body) {
    pending += decoder.decode(chunk, { stream: true });
    if (pending.length > MAX_PENDING_CHARS) throw new RangeError("an event of the stream is too long");
    for (let end = pending.indexOf("\n"); end >= 0; end = pending.indexOf("\n")) {
      const line = pending.slice(0, end).replace(/\r$/, "");
      pending = pending.slice(end + 1);
      if (line !== "") take(fields, line);
      else if (fields.data.length > 0) {
        yield { id: fields.id, event: fields.event, data: fields.data.join("\n") };
        fields = emptyFields();
      }
    }
  }
}

interface PendingFields {
  id: string;
  event: string;
  data: string[];
}

function emptyFields(): PendingFields {
  return { id: "", event: "message", data: [] };
}

function take(fields: PendingFields, line: string): void {
  const colon = line.indexOf(":");
  if (colon === 0) return;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "data") fields.data.push(value);
  if (name === "id") fields.id = value;
  if (name === "event") fields.event = value;
}
