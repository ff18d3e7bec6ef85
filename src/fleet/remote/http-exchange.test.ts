import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { rootMessageOf } from "./connection.js";
import { HttpExchange, type HttpRequest } from "./server-client.js";

let server: Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Answers with what it was asked; `/silent` never, `/half` with half of what it promised. */
async function serve() {
  const connections: Socket[] = [];
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      if (request.url === "/base/silent") return;
      if (request.url === "/base/half") {
        response.writeHead(200, { "content-length": "10" }).write("half");
        return void setImmediate(() => request.socket.destroy());
      }
      const { method, url, headers } = request;
      response.writeHead(207).end(JSON.stringify({ method, url, type: headers["content-type"], body }));
    });
  });
  server.on("connection", (socket: Socket) => connections.push(socket));
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  const exchange = new HttpExchange(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`);
  const send = (path: string, changes: Partial<HttpRequest> = {}) =>
    exchange.send({
      method: "GET",
      path,
      headers: {},
      body: null,
      timeoutMs: 30_000,
      signal: null,
      ...changes,
    });
  return { send, connections };
}

describe("an exchange with a server", () => {
  it("sends what it is given below its address, texts and bytes, and reads the whole answer", async () => {
    const { send } = await serve();
    const headers = { "content-type": "text/x" };
    const { status, text } = await send("/a?b=c", { method: "POST", headers, body: "é" });
    expect([status, JSON.parse(text)]).toEqual([
      207,
      { method: "POST", url: "/base/a?b=c", type: "text/x", body: "é" },
    ]);
    const bytes = await send("", { method: "PUT", body: Buffer.from("xyz") });
    expect(JSON.parse(bytes.text)).toMatchObject({ method: "PUT", url: "/base", body: "xyz" });
  });

  it("keeps its connection for the next request", async () => {
    const { send, connections } = await serve();
    for (let n = 0; n < 5; n += 1) await send("/a", { method: "POST", body: "{}" });
    expect(connections).toHaveLength(1);
  });

  it("gives up a request that is not answered in time, and one that is aborted", async () => {
    const { send } = await serve();
    await expect(send("/silent", { timeoutMs: 20 })).rejects.toThrow("no answer within 20 ms");
    const controller = new AbortController();
    const waiting = send("/silent", { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(send("/a", { signal: controller.signal })).rejects.toThrow("enough");
  });

  it("takes half an answer for none", async () => {
    const { send } = await serve();
    await expect(send("/half")).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("says why a server cannot be reached, also where a name has several addresses", async () => {
    const exchange = new HttpExchange("http://localhost:1");
    const request = { method: "GET", path: "", headers: {}, body: null, timeoutMs: 30_000, signal: null };
    const error: unknown = await exchange.send(request).catch((reason: unknown) => reason);
    expect(rootMessageOf(error)).toContain("ECONNREFUSED");
    expect(rootMessageOf(new AggregateError([new Error("first"), new Error("second")]))).toBe("first");
  });
});
