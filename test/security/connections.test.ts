import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Operation, operation, type StreamItem } from "../../src/operations/operation.js";
import { bareServer, bearer, putRoleTokens } from "../support/api-server.js";
import { EventReader } from "../support/event-source.js";

const apps: FastifyInstance[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const app of apps.splice(0)) await app.close();
});

async function listening(parts: Parameters<typeof bareServer>[0] = {}) {
  const server = await bareServer(parts);
  apps.push(server.app);
  await server.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = server.app.server.address() as AddressInfo;
  return { ...server, port, url: `http://127.0.0.1:${port}` };
}

/** A client that never closes: its side stays open whatever the server does. */
async function stubborn(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  sockets.push(socket);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

function openConnections({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}

describe("a connection that is refused", () => {
  it("is answered and closed by the server, though its client keeps its own side open", async () => {
    const { app, port } = await listening();
    const accepted: Socket[] = [];
    app.server.on("connection", (socket: Socket) => accepted.push(socket));
    const clients = await Promise.all(Array.from({ length: 20 }, () => stubborn(port)));
    const closed = accepted.map((socket) => once(socket, "close"));
    const answers = clients.map((socket) => once(socket, "data"));
    for (const socket of clients) socket.write("BAD\r\n\r\n");
    for (const [answer] of await Promise.all(answers)) expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
    await Promise.all(closed);
    expect(await openConnections(app)).toBe(0);
  });

  it("is closed too when its headers do not come in time", async () => {
    const { app, port } = await listening();
    const accepted = once(app.server, "connection");
    const client = await stubborn(port);
    client.write("GET /healthz HTTP/1.1\r\nx-slow: ");
    const [socket] = (await accepted) as [Socket];
    const closed = once(socket, "close");
    const answer = once(client, "data");
    // As Node does once headersTimeout or requestTimeout is over.
    const late = Object.assign(new Error("late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
    app.server.emit("clientError", late, socket);
    expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 408 /);
    await closed;
    expect(await openConnections(app)).toBe(0);
  });
});

describe("the number of connections", () => {
  it("is limited: a further one is closed, and one that ends makes room", async () => {
    const { app, port, url } = await listening({ options: { maxConnections: 2 } });
    const accepted: Socket[] = [];
    app.server.on("connection", (socket: Socket) => accepted.push(socket));
    const [first] = [await stubborn(port), await stubborn(port)];
    const third = await stubborn(port);
    third.resume();
    await once(third, "end");
    const gone = once(accepted[0]!, "close");
    first.destroy();
    await gone;
    expect((await fetch(`${url}/healthz`, { headers: { connection: "close" } })).status).toBe(200);
  });
});

async function* silence(signal: AbortSignal): AsyncGenerator<StreamItem> {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  yield* [];
}

const watch = operation({
  name: "watch",
  summary: "s",
  description: "d",
  role: "viewer",
  effect: "reads",
  input: z.object({}),
  output: z.unknown(),
  rest: { method: "GET", path: "/watch" },
  cli: [],
  handler: async () => ({}),
  stream: (_context, _input, signal) => silence(signal),
});

describe("event streams", () => {
  it("one token cannot take them all: it is refused beyond its share, and others are not", async () => {
    const { store, url } = await listening({
      operations: [watch] as unknown as Operation[],
      options: { streamsPerToken: 3 },
    });
    const tokens = await putRoleTokens(store);
    const open = (token: string) => EventReader.open(`${url}/api/v1/watch`, bearer(token));
    const own = [await open(tokens.viewer), await open(tokens.viewer), await open(tokens.viewer)];
    expect(own.map(({ status }) => status)).toEqual([200, 200, 200]);
    const refused = await fetch(`${url}/api/v1/watch?follow=true`, { headers: bearer(tokens.viewer) });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(await refused.json()).toMatchObject({
      code: "TOO_MANY_STREAMS",
      detail: "this token has 3 streams open already",
    });
    const other = await open(tokens.admin);
    expect(other.status).toBe(200);
    for (const reader of [...own, other]) reader.close();
  });
});
