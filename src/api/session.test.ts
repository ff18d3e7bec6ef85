import type { FastifyInstance } from "fastify";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { bareServer, bearer, putRoleTokens, type RoleTokens } from "../../test/support/api-server.js";
import { operation } from "../operations/operation.js";
import type { Store } from "../store/store.js";
import { hashOfToken } from "../store/token-text.js";

const HOST = "127.0.0.1:7420";
const OWN = { host: HOST, origin: `http://${HOST}`, "x-daruma-page": "1" };

const described = {
  summary: "s",
  description: "d",
  input: z.object({}),
  output: z.unknown(),
  cli: [],
} as const;
const look = operation({
  ...described,
  name: "look",
  role: "viewer",
  effect: "reads",
  rest: { method: "GET", path: "/look" },
  handler: async ({ principal }) => principal,
});
const change = operation({
  ...described,
  name: "change",
  role: "operator",
  effect: "changes",
  rest: { method: "POST", path: "/change" },
  handler: async ({ principal }) => principal,
});

async function serverWithTokens(parts: Parameters<typeof bareServer>[0] = {}): Promise<{
  app: FastifyInstance;
  store: Store;
  tokens: RoleTokens;
  revoke: (id: number) => unknown;
}> {
  const { app, store } = await bareServer({ operations: [look, change] as never, ...parts });
  const tokens = await putRoleTokens(store);
  return { app, store, tokens, revoke: (id) => store.revokeToken(id, 1) };
}

function signIn(app: FastifyInstance, token: unknown, headers: { [name: string]: string } = OWN) {
  return app.inject({ method: "POST", url: "/session", headers, payload: { token } });
}

/** The cookies that a browser keeps for `/`. */
function setCookies(answer: { readonly headers: { readonly [name: string]: unknown } }): string[] {
  return [answer.headers["set-cookie"] ?? []].flat().map(String);
}

async function cookieFor(app: FastifyInstance, token: string): Promise<string> {
  const own = setCookies(await signIn(app, token)).find((text) => text.includes("; Path=/; "));
  return own!.split(";", 1)[0]!;
}

describe("signing in with a token", () => {
  it("gives a cookie that no script and no other site can use, and says who it is", {
    tags: ["P14"],
  }, async () => {
    const { app, tokens } = await serverWithTokens();
    const answer = await signIn(app, tokens.operator);
    expect([answer.statusCode, answer.json()]).toEqual([200, { name: "a operator", role: "operator" }]);
    const own = setCookies(answer).at(-1)!;
    expect(own).toMatch(
      /^daruma_7420=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Expires=\w{3}, .* GMT$/,
    );
    expect(setCookies(answer).join()).not.toContain(tokens.operator);
    expect(answer.headers["cache-control"]).toBe("no-store");
  });

  it.each([
    ["a wrong token", "drm_0123456789abcdef0123456789abcdef"],
    ["no token", undefined],
    ["what cannot stand in a cookie", "drm_x; Domain=evil.example; padding-padding"],
  ])("is refused for %s", async (_what, token) => {
    const { app } = await serverWithTokens();
    const answer = await signIn(app, token);
    expect([answer.statusCode, answer.headers["set-cookie"]]).toEqual([401, undefined]);
  });

  it.each([
    ["a form", { host: HOST, origin: `http://${HOST}` }],
    ["another origin", { ...OWN, origin: "http://evil.example" }],
    ["nothing that says where it comes from", { host: HOST, "x-daruma-page": "1" }],
  ])("is refused from %s", async (_where, headers) => {
    const { app, tokens } = await serverWithTokens();
    expect((await signIn(app, tokens.operator, headers)).statusCode).toBe(403);
  });
});

describe("a request with the cookie", () => {
  it("is the token's: it may what its role may, until the token is revoked", async () => {
    const { app, tokens, revoke } = await serverWithTokens();
    const cookie = await cookieFor(app, tokens.viewer);
    const ask = (method: "GET" | "POST", url: string) =>
      app.inject({ method, url: `/api/v1${url}`, headers: { ...OWN, cookie } });
    expect((await ask("GET", "/look")).json()).toEqual({ name: "a viewer", role: "viewer" });
    expect((await ask("POST", "/change")).statusCode).toBe(403);
    await revoke(1);
    expect((await ask("GET", "/look")).statusCode).toBe(401);
  });

  it("changes nothing without the header that only the page sends, and its origin", {
    tags: ["P14"],
  }, async () => {
    const { app, tokens } = await serverWithTokens();
    const cookie = await cookieFor(app, tokens.operator);
    const ask = async (headers: { [name: string]: string }) =>
      (await app.inject({ method: "POST", url: "/api/v1/change", headers: { cookie, ...headers } }))
        .statusCode;
    expect(await ask(OWN)).toBe(200);
    expect(await ask({ host: HOST, origin: `http://${HOST}` })).toBe(403);
    expect(await ask({ host: HOST, "x-daruma-page": "1" })).toBe(403);
    expect(await ask({ ...OWN, origin: "http://127.0.0.1:9999" })).toBe(403);
  });

  it("is not that of a server on another port of the same machine", async () => {
    const { app, tokens } = await serverWithTokens();
    const cookie = await cookieFor(app, tokens.operator);
    const other = { host: "127.0.0.1:7421", cookie };
    expect((await app.inject({ url: "/api/v1/look", headers: other })).statusCode).toBe(401);
  });

  it("of a server that had tokens is no obstacle where there are none now", async () => {
    const { app, store } = await bareServer({ operations: [look, change] as never });
    const cookie = "daruma_7420=drm_0123456789abcdef0123456789abcdef";
    const ask = (headers: { [name: string]: string }) =>
      app.inject({ url: "/api/v1/look", headers: { ...OWN, ...headers } });
    // More requests than wrong tokens are allowed in a minute.
    for (let asked = 0; asked < 70; asked += 1)
      expect((await ask({ cookie })).json()).toEqual({ name: "local", role: "admin" });
    expect((await ask({ cookie, host: "evil.example", origin: "http://evil.example" })).statusCode).toBe(403);
    expect((await ask(bearer("drm_0123456789abcdef0123456789abcdef"))).statusCode).toBe(401);
    await putRoleTokens(store);
    expect((await ask({ cookie })).statusCode).toBe(401);
  });

  it("counts less than a token that the request itself carries", async () => {
    const { app, tokens } = await serverWithTokens();
    const cookie = await cookieFor(app, tokens.operator);
    const headers = { ...OWN, cookie, ...bearer(tokens.viewer) };
    expect((await app.inject({ url: "/api/v1/look", headers })).json()).toMatchObject({ role: "viewer" });
  });

  it("ends with signing out, wherever a copy of it is", { tags: ["P14"] }, async () => {
    const { app, tokens } = await serverWithTokens();
    const cookie = await cookieFor(app, tokens.operator);
    const other = await cookieFor(app, tokens.operator);
    const ask = async (text: string) =>
      (await app.inject({ url: "/api/v1/look", headers: { ...OWN, cookie: text } })).statusCode;
    expect(await ask(cookie)).toBe(200);
    const answer = await app.inject({ method: "DELETE", url: "/session", headers: { ...OWN, cookie } });
    expect(answer.statusCode).toBe(204);
    expect(setCookies(answer).at(-1)).toBe(
      "daruma_7420=; Path=/; HttpOnly; SameSite=Strict; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
    );
    expect([await ask(cookie), await ask(other)]).toEqual([401, 200]);
  });

  it("ends after twelve hours, and with its token where that is sooner", async () => {
    const clock = { now: Date.now() };
    const { app, store, tokens } = await serverWithTokens({ now: () => clock.now });
    const until = clock.now + 60_000;
    const short = `drm_${"s".repeat(43)}`;
    await store.putToken({ name: "s", role: "viewer", hash: hashOfToken(short), at: 0, expiresAt: until });
    const [cookie, passing] = [await cookieFor(app, tokens.viewer), await cookieFor(app, short)];
    const ask = async (text: string) =>
      (await app.inject({ url: "/api/v1/look", headers: { ...OWN, cookie: text } })).statusCode;
    expect([await ask(cookie), await ask(passing)]).toEqual([200, 200]);
    clock.now = until;
    expect([await ask(cookie), await ask(passing)]).toEqual([200, 401]);
    clock.now += 12 * 3_600_000;
    expect(await ask(cookie)).toBe(401);
  });

  it("is no token: what it holds counts nowhere else, neither as Bearer nor for workers and MCP", async () => {
    const group = {
      prefix: "",
      role: "viewer" as const,
      routes: async (routes: FastifyInstance) => {
        routes.get("/mcp", async () => "in");
      },
    };
    const { app, tokens } = await serverWithTokens({ groups: [group] });
    const cookie = await cookieFor(app, tokens.admin);
    const ask = async (url: string, headers: { [name: string]: string }) =>
      (await app.inject({ url, headers: { ...OWN, ...headers } })).statusCode;
    expect(await ask("/api/v1/look", { cookie })).toBe(200);
    expect(await ask("/api/v1/look", bearer(cookie.split("=")[1]!))).toBe(401);
    expect(await ask("/mcp", { cookie })).toBe(401);
    expect(await ask("/mcp", bearer(tokens.admin))).toBe(200);
    expect(await ask("/api/v1/look", { cookie: `daruma_7420=${tokens.admin}` })).toBe(401);
  });

  it("that comes twice is refused, and the one that another server has set is taken away", async () => {
    const { app, tokens } = await serverWithTokens();
    const cookie = await cookieFor(app, tokens.admin);
    const foreign = await cookieFor(app, tokens.viewer);
    const headers = { ...OWN, cookie: `${foreign}; other=1; ${cookie}` };
    const answer = await app.inject({ url: "/api/v1/look?x=1", headers });
    expect([answer.statusCode, answer.json().detail]).toEqual([
      401,
      "the session cookie came more than once",
    ]);
    const paths = setCookies(answer).map((text) => /Path=([^;]*)/.exec(text)![1]);
    expect(paths).toEqual(["/api", "/api/", "/api/v1", "/api/v1/", "/api/v1/look", "/api/v1/look/"]);
    for (const text of setCookies(answer)) expect(text).toMatch(/^daruma_7420=; .*01 Jan 1970/);
  });

  it("has a name under TLS that no other server can set", async () => {
    const { app, tokens } = await serverWithTokens({ options: { trustProxy: true } });
    const headers = { ...OWN, "x-forwarded-proto": "https" };
    const cookies = setCookies(await signIn(app, tokens.admin, headers));
    expect(cookies).toEqual([expect.stringMatching(/^__Host-daruma_7420=.*; Path=\/; .*; Secure; /)]);
    const [cookie] = cookies[0]!.split(";", 1);
    const ask = async (text: string) =>
      (await app.inject({ url: "/api/v1/look", headers: { ...headers, cookie: text } })).statusCode;
    expect(await ask(cookie!)).toBe(200);
    expect(await ask(cookie!.replace("__Host-", ""))).toBe(401);
  });
});
