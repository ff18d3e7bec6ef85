import { setTimeout as delay } from "node:timers/promises";
import type { Registered, Registration, Verdict } from "../desk/protocol.js";
import { ServerClient, ServerRefusal } from "./server-client.js";
import { type Moment, thisMoment } from "./worker-clock.js";

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;

/** A valid registration: the server knows the worker by this id. */
export interface Session extends Registered {
  readonly client: ServerClient;
}

export interface ConnectionPorts {
  readonly servers: readonly string[];
  readonly token: string | null;
  readonly registration: () => Registration;
  /** Called with what the server said about the attempts that the worker holds. */
  readonly onVerdict: (verdict: Verdict, sentAt: Moment) => void;
  readonly log: (line: string) => void;
  /** When aborted, nothing is tried any more. */
  readonly signal: AbortSignal;
}

/**
 * Keeps the worker registered at one of its servers: at the same one again after an error, at the next if that cannot
 * be reached.
 */
export class Connection {
  private readonly clients: readonly ServerClient[];
  private current = 0;
  private session: Session | null = null;
  /** The last registration at each server. */
  private readonly sessions = new Map<ServerClient, Session>();
  /** The terms of the server that was contacted last. */
  terms: { readonly leaseMs: number; readonly killMarginMs: number } | null = null;
  private connecting: Promise<Session> | null = null;

  constructor(private readonly ports: ConnectionPorts) {
    this.clients = ports.servers.map((url) => new ServerClient(url, ports.token));
  }

  /** Returns a session. Rejects only when the worker must give up, or the server refuses it. */
  get(): Promise<Session> {
    if (this.session !== null) return Promise.resolve(this.session);
    this.connecting ??= this.connect().finally(() => {
      this.connecting = null;
    });
    return this.connecting;
  }

  /** Registers again before the next request, because one of this session failed. */
  failed(session: Session, error: unknown): void {
    if (this.session !== session || this.ports.signal.aborted) return;
    this.session = null;
    this.ports.log(`lost ${session.client.url}: ${rootMessageOf(error)}`);
    if (!(error instanceof ServerRefusal)) this.turn();
  }

  /**
   * Whether an answer in this session counts. It does not after the worker has registered there again: what it did not
   * name then is given to it once more, and would be started twice.
   */
  isHeard(session: Session): boolean {
    return this.sessions.get(session.client) === session;
  }

  /** Moves on to another server, which may know what this one does not. */
  moveOn(session: Session): boolean {
    if (this.session !== session || this.clients.length === 1) return false;
    this.session = null;
    this.turn();
    return true;
  }

  private turn(): void {
    this.current = (this.current + 1) % this.clients.length;
  }

  private async connect(): Promise<Session> {
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
      this.ports.signal.throwIfAborted();
      const client = this.clients[this.current]!;
      const sentAt = thisMoment();
      this.sessions.delete(client);
      try {
        const { renewed, stop, lost, ...registered } = await client.register(this.ports.registration());
        this.session = { ...registered, client };
        this.sessions.set(client, this.session);
        this.terms = { leaseMs: registered.lease_ms, killMarginMs: registered.kill_margin_ms };
        this.ports.log(`connected to ${client.url}`);
        this.ports.onVerdict({ renewed, stop, lost }, sentAt);
        return this.session;
      } catch (error) {
        // A wrong token, or a name that is taken, will not change by itself.
        if (error instanceof ServerRefusal && error.isFinal && error.status !== 404) throw error;
        if (delayMs === FIRST_DELAY_MS) this.ports.log(`cannot reach ${client.url}: ${rootMessageOf(error)}`);
        this.turn();
      }
      await delay(delayMs, undefined, { signal: this.ports.signal });
    }
  }
}

/** The message of the root cause of an error. An error for several addresses has several causes. */
export function rootMessageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return rootMessageOf(error.errors[0]);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
