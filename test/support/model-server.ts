import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: { readonly [key: string]: unknown };
}

export type ModelReply = (response: ServerResponse, request: SeenRequest) => void | Promise<void>;

/** A server on this machine that speaks the streaming protocols of model providers, one reply a request. */
export class ModelServers {
  private readonly closers: (() => Promise<void>)[] = [];

  constructor() {
    afterEach(async () => {
      for (const close of this.closers.splice(0)) await close();
    });
  }

  /** The last reply serves all further requests. */
  async serve(...replies: readonly ModelReply[]): Promise<{ url: string; seen: SeenRequest[] }> {
    const seen: SeenRequest[] = [];
    const server = createServer(async (incoming, response) => {
      let text = "";
      for await (const chunk of incoming) text += chunk;
      const request = { path: incoming.url ?? "", headers: incoming.headers, body: JSON.parse(text) };
      const reply = replies[Math.min(seen.length, replies.length - 1)]!;
      seen.push(request);
      await reply(response, request);
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    this.closers.push(async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
  }
}

const EVENT_STREAM = { "content-type": "text/event-stream" };

export const refuse =
  (status: number, message: string, headers: Record<string, string> = {}): ModelReply =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message, type: "error", code: null } }));
  };

export function chatChunk(content: string, more: object = {}): string {
  const choice = { index: 0, delta: { role: "assistant", content }, finish_reason: null };
  return `data: ${JSON.stringify({ id: "c1", created: 1, model: "m", choices: [choice], ...more })}\n\n`;
}

export function chatEnd(reason = "stop"): string {
  const choice = { index: 0, delta: {}, finish_reason: reason };
  const end = { id: "c1", created: 1, model: "m", choices: [choice] };
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  return `data: ${JSON.stringify(end)}\n\ndata: ${JSON.stringify({ ...end, choices: [], usage })}\n\ndata: [DONE]\n\n`;
}

/** A whole answer, streamed part by part. */
export const say =
  (parts: readonly string[], reason = "stop"): ModelReply =>
  (response) => {
    response.writeHead(200, EVENT_STREAM);
    for (const part of parts) response.write(chatChunk(part));
    response.end(chatEnd(reason));
  };

/** Begins to answer; what happens then is up to the test. */
export const begin =
  (part: string, then: (response: ServerResponse) => void = () => {}): ModelReply =>
  (response) => {
    response.writeHead(200, EVENT_STREAM);
    response.write(chatChunk(part), () => then(response));
  };

/** The same in the protocol of the other large provider. */
export const sayInMessages =
  (parts: readonly string[]): ModelReply =>
  (response) => {
    response.writeHead(200, EVENT_STREAM);
    const send = (type: string, body: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`);
    const message = { id: "m1", type: "message", role: "assistant", model: "m", content: [] };
    send("message_start", {
      message: { ...message, stop_reason: null, usage: { input_tokens: 5, output_tokens: 1 } },
    });
    send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
    for (const text of parts) send("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
    send("content_block_stop", { index: 0 });
    send("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 9 },
    });
    send("message_stop", {});
    response.end();
  };
