import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Json } from "../../core/text/json.js";
import { fetchFollowing, readHttpRequest } from "./http-request.js";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Seen {
  readonly headers: IncomingHttpHeaders;
}

/** A server that remembers what it was asked. */
async function serveEcho(): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const url = await serve(({ headers }, response) => {
    seen.push({ headers });
    response.end();
  });
  return { url, seen };
}

const send = (keys: Record<string, Json>) => fetchFollowing(readHttpRequest({ type: "http", ...keys }), null);
const HEADERS = { authorization: "Bearer x", "x-session-id": "s", "x-vault": "v", accept: "text/x" };

describe("a redirect to another origin", () => {
  it("takes no header along, whatever its name, unless the step names the origin", async () => {
    const other = await serveEcho();
    const url = await serve((_, response) => void response.writeHead(302, { location: other.url }).end());
    await send({ url, headers: HEADERS });
    await send({ url, headers: HEADERS, redirect_origins: ["http://127.0.0.1:1"] });
    await send({ url, headers: HEADERS, redirect_origins: [other.url] });
    const shown = other.seen.map(({ headers }) => Object.keys(HEADERS).map((name) => headers[name] ?? null));
    const nothing = [null, null, null, "*/*"];
    expect(shown).toEqual([nothing, nothing, Object.values(HEADERS)]);
  });

  it("is not followed with a body, unless the step names the origin", async () => {
    let body = "";
    const other = await serve(async (incoming, response) => {
      for await (const chunk of incoming) body += String(chunk);
      response.end();
    });
    const url = await serve((incoming, response) => {
      response.writeHead(Number(incoming.url?.slice(1)), { location: `${other}/end` }).end();
    });
    const post = (status: number) => ({ url: `${url}/${status}`, method: "POST", body: { order: "data" } });
    for (const status of [307, 308])
      await expect(send(post(status))).rejects.toMatchObject({
        code: "REQUEST_INVALID",
        message: expect.stringContaining(`redirect_origins: [${other}]`),
      });
    await send(post(302));
    expect(body).toBe("");
    await send({ ...post(307), redirect_origins: [other] });
    expect(body).toBe('{"order":"data"}');
  });

  it("leaves the headers behind for good, also on the way back", async () => {
    let home = "";
    const seen: IncomingHttpHeaders[] = [];
    const other = await serve(
      (_, response) => void response.writeHead(302, { location: `${home}/end` }).end(),
    );
    home = await serve((incoming, response) => {
      if (incoming.url !== "/end") return void response.writeHead(302, { location: other }).end();
      seen.push(incoming.headers);
      response.end();
    });
    await send({ url: `${home}/start`, headers: HEADERS });
    expect(seen).toHaveLength(1);
    expect([seen[0]!.authorization, seen[0]!["x-session-id"]]).toEqual([undefined, undefined]);
  });
});
