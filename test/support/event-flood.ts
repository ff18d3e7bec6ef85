import { once } from "node:events";
import { createServer, request, type Server } from "node:http";

/** How fast events come, and for how long. */
export interface Flood {
  readonly runId: number;
  readonly perSecond: number;
  readonly seconds: number;
}

const TICK_MS = 10;

/** Stands before a server and answers as it does; only the stream of events is made here, as fast as a test wants it. */
export class EventFlood {
  readonly #server: Server;
  sent = 0;
  isOver = false;

  private constructor(target: URL, flood: Flood) {
    this.#server = createServer((asked, answer) => {
      if (asked.url === "/api/v1/events" && asked.headers.accept === "text/event-stream") {
        answer.writeHead(200, { "content-type": "text/event-stream" });
        this.#pour(flood, (text) => answer.write(text));
        return;
      }
      const headers = { ...asked.headers, host: target.host };
      if (headers.origin !== undefined) headers.origin = target.origin;
      const passed = request(
        { host: target.hostname, port: target.port, method: asked.method, path: asked.url, headers },
        (came) => {
          answer.writeHead(came.statusCode!, came.headers);
          came.pipe(answer);
        },
      );
      passed.on("error", () => answer.destroy());
      asked.pipe(passed);
    });
  }

  static async before(url: string, flood: Flood): Promise<EventFlood> {
    const made = new EventFlood(new URL(url), flood);
    made.#server.listen(0, "127.0.0.1");
    await once(made.#server, "listening");
    return made;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("it does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #pour({ runId, perSecond, seconds }: Flood, write: (text: string) => void): void {
    const began = performance.now();
    const total = perSecond * seconds;
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - began) * perSecond) / 1_000));
      let text = "";
      for (; this.sent < due; this.sent += 1) text += eventText(runId, this.sent + 1);
      if (text !== "") write(text);
      if (this.sent < total) return;
      clearInterval(timer);
      this.isOver = true;
    }, TICK_MS);
  }
}

function eventText(runId: number, seq: number): string {
  const at = "2026-01-01T00:00:00.000Z";
  const data = {
    run_id: runId,
    workflow: "busy",
    seq,
    at,
    step: "each",
    type: "attempt.started",
    worker: "local",
  };
  return `id: ${runId}:${seq}\nevent: attempt.started\ndata: ${JSON.stringify(data)}\n\n`;
}
