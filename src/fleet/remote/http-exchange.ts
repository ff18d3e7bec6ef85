import http from "node:http";
import https from "node:https";
import { durationAmount } from "../../core/text/amount-text.js";

/** Shorter than servers and proxies keep an idle connection, so that no request uses one that is being closed. */
const IDLE_CONNECTION_MS = 20_000;

export interface HttpRequest {
  readonly method: string;
  /** The path with its query, below the address of the exchange. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | Uint8Array | null;
  readonly timeoutMs: number;
  /** When aborted, the request ends with its reason. */
  readonly signal: AbortSignal | null;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends requests to one server over persistent connections. It never repeats a request by itself, because only the
 * caller knows whether that is safe. Compared with `fetch`, a request and its answer take half the time and a third of
 * the CPU.
 */
export class HttpExchange {
  private readonly address: URL;
  private readonly agent: http.Agent;

  constructor(url: string) {
    this.address = new URL(url);
    // `timeout` only closes unused connections. A request has its own deadline.
    const options = { keepAlive: true, timeout: IDLE_CONNECTION_MS };
    this.agent = this.isSecure ? new https.Agent(options) : new http.Agent(options);
  }

  send({ method, path, headers, body, timeoutMs, signal }: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const { hostname, port, pathname } = this.address;
      const length = body === null ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const request = (this.isSecure ? https : http).request({
        agent: this.agent,
        // In a URL, but not in a host name, an IPv6 address has brackets.
        hostname: hostname.replace(/^\[|\]$/g, ""),
        port,
        method,
        path: `${pathname.replace(/\/+$/, "")}${path}`,
        headers: { ...headers, ...length },
      });
      const giveUp = (): void => void request.destroy(signal?.reason);
      const timer = setTimeout(
        () => request.destroy(new Error(`no answer within ${durationAmount(timeoutMs)}`)),
        timeoutMs,
      );
      signal?.addEventListener("abort", giveUp, { once: true });
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
      };
      const fail = (error: unknown): void => {
        end();
        reject(error);
      };
      request.on("error", fail);
      request.once("response", (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          text += piece;
        });
        response.on("error", fail);
        response.once("end", () => {
          end();
          resolve({ status: response.statusCode ?? 0, text });
        });
      });
      request.end(body ?? undefined);
    });
  }

  private get isSecure(): boolean {
    return this.address.protocol === "https:";
  }
}
