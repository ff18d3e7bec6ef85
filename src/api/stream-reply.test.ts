import { get } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { bareServer, bearer } from "../../test/support/api-server.js";
import { EventReader } from "../../test/support/event-source.js";
import { DarumaError } from "../core/errors/errors.js";
import { type Operation, operation, type StreamItem } from "../operations/operation.js";
import type { Store } from "../store/store.js";
import { hashOfToken } from "../store/token-text.js";

const apps: FastifyInstance[] = [];

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

interface Watched {
  readonly url: string;
  readonly app: FastifyInstance;
  readonly store: Store;
  pulled: number;
  aborted: number;
  go: () => void;
}

/** A server with one stream that counts from `after`. At `waitAt` it waits until `go` is called. */
async function counting({
  last = 10,
  waitAt = -1,
  padding = 0,
  heartbeatMs = 15_000,
  text = false,
} = {}): Promise<Watched> {
  let go: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  async function* count(after: number, signal: AbortSignal): AsyncGenerator<StreamItem> {
    signal.addEventListener("abort", () => {
      watched.aborted += 1;
    });
    if (after > last) throw new DarumaError("RUN_NOT_FOUND", "there is no such place");
    for (let n = after + 1; n <= last; n += 1) {
      if (n === waitAt) await gate;
      watched.pulled += 1;
      const data = text ? { text: `line ${n}\n`, encoding: "utf8" } : { n, padding: "x".repeat(padding) };
      yield { id: String(n), event: "count", data };
    }
  }
  const counter = operation({
    name: "count",
    summary: "s",
    description: "d",
    role: "viewer",
    effect: "reads",
    input: z.object({ after: z.coerce.number().int().default(0) }),
    output: z.unknown(),
    rest: { method: "GET", path: "/count", ...(text ? { streamsText: true as const } : {}) },
    cli: [],
    streamFrom: "after",
    handler: async () => ({ items: [] }),
    stream: (_context, { after }, signal) => count(after, signal),
  });
  const { app, store } = await bareServer({
    operations: [counter] as unknown as Operation[],
    options: { heartbeatMs },
  });
  apps.push(app);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const watched: Watched = {
    app,
    store,
    url: `http://127.0.0.1:${port}/api/v1/count`,
    pulled: 0,
    aborted: 0,
    go,
  };
  return watched;
}

const numbers = (reader: EventReader) =>
  reader.events.flatMap(({ data, event }) => (event === "count" ? [(data as { n: number }).n] : []));

describe("a stream of server-sent events", () => {
  it("tells every item with its id, and says when it is over", async () => {
    const { url } = await counting({ last: 3 });
    const reader = await EventReader.open(url);
    await reader.ended;
    expect(reader.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(reader.response.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(reader.events.map(({ id, event }) => `${id} ${event}`)).toEqual([
      "1 count",
      "2 count",
      "3 count",
      "null end",
    ]);
  });

  it("goes on after Last-Event-ID or ?after=, without a gap and without telling anything twice", async () => {
    const { url, go } = await counting({ last: 10, waitAt: 6 });
    const first = await EventReader.open(url);
    await first.until(() => numbers(first).length === 5);
    first.close();
    const second = await EventReader.open(`${url}?after=2`, { "last-event-id": first.lastId! });
    go();
    await second.ended;
    expect([...numbers(first), ...numbers(second)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const third = await EventReader.open(`${url}?after=8`);
    await third.ended;
    expect(numbers(third)).toEqual([9, 10]);
  });

  it("is refused with a status while nothing was told yet", async () => {
    const { url } = await counting();
    expect((await EventReader.open(`${url}?after=11`)).status).toBe(404);
    expect((await EventReader.open(`${url}?after=x`)).status).toBe(422);
    expect((await EventReader.open(`${url}?follow=perhaps`, { accept: "*/*" })).status).toBe(422);
  });

  it("gives a sign of life while there is nothing to tell", async () => {
    const { url, go } = await counting({ waitAt: 1, heartbeatMs: 5 });
    const reader = await EventReader.open(url);
    await reader.until(() => reader.comments.length >= 3);
    expect(numbers(reader)).toEqual([]);
    go();
    await reader.ended;
    expect(numbers(reader)).toHaveLength(10);
  });

  it("lets go of its source when the reader goes", async () => {
    const watched = await counting({ waitAt: 2 });
    const reader = await EventReader.open(watched.url);
    await reader.until(() => numbers(reader).length === 1);
    reader.close();
    while (watched.aborted === 0) await delay(5);
    expect(watched.aborted).toBe(1);
  });

  it("makes nothing ready ahead of a reader that does not read", async () => {
    const watched = await counting({ last: 100_000, padding: 10_000 });
    const { port } = new URL(watched.url);
    const socket = connect({ host: "127.0.0.1", port: Number(port) });
    socket.pause();
    socket.write("GET /api/v1/count HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n");
    let before = -1;
    while (watched.pulled === 0 || watched.pulled !== before) {
      before = watched.pulled;
      await delay(200);
    }
    // What fits into the sockets of this machine and one buffer. 1 GB was available.
    expect(watched.pulled * 10_000).toBeLessThan(32 * 1024 * 1024);
    socket.destroy();
  });

  it("ends when the server closes, and its reader goes on elsewhere", async () => {
    const { url, app } = await counting({ waitAt: 4 });
    const reader = await EventReader.open(url);
    await reader.until(() => numbers(reader).length === 3);
    await app.close();
    await reader.ended;
    expect(reader.events.some(({ event }) => event === "end")).toBe(false);
    const elsewhere = await counting({ last: 5 });
    const next = await EventReader.open(elsewhere.url, { "last-event-id": reader.lastId! });
    await next.ended;
    expect(numbers(next)).toEqual([4, 5]);
  });

  it("is plain text for whoever just follows a text", async () => {
    const { url } = await counting({ last: 3, text: true });
    const body = await new Promise<string>((resolve) => {
      get(`${url}?follow=true`, (response) => {
        expect(response.headers["content-type"]).toBe("text/plain; charset=utf-8");
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => resolve(text));
      });
    });
    expect(body).toBe("line 1\nline 2\nline 3\n");
  });
});

describe("a stream whose reader", () => {
  const TOKEN = `drm_${"v".repeat(43)}`;
  const token = (expiresAt: number | null) => ({
    name: "reader",
    role: "viewer",
    hash: hashOfToken(TOKEN),
    at: 0,
    expiresAt,
  });
  const codeOf = (reader: EventReader): unknown =>
    reader.events.find(({ event }) => event === "error")?.data as { code?: string };

  it("has lost its token ends with the error at the next heartbeat", async () => {
    const { url, store } = await counting({ waitAt: 4, heartbeatMs: 20 });
    const { id } = await store.putToken(token(null));
    const reader = await EventReader.open(url, bearer(TOKEN));
    await reader.until(() => reader.comments.length >= 2);
    await store.revokeToken(id, 1);
    await reader.ended;
    expect(codeOf(reader)).toMatchObject({ code: "UNAUTHENTICATED", status: 401 });
    expect(numbers(reader)).toEqual([1, 2, 3]);
  });

  it("is the page ends with its session, however far the next heartbeat is", async () => {
    const { url, store } = await counting({ waitAt: 4, heartbeatMs: 3_600_000 });
    const { id: tokenId } = await store.putToken(token(null));
    const [session, hash] = ["s".repeat(43), hashOfToken("s".repeat(43))];
    await store.putSession({ hash, tokenId, at: Date.now(), expiresAt: Date.now() + 60_000 });
    const { port } = new URL(url);
    const reader = await EventReader.open(url, { cookie: `daruma_${port}=${session}` });
    await reader.until(() => numbers(reader).length === 3);
    await store.endSession(hash);
    await reader.ended;
    expect(codeOf(reader)).toMatchObject({ code: "UNAUTHENTICATED", status: 401 });
  });

  it("has a token that ends by its time is ended too, also while there is much to tell", async () => {
    const { url, store } = await counting({ last: 1_000_000_000, padding: 100, heartbeatMs: 20 });
    await store.putToken(token(Date.now() + 1_000));
    const reader = await EventReader.open(url, bearer(TOKEN));
    await reader.ended;
    expect(codeOf(reader)).toMatchObject({ code: "UNAUTHENTICATED" });
  });

  it("came without a token ends once one is needed", async () => {
    const { url, store } = await counting({ waitAt: 4, heartbeatMs: 20 });
    const reader = await EventReader.open(url);
    await reader.until(() => numbers(reader).length === 3);
    await store.putToken(token(null));
    await reader.ended;
    expect(codeOf(reader)).toMatchObject({ code: "UNAUTHENTICATED" });
  });

  it("follows plain text is cut off when its token is revoked", async () => {
    const { url, store } = await counting({ waitAt: 4, heartbeatMs: 20, text: true });
    const { id } = await store.putToken(token(null));
    const cut = new Promise<string>((resolve) => {
      get(`${url}?follow=true`, { headers: bearer(TOKEN) }, (response) => {
        response.once("data", () => void store.revokeToken(id, 1));
        response.on("error", () => resolve("cut"));
        response.on("end", () => resolve("ended"));
      });
    });
    expect(await cut).toBe("cut");
  });
});
