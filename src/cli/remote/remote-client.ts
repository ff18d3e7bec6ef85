import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { AS_HEADER, READER_HEADER } from "../../api/limits.js";
import { DarumaError, ERROR_CATALOGUE, type ErrorCode } from "../../core/errors/errors.js";
import type { Problem } from "../../file/read/problem.js";
import type { Client } from "../../operations/client.js";
import type { Operation, StreamItem } from "../../operations/operation.js";
import { operationOf } from "../../operations/operations.js";
import { checkedAddress } from "./runs-location.js";
import { readServerEvents, type ServerEvent } from "./server-events.js";

export interface RemoteClientOptions {
  readonly server: string;
  readonly token?: string | undefined;
  /** Who reads the server's hints. By default somebody at this command line. */
  readonly reader?: "command-line" | "program";
  /** The caller's name in the log, beside the name of the token. */
  readonly as?: string | undefined;
  /** How long a stream waits for a server that does not answer. */
  readonly patienceMs?: number;
}

type Fields = { readonly [name: string]: unknown };

/** How long to wait for a server that is being restarted or a network that is down. */
const DEFAULT_PATIENCE_MS = 60_000;
/** How long a request is repeated after its answer was lost. */
const CALL_PATIENCE_MS = 20_000;
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 5_000;

/** Hints for this command line. The server's own speak of headers. */
const TOKEN_HINTS: { readonly [code: string]: string | undefined } = {
  UNAUTHENTICATED:
    "Set DARUMA_TOKEN (or add --token). `daruma token create NAME --role ROLE`, run on the server's store, makes a token.",
  FORBIDDEN:
    "Set DARUMA_TOKEN (or --token) to a token with that role; `daruma token create NAME --role ROLE` makes one.",
};

/** The problems of a workflow, as the server reported them. */
class RemoteWorkflowError extends DarumaError {
  constructor(
    code: ErrorCode,
    message: string,
    hint: string,
    readonly problems: readonly Problem[],
  ) {
    super(code, message, { hint });
  }
}

export function openRemoteClient(options: RemoteClientOptions): Client {
  return new RemoteClient(options) as Client;
}

class RemoteClient {
  private readonly base: string;

  constructor(private readonly options: RemoteClientOptions) {
    this.base = checkedAddress(options.server);
  }

  /**
   * Calls an operation. A lost answer is requested again if that is safe: the operation only reads or has a key, and
   * one that can have a key gets one. If the server cannot be reached at all, it fails at once.
   */
  async call(name: string, input: Fields): Promise<unknown> {
    const operation = operationOf(name);
    const keyed = "key" in operation.input.shape ? { key: randomUUID(), ...given(input) } : input;
    const { url, init } = this.request(operation, keyed);
    const isSafe = "key" in keyed || operation.effect === "reads";
    const until = performance.now() + (this.options.patienceMs ?? CALL_PATIENCE_MS);
    for (let pauseMs = FIRST_RETRY_MS, wasLost = false; ; pauseMs = Math.min(pauseMs * 2, MAX_RETRY_MS)) {
      try {
        return await this.answer(url, init);
      } catch (error) {
        wasLost ||= isLostAnswer(error);
        const mayPass = isLostAnswer(error) || isOutage(error);
        if (!isSafe || !wasLost || !mayPass || performance.now() + pauseMs > until) throw error;
      }
      await delay(pauseMs);
    }
  }

  private async answer(url: string, init: RequestInit): Promise<unknown> {
    const response = await this.send(url, init);
    const text = await response.text().catch((error: unknown) => {
      throw this.unreachable(error);
    });
    return text === "" ? {} : this.parse(text, response.status);
  }

  async *stream(name: string, input: Fields, signal: AbortSignal): AsyncGenerator<StreamItem> {
    const { url, init } = this.request(operationOf(name), input);
    const patience = this.options.patienceMs ?? DEFAULT_PATIENCE_MS;
    let lastId: string | null = null;
    let heardAt = performance.now();
    for (let pauseMs = FIRST_RETRY_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, MAX_RETRY_MS)) {
      try {
        for await (const item of this.events(url, init, lastId, signal)) {
          heardAt = performance.now();
          pauseMs = FIRST_RETRY_MS;
          if (item === END) return;
          if (item.id !== "") lastId = item.id;
          yield item;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (!isOutage(error) || performance.now() - heardAt > patience) throw error;
      }
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  async close(): Promise<void> {}

  /** The events of a stream. Ends without END if the connection was cut. */
  private async *events(
    url: string,
    init: RequestInit,
    lastId: string | null,
    signal: AbortSignal,
  ): AsyncGenerator<StreamItem | typeof END> {
    const headers = {
      ...(init.headers as Record<string, string>),
      accept: "text/event-stream",
      ...(lastId === null ? {} : { "last-event-id": lastId }),
    };
    const response = await this.send(url, { ...init, headers, signal });
    try {
      for await (const event of readServerEvents(response.body!)) {
        if (event.event === "end") return yield END;
        if (event.event === "error")
          throw this.errorOf(this.parse(event.data, response.status), response.status);
        yield { id: event.id, event: event.event, data: this.dataOf(event, response.status) };
      }
    } catch (error) {
      throw error instanceof DarumaError ? error : this.unreachable(error);
    }
  }

  private dataOf({ data }: ServerEvent, status: number): unknown {
    return this.parse(data, status);
  }

  private request({ rest, input: { shape } }: Operation, input: Fields): { url: string; init: RequestInit } {
    const left = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
    const path = rest.path.replace(/\{(\w+)\}/g, (_, field: string) => {
      const value = left.get(field);
      left.delete(field);
      return encodeURIComponent(String(value));
    });
    const inQuery =
      rest.method === "GET" || rest.method === "DELETE" ? Object.keys(shape) : (rest.query ?? []);
    const query = new URLSearchParams();
    for (const field of inQuery) {
      if (!left.has(field)) continue;
      for (const value of [left.get(field)].flat()) query.append(field, String(value));
      left.delete(field);
    }
    const { token, as, reader = "command-line" } = this.options;
    const hasBody = rest.method === "POST" || rest.method === "PUT";
    const headers = {
      accept: "application/json",
      [READER_HEADER]: reader,
      ...(as === undefined ? {} : { [AS_HEADER]: as }),
      ...(hasBody ? { "content-type": "application/json" } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const url = `${this.base}/api/v1${path}${query.size === 0 ? "" : `?${query}`}`;
    const body = hasBody ? { body: JSON.stringify(Object.fromEntries(left)) } : {};
    return { url, init: { method: rest.method, headers, ...body } };
  }

  private async send(url: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (error) {
      throw this.unreachable(error);
    }
    if (response.ok) return response;
    const text = await response.text().catch(() => "");
    throw this.errorOf(this.parse(text, response.status), response.status);
  }

  private parse(text: string, status: number): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.stranger(status);
    }
  }

  /** Converts the server's refusal into a local error with the same code, message and hint. */
  private errorOf(problem: unknown, status: number): DarumaError {
    const { code, detail, hint, problems, results } = (problem ?? {}) as { [key: string]: unknown };
    if (typeof code !== "string" || typeof detail !== "string") return this.stranger(status);
    const known = Object.hasOwn(ERROR_CATALOGUE, code) ? (code as ErrorCode) : "INTERNAL";
    const message = known === code ? detail : `${code}: ${detail}`;
    const advice = TOKEN_HINTS[code] ?? (typeof hint === "string" ? hint : ERROR_CATALOGUE[known].next);
    if (Array.isArray(problems))
      return new RemoteWorkflowError(known, message, advice, problems as readonly Problem[]);
    return new DarumaError(known, message, {
      hint: advice,
      ...(Array.isArray(results) ? { details: { results } } : {}),
    });
  }

  private stranger(status: number): DarumaError {
    return new DarumaError("SERVER_UNREACHABLE", `${this.base} is not a Daruma server (HTTP ${status})`);
  }

  private unreachable(error: unknown): DarumaError {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
    return new DarumaError("SERVER_UNREACHABLE", `${this.base} does not answer: ${reason}`, { cause: error });
  }
}

const END = Symbol("end");

function isOutage(error: unknown): boolean {
  return (
    error instanceof DarumaError && (error.code === "SERVER_UNREACHABLE" || error.code === "SERVER_STOPPING")
  );
}

/** Errors after which the outcome is unknown: the server, or its store, went away before it answered. */
const NO_ANSWER: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "SERVER_STOPPING",
  "STORE_FAILED",
  "LEASE_LOST",
]);
const LOST_CONNECTION = /^(ECONNRESET|EPIPE|ETIMEDOUT|UND_ERR_(SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT))$/;

/** Whether the request may have been executed although it failed. */
function isLostAnswer(error: unknown): boolean {
  if (!(error instanceof DarumaError)) return false;
  if (NO_ANSWER.has(error.code)) return true;
  const { cause } = error;
  const root = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return root instanceof Error && "code" in root && LOST_CONNECTION.test(String(root.code));
}

function given(input: Fields): Fields {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}
