import { type ClientRequest, get, type IncomingMessage } from "node:http";

/** One event as a browser would see it. */
export interface SeenEvent {
  readonly id: string | null;
  readonly event: string;
  readonly data: unknown;
}

/** Reads a stream of server-sent events as the standard says, with everything kept for a test to look at. */
export class EventReader {
  readonly events: SeenEvent[] = [];
  readonly comments: string[] = [];
  /** Resolves when the server has ended the stream, or the connection is gone. */
  readonly ended: Promise<void>;
  private rest = "";
  private waiting: (() => void)[] = [];

  private constructor(
    private readonly request: ClientRequest,
    readonly response: IncomingMessage,
  ) {
    response.setEncoding("utf8").on("data", (chunk: string) => this.take(chunk));
    this.ended = new Promise((resolve) => {
      response.once("close", () => {
        resolve();
        this.wake();
      });
    });
    response.on("error", () => {});
  }

  static open(url: string, headers: { [name: string]: string } = {}): Promise<EventReader> {
    return new Promise((resolve, reject) => {
      const request = get(
        url,
        { headers: { accept: "text/event-stream", ...headers }, agent: false },
        (response) => resolve(new EventReader(request, response)),
      );
      request.on("error", reject);
    });
  }

  get status(): number | undefined {
    return this.response.statusCode;
  }

  get lastId(): string | null {
    return this.events.findLast(({ id }) => id !== null)?.id ?? null;
  }

  /** Waits until what was seen satisfies the condition. */
  async until(condition: (reader: EventReader) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.response.closed) throw new Error(`the stream ended: ${JSON.stringify(this.events.slice(-3))}`);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  close(): void {
    this.request.destroy();
  }

  private take(chunk: string): void {
    const blocks = (this.rest + chunk).split("\n\n");
    this.rest = blocks.pop()!;
    for (const block of blocks) this.takeBlock(block.split("\n"));
    this.wake();
  }

  private takeBlock(lines: readonly string[]): void {
    const field = (name: string): string | null =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null;
    this.comments.push(...lines.filter((line) => line.startsWith(":")));
    const data = field("data");
    if (data === null) return;
    this.events.push({ id: field("id"), event: field("event") ?? "message", data: JSON.parse(data) });
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
