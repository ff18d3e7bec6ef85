import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * `question`: what the client sends next never arrives. `answer`: it arrives and is done, its answer never comes. Both
 * ends see the connection break, unless it falls silent: then neither is ever told, as if a cable were cut.
 */
export type Cut = "question" | "answer" | "silent question" | "silent answer";

/** Stands between a client and a server, and cuts a connection at the instant a test names. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #silent = new WeakSet<Socket>();
  #isSilentForGood = false;
  #cut: { readonly what: Cut; readonly sign: string; readonly meanwhile: (data: Buffer) => void } | null =
    null;

  private constructor(target: number) {
    this.#server = createServer((client) => this.#join(client, connect(target, "127.0.0.1")));
  }

  static async to(target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy does not listen");
    return address.port;
  }

  /**
   * Once, for the next question that holds these characters. `meanwhile` is called before the ends see anything: with
   * the answer that is cut off, or else with the question.
   */
  cutNext(what: Cut, sign: string, meanwhile: (data: Buffer) => void = () => {}): void {
    this.#cut = { what, sign, meanwhile };
  }

  get hasCut(): boolean {
    return this.#cut === null;
  }

  /** Every connection ends now, as that of a peer that was killed. */
  resetAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Nothing passes on any connection there is, and nobody is told. New ones are sound unless it is for good. */
  silenceAll({ forGood = false } = {}): void {
    this.#isSilentForGood = forGood;
    for (const socket of this.#sockets) this.#silent.add(socket);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(client: Socket, server: Socket): void {
    let cut: Cut | null = null;
    let meanwhile: (data: Buffer) => void = () => {};
    if (this.#isSilentForGood) this.#silent.add(client);
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", end).on("close", () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    client.on("data", (data) => {
      if (this.#cut !== null && data.includes(this.#cut.sign)) {
        cut = this.#cut.what;
        meanwhile = this.#cut.meanwhile;
        this.#cut = null;
        if (cut !== "answer") meanwhile(data);
        if (cut === "question") return end();
      }
      if (cut !== "silent question" && !this.#silent.has(client)) server.write(data);
    });
    server.on("data", (data) => {
      if (cut === "answer") {
        meanwhile(data);
        end();
      } else if (cut === null && !this.#silent.has(client)) client.write(data);
    });
  }
}
