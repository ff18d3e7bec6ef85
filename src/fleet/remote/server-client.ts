import type { ErrorCode } from "../../core/errors/errors.js";
import type {
  Claim,
  ClaimAnswer,
  Heartbeat,
  HeartbeatAnswer,
  Registered,
  Registration,
  Reports,
  ReportsAnswer,
  Stream,
  Verdict,
} from "../desk/protocol.js";
import { HttpExchange } from "./http-exchange.js";

/** Time limit for an answer for which the server waits at most for a commit. */
const ANSWER_TIMEOUT_MS = 20_000;
const UPLOAD_TIMEOUT_MS = 120_000;
/** Added to the time that a claim waits at the server. */
const CLAIM_GRACE_MS = 10_000;

/** An answer of the server that is not a success. */
export class ServerRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: ErrorCode | null,
    message: string,
  ) {
    super(message);
    this.name = "ServerRefusal";
  }

  /** Whether the same request would be refused again. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }
}

/** One server from a worker's point of view. Throws the errors of `node:http` if it cannot be reached. */
export class ServerClient {
  private readonly exchange: HttpExchange;

  constructor(
    readonly url: string,
    private readonly token: string | null,
  ) {
    this.exchange = new HttpExchange(`${url.replace(/\/+$/, "")}/api/v1/workers`);
  }

  register(request: Registration): Promise<Registered & Verdict> {
    return this.send("POST", "", { json: request });
  }

  claim(
    workerId: string,
    request: Claim & { readonly wait_ms: number },
    signal: AbortSignal,
  ): Promise<ClaimAnswer> {
    return this.send("POST", `/${workerId}/claim`, {
      json: request,
      timeoutMs: request.wait_ms + CLAIM_GRACE_MS,
      signal,
    });
  }

  heartbeat(workerId: string, request: Heartbeat, timeoutMs: number): Promise<HeartbeatAnswer> {
    return this.send("POST", `/${workerId}/heartbeat`, { json: request, timeoutMs });
  }

  report(workerId: string, request: Reports, timeoutMs: number): Promise<ReportsAnswer> {
    const limited = Math.min(timeoutMs, ANSWER_TIMEOUT_MS);
    return this.send("POST", `/${workerId}/reports`, { json: request, timeoutMs: limited });
  }

  sendLog(
    workerId: string,
    { token, stream, offset }: { readonly token: string; readonly stream: Stream; readonly offset: number },
    bytes: Uint8Array,
  ): Promise<{ readonly size: number }> {
    const query = new URLSearchParams({ token, stream, offset: String(offset) });
    return this.send("PUT", `/${workerId}/logs?${query}`, { bytes });
  }

  sendOutput(workerId: string, token: string, bytes: Uint8Array): Promise<unknown> {
    const query = new URLSearchParams({ token });
    return this.send("PUT", `/${workerId}/output?${query}`, { bytes, timeoutMs: UPLOAD_TIMEOUT_MS });
  }

  async deregister(workerId: string): Promise<void> {
    await this.send("DELETE", `/${workerId}`, {});
  }

  private async send<T>(
    method: string,
    path: string,
    how: {
      readonly json?: unknown;
      readonly bytes?: Uint8Array;
      readonly timeoutMs?: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<T> {
    const type = how.json !== undefined ? "application/json" : how.bytes && "application/octet-stream";
    const { status, text } = await this.exchange.send({
      method,
      path,
      headers: {
        ...(type === undefined ? {} : { "content-type": type }),
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
      },
      body: how.json !== undefined ? JSON.stringify(how.json) : (how.bytes ?? null),
      timeoutMs: how.timeoutMs ?? ANSWER_TIMEOUT_MS,
      signal: how.signal ?? null,
    });
    if (status < 200 || status > 299) throw refusalOf(status, text);
    return (text === "" ? null : JSON.parse(text)) as T;
  }
}

function refusalOf(status: number, text: string): ServerRefusal {
  try {
    const { code, detail } = JSON.parse(text) as { code?: ErrorCode; detail?: string };
    return new ServerRefusal(status, code ?? null, detail ?? `HTTP status ${status}`);
  } catch {
    return new ServerRefusal(status, null, `HTTP status ${status}`);
  }
}
