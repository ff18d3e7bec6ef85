import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { isJSONRPCRequest, type JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";

type Id = string | number;

/** Tracks requests of a transport that were read but not answered yet. */
export class OpenRequests {
  private readonly open = new Set<Id>();
  private waiting: (() => void)[] = [];

  /** Begins tracking. Call it after the transport has been connected. */
  constructor(transport: Transport) {
    const { onmessage } = transport;
    const send = transport.send.bind(transport);
    transport.onmessage = (message, extra) => {
      if (isJSONRPCRequest(message)) this.open.add(message.id);
      const canceled = canceledBy(message);
      // A canceled request gets no answer.
      if (canceled !== null) this.settle(canceled);
      onmessage?.(message, extra);
    };
    transport.send = async (message, options) => {
      await send(message, options);
      if (!("method" in message) && message.id !== undefined) this.settle(message.id);
    };
  }

  /** Resolves when all requests are answered. */
  answered(): Promise<void> {
    if (this.open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private settle(id: Id): void {
    this.open.delete(id);
    if (this.open.size > 0) return;
    for (const resolve of this.waiting) resolve();
    this.waiting = [];
  }
}

function canceledBy(message: JSONRPCMessage): Id | null {
  if (!("method" in message) || message.method !== "notifications/cancelled") return null;
  return (message.params as { requestId?: Id } | undefined)?.requestId ?? null;
}
