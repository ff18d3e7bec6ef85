import type { FastifyPluginAsync } from "fastify";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { bareServer, bearer, putRoleTokens } from "../../test/support/api-server.js";
import { DarumaError } from "../core/errors/errors.js";
import { type Operation, operation } from "../operations/operation.js";

const described = {
  summary: "s",
  description: "d",
  role: "viewer",
  effect: "reads",
  output: z.unknown(),
  cli: [],
} as const;

const echo = operation({
  ...described,
  name: "echo",
  input: z.object({
    id: z.coerce.number().int().positive(),
    deep: z.boolean().default(false),
    count: z.number().optional(),
    tags: z.array(z.string()).optional(),
  }),
  rest: { method: "GET", path: "/things/{id}", unprefixed: true },
  handler: async (_context, input) => input,
});

const change = operation({
  ...described,
  name: "change",
  role: "operator",
  effect: "changes",
  input: z.object({
    id: z.string(),
    limit: z.coerce.number(),
    value: z.unknown(),
    why: z.string().optional(),
  }),
  rest: { method: "POST", path: "/things/{id}/change", query: ["limit"], status: 201 },
  handler: async (_context, input) => input,
});

const remove = operation({
  ...described,
  name: "remove",
  role: "admin",
  effect: "destroys",
  input: z.object({ id: z.string() }),
  rest: { method: "DELETE", path: "/things/{id}", status: 204 },
  handler: async (_context, input) => {
    if (input.id === "owned") throw new DarumaError("RUN_OWNED", "somebody has it");
    if (input.id === "gone") throw new DarumaError("RUN_NOT_FOUND", "there is none");
    if (input.id === "disk") throw new DarumaError("STORE_FAILED", "cannot write to the disk sda1");
    if (input.id === "bug") throw new TypeError("cannot read properties of undefined");
    return undefined;
  },
});

const OPERATIONS = [echo, change, remove] as unknown as readonly Operation[];

async function server(parts: Parameters<typeof bareServer>[0] = {}) {
  return bareServer({ operations: OPERATIONS, ...parts });
}

const LOCAL = { host: "127.0.0.1:7420" };

describe("the input of an operation", () => {
  it("is made of path, query and body, each field from its own place", async () => {
    const { app } = await server();
    const read = await app.inject({
      url: "/api/v1/things/7?deep=true&count=2.5&tags=a&tags=b",
      headers: LOCAL,
    });
    expect(read.json()).toEqual({ id: 7, deep: true, count: 2.5, tags: ["a", "b"] });
    const changed = await app.inject({
      method: "POST",
      url: "/api/v1/things/a%2Fb/change?limit=3",
      headers: LOCAL,
      payload: { value: { x: [1] } },
    });
    expect([changed.statusCode, changed.json()]).toEqual([201, { id: "a/b", limit: 3, value: { x: [1] } }]);
  });

  it("is refused with every field that is wrong, unknown or in the wrong place", async () => {
    const { app } = await server();
    const read = await app.inject({
      url: "/api/v1/things/0?deep=perhaps&count=0x7&colour=red",
      headers: LOCAL,
    });
    expect(read.statusCode).toBe(422);
    expect(read.headers["content-type"]).toMatch(/^application\/problem\+json/);
    expect(read.json()).toMatchObject({ code: "INVALID_INPUT", status: 422 });
    const paths = read.json<{ errors: { path: string }[] }>().errors.map(({ path }) => path);
    expect(paths.toSorted()).toEqual(["colour", "count", "deep", "id"]);
    const changed = await app.inject({
      method: "POST",
      url: "/api/v1/things/a/change?limit=3&why=x&colour=red",
      headers: LOCAL,
      payload: { value: 1, id: "b" },
    });
    expect(changed.json<{ errors: object[] }>().errors).toEqual([
      { path: "id", message: "belongs in the path" },
      { path: "why", message: "belongs in the body" },
      { path: "colour", message: expect.stringMatching(/^unknown field; known fields are .*why/) },
    ]);
  });

  it("may come without a body, but not with one that is no JSON object", async () => {
    const { app } = await server();
    const post = (payload: string | undefined, type = "application/json") =>
      app.inject({
        method: "POST",
        url: "/api/v1/things/a/change?limit=1",
        headers: { ...LOCAL, ...(payload === undefined ? {} : { "content-type": type }) },
        ...(payload === undefined ? {} : { payload }),
      });
    expect((await post(undefined)).statusCode).toBe(422);
    const codes = async (payload: string, type?: string) => {
      const answer = await post(payload, type);
      return `${answer.statusCode} ${answer.json<{ code: string }>().code}`;
    };
    expect(await codes("[1]")).toBe("422 INVALID_INPUT");
    expect(await codes("{")).toBe("400 MALFORMED_REQUEST");
    expect(await codes('{"value": {"__proto__": {"admin": true}}}')).toBe("400 MALFORMED_REQUEST");
    expect(await codes(`{"value": ${"[".repeat(5_000)}${"]".repeat(5_000)}}`)).toBe("400 MALFORMED_REQUEST");
    expect(await codes('{"value": 1}', "text/plain")).toBe("415 MEDIA_TYPE");
    expect(await codes("value=1", "application/x-www-form-urlencoded")).toBe("415 MEDIA_TYPE");
    expect(await codes(`{"value": "${"x".repeat(9 * 1024 * 1024)}"}`)).toBe("413 BODY_TOO_LARGE");
  });
});

describe("an answer", () => {
  it("has the status of the error's code, and nothing of what is the server's own business", async () => {
    const { app, faults } = await server();
    const remove = async (id: string) => {
      const answer = await app.inject({ method: "DELETE", url: `/api/v1/things/${id}`, headers: LOCAL });
      return { status: answer.statusCode, body: answer.body };
    };
    expect(await remove("a")).toEqual({ status: 204, body: "" });
    expect((await remove("owned")).status).toBe(409);
    expect((await remove("gone")).status).toBe(404);
    for (const [id, status, code] of [
      ["disk", 503, "STORE_FAILED"],
      ["bug", 500, "INTERNAL"],
    ] as const) {
      const answer = await remove(id);
      expect(answer.status).toBe(status);
      expect(JSON.parse(answer.body)).toMatchObject({
        code,
        reference: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      expect(answer.body).not.toMatch(/sda1|undefined|TypeError/);
    }
    expect(faults.map(String)).toEqual([
      "DarumaError: cannot write to the disk sda1",
      "TypeError: cannot read properties of undefined",
    ]);
  });

  it("to an address that is not there is a problem too, and names the methods that are", async () => {
    const { app } = await server();
    const none = await app.inject({ url: "/api/v1/nothing", headers: LOCAL });
    expect([none.statusCode, none.json<{ code: string }>().code]).toEqual([404, "ROUTE_NOT_FOUND"]);
    const wrong = await app.inject({ method: "PUT", url: "/api/v1/things/7", headers: LOCAL });
    expect([wrong.statusCode, wrong.headers.allow]).toEqual([405, "GET, HEAD, DELETE"]);
    const broken = await app.inject({ url: "/api/v1/things/%zz", headers: LOCAL });
    expect([broken.statusCode, broken.json<{ code: string }>().code]).toEqual([400, "MALFORMED_REQUEST"]);
    const head = await app.inject({ method: "HEAD", url: "/api/v1/things/7", headers: LOCAL });
    expect([head.statusCode, head.body]).toEqual([200, ""]);
  });

  it("carries headers that keep a browser from mischief, and none that let other sites in", async () => {
    const { app } = await server();
    const { headers } = await app.inject({ url: "/things/7", headers: LOCAL });
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["x-frame-options"]).toBe("DENY");
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  });
});

describe("who may come in", () => {
  it("is this machine alone while there is no token", async () => {
    const { app } = await server();
    const ask = async (headers: Record<string, string>) =>
      (await app.inject({ url: "/api/v1/things/7", headers })).statusCode;
    for (const host of ["127.0.0.1:7420", "localhost", "[::1]:7420", "127.9.9.9"])
      expect(await ask({ host })).toBe(200);
    for (const host of [
      "evil.example",
      "127.0.0.1.evil.example",
      "localhost.evil.example:7420",
      "192.168.1.2",
      "localhost#evil.example",
      "localhost/evil.example",
      "localhost?evil.example",
      "evil.example@127.0.0.1",
      "127.0.0.1:7420@evil.example",
      "local\thost",
      "127.1",
      "0x7f.0.0.1",
      "localhost:99999999",
    ])
      expect(await ask({ host })).toBe(403);
    expect(await ask({ ...LOCAL, origin: "http://127.0.0.1:7420" })).toBe(200);
    const site = (where: string, mode = "no-cors") => ({
      ...LOCAL,
      "sec-fetch-site": where,
      "sec-fetch-mode": mode,
    });
    for (const where of ["same-origin", "none"]) expect(await ask(site(where))).toBe(200);
    for (const where of ["cross-site", "same-site"]) {
      expect(await ask(site(where))).toBe(403);
      expect(await ask(site(where, "navigate"))).toBe(200);
    }
    for (const origin of ["http://evil.example", "null", "http://127.0.0.1:9999", "nonsense"])
      expect(await ask({ ...LOCAL, origin })).toBe(403);
  });

  it("needs a token from the moment one exists, even if it was revoked since", async () => {
    const { app, store } = await server();
    const ask = async (headers: Record<string, string> = {}) =>
      (await app.inject({ url: "/api/v1/things/7", headers: { ...LOCAL, ...headers } })).statusCode;
    expect(await ask()).toBe(200);
    const tokens = await putRoleTokens(store);
    expect(await ask()).toBe(401);
    expect(await ask(bearer(tokens.viewer))).toBe(200);
    for (const { id } of await store.listTokens()) await store.revokeToken(id, 1);
    expect(await ask(bearer(tokens.viewer))).toBe(401);
    expect(await ask()).toBe(401);
  });

  it("is refused with a token that is wrong, expired or not a token", async () => {
    let now = 1_000;
    const { app, store } = await server({ now: () => now });
    await putRoleTokens(store);
    const { hashOfToken } = await import("../store/token-text.js");
    const short = `drm_${"s".repeat(43)}`;
    await store.putToken({ name: "s", role: "viewer", hash: hashOfToken(short), at: 0, expiresAt: 2_000 });
    const ask = async (authorization: string) =>
      app.inject({ url: "/api/v1/things/7", headers: { ...LOCAL, authorization } });
    expect((await ask(`Bearer ${short}`)).statusCode).toBe(200);
    now = 2_000;
    const late = await ask(`Bearer ${short}`);
    expect([late.statusCode, late.headers["www-authenticate"]]).toEqual([401, 'Bearer realm="daruma"']);
    for (const wrong of ["", "Basic YTpi", `Bearer ${hashOfToken(short)}`, `Bearer drm_${"t".repeat(43)}`])
      expect((await ask(wrong)).statusCode).toBe(401);
  });

  it("is told to wait once it has guessed too often, and others are not", async () => {
    const { app, store } = await server();
    const tokens = await putRoleTokens(store);
    const ask = (token: string, remoteAddress: string) =>
      app.inject({ url: "/api/v1/things/7", remoteAddress, headers: { ...LOCAL, ...bearer(token) } });
    for (let i = 0; i < 60; i += 1)
      expect((await ask(`guess-number-${i}`.padEnd(40, "x"), "10.0.0.1")).statusCode).toBe(401);
    const refused = await ask("one-guess-too-many-it-is", "10.0.0.1");
    expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([429, "60"]);
    expect((await ask("one-guess-too-many-it-is", "10.0.0.2")).statusCode).toBe(401);
    expect((await ask(tokens.viewer, "10.0.0.1")).statusCode).toBe(200);
  });

  it("may change nothing from a web page of another origin, whatever its token", async () => {
    const { app, store } = await server({ options: { allowedOrigins: ["https://ours.example"] } });
    const tokens = await putRoleTokens(store);
    const send = (origin: string, host = "daruma.example") =>
      app.inject({
        method: "POST",
        url: "/api/v1/things/a/change?limit=1",
        headers: { host, origin, ...bearer(tokens.operator) },
        payload: { value: 1 },
      });
    const refused = await send("https://evil.example");
    expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([403, "ORIGIN_REFUSED"]);
    expect((await send("null")).statusCode).toBe(403);
    expect((await send("https://daruma.example")).statusCode).toBe(201);
    const allowed = await send("https://ours.example");
    expect([allowed.statusCode, allowed.headers["access-control-allow-origin"]]).toEqual([
      201,
      "https://ours.example",
    ]);
    const asked = await app.inject({
      method: "OPTIONS",
      url: "/api/v1/things/a/change",
      headers: { host: "daruma.example", origin: "https://ours.example" },
    });
    expect([asked.statusCode, asked.headers["access-control-allow-methods"]]).toEqual([
      204,
      "GET, POST, PUT, DELETE",
    ]);
  });

  it("may do what its role may, and is told which role it takes", async () => {
    const { app, store } = await server();
    const tokens = await putRoleTokens(store);
    const answer = await app.inject({
      method: "DELETE",
      url: "/api/v1/things/a",
      headers: { ...LOCAL, ...bearer(tokens.operator) },
    });
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toMatchObject({
      code: "FORBIDDEN",
      detail: "this needs the role admin; the token's role is operator",
    });
  });

  it("has a batch of messages counted as so many requests, and none of it done where they are too many", async () => {
    let done = 0;
    const routes: FastifyPluginAsync = async (app) => {
      app.post("/batch", async () => ++done);
    };
    const { app } = await server({
      options: { requestsPerMinute: 10 },
      groups: [{ prefix: "", role: "viewer", routes }],
    });
    const send = async (count: number) =>
      (
        await app.inject({
          method: "POST",
          url: "/batch",
          headers: LOCAL,
          payload: Array.from({ length: count }, (_, id) => ({ id })),
        })
      ).statusCode;
    expect(await send(100)).toBe(429);
    expect(done).toBe(0);
    const { app: other } = await server({
      options: { requestsPerMinute: 10 },
      groups: [{ prefix: "", role: "viewer", routes }],
    });
    const post = async (payload: object[]) =>
      (await other.inject({ method: "POST", url: "/batch", headers: LOCAL, payload })).statusCode;
    expect(await post(Array.from({ length: 9 }, () => ({})))).toBe(200);
    expect(await post([{}])).toBe(200);
    expect(await post([{}])).toBe(429);
    expect(done).toBe(2);
  });

  it("is slowed down by its own requests only", async () => {
    const { app, store } = await server({ options: { requestsPerMinute: 3 } });
    const tokens = await putRoleTokens(store);
    const ask = async (token: string) =>
      (await app.inject({ url: "/api/v1/things/7", headers: { ...LOCAL, ...bearer(token) } })).statusCode;
    for (let i = 0; i < 3; i += 1) expect(await ask(tokens.viewer)).toBe(200);
    expect(await ask(tokens.viewer)).toBe(429);
    expect(await ask(tokens.operator)).toBe(200);
  });
});

describe("a group of routes that are no operations", () => {
  it("asks for its role and has no limit of requests where it says so", async () => {
    const { app, store } = await server({
      options: { requestsPerMinute: 2 },
      groups: [
        {
          prefix: "/api/v1/workers",
          role: "worker",
          unlimited: true,
          routes: async (group) => {
            group.post("/claim", async (request) => ({ by: request.caller?.principal.name }));
          },
        },
      ],
    });
    const tokens = await putRoleTokens(store);
    const claim = (token: string) =>
      app.inject({ method: "POST", url: "/api/v1/workers/claim", headers: { ...LOCAL, ...bearer(token) } });
    for (let i = 0; i < 5; i += 1) expect((await claim(tokens.worker)).json()).toEqual({ by: "a worker" });
    expect((await claim(tokens.operator)).statusCode).toBe(403);
  });
});

describe("health", () => {
  it("is told to everybody; readiness depends on the store and on whether the server goes down", async () => {
    let ready = true;
    const { app, store } = await server({ isReady: () => ready, metrics: () => "up 1\n" });
    await putRoleTokens(store);
    const ask = async (url: string) =>
      (await app.inject({ url, headers: { host: "lb.example" } })).statusCode;
    expect(await ask("/healthz")).toBe(200);
    expect(await ask("/readyz")).toBe(200);
    expect(await ask("/metrics")).toBe(401);
    ready = false;
    expect(await ask("/readyz")).toBe(503);
    ready = true;
    store.ping = () => Promise.reject(new DarumaError("STORE_FAILED", "gone"));
    expect(await ask("/readyz")).toBe(503);
    expect(await ask("/healthz")).toBe(200);
  });
});
