import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { LiveServers } from "../support/live-server.js";

const servers = new LiveServers();
const seen: IncomingMessage[] = [];
let cookies: string[] = [];
const other = createServer((request, response) => {
  seen.push(request);
  if (request.url === "/set") response.setHeader("set-cookie", cookies);
  response.setHeader("content-type", "text/html");
  response.end("<h1>another server of this machine</h1>");
});
let elsewhere = "";
beforeAll(async () => {
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
});
afterAll(() => other.close());

const signIn = (page: Page, token: string): Promise<number> =>
  page.evaluate(async (given) => {
    const headers = { "content-type": "application/json", "x-daruma-page": "1" };
    const body = JSON.stringify({ token: given });
    return (await fetch("/session", { method: "POST", headers, body })).status;
  }, token);
const whoami = (page: Page): Promise<{ status: number; role: string }> =>
  page.evaluate(async () => {
    const answer = await fetch("/api/v1/whoami");
    return { status: answer.status, role: ((await answer.json()) as { role?: string }).role! };
  });

describe.skipIf(!hasBrowser)(browserSuite("another server on another port of the same host"), () => {
  const browser = new TestBrowser();

  it("gets no token with the cookie, and what it gets ends with signing out", async () => {
    const server = await servers.start();
    const { admin } = await server.tokens();
    const page = await browser.open(server.url);
    expect([await signIn(page, admin), (await whoami(page)).role]).toEqual([200, "admin"]);
    const foreign = await page.context().newPage();
    await foreign.goto(`${elsewhere}/look`);
    const copied = seen.find(({ url }) => url === "/look")!.headers.cookie!;
    const { port } = new URL(server.url);
    expect(copied).toContain(`daruma_${port}=`);
    expect(copied).not.toContain(admin);
    const statusWith = async (headers: Record<string, string>) =>
      (await fetch(`${server.url}/api/v1/whoami`, { headers })).status;
    expect(await statusWith({ authorization: `Bearer ${copied.split("=")[1]}` })).toBe(401);
    expect(await statusWith({ cookie: copied })).toBe(200);
    await page.evaluate(() => fetch("/session", { method: "DELETE", headers: { "x-daruma-page": "1" } }));
    expect(await statusWith({ cookie: copied })).toBe(401);
  });

  it("cannot make a person somebody else for longer than until the next sign-in", async () => {
    const server = await servers.start();
    const { admin, viewer } = await server.tokens();
    const { port } = new URL(server.url);
    const attacker = await browser.open(server.url);
    await signIn(attacker, viewer);
    const value = (await attacker.context().cookies())[0]!.value;
    const page = await browser.open(server.url);
    await signIn(page, admin);
    const paths = ["/api", "/api/v1/", "/api/v1/whoami"];
    cookies = paths.map((path) => `daruma_${port}=${value}; Path=${path}`);
    const foreign = await page.context().newPage();
    await foreign.goto(`${elsewhere}/set`);
    expect(await whoami(page)).toMatchObject({ status: 401 });
    expect(await whoami(page)).toEqual({ status: 200, role: "admin" });
    cookies = [...paths, "/"].map((path) => `daruma_${port}=${value}; Path=${path}`);
    await foreign.goto(`${elsewhere}/set`);
    expect(await signIn(page, admin)).toBe(200);
    expect(await whoami(page)).toEqual({ status: 200, role: "admin" });
  });

  it("that sets more cookies than the server reads is named to the person", async () => {
    const server = await servers.start();
    const page = await browser.open(server.url);
    cookies = Array.from({ length: 40 }, (_, n) => `large_${n}=${"a".repeat(3_500 + n)}; Path=/`);
    const foreign = await page.context().newPage();
    await foreign.goto(`${elsewhere}/set`);
    const answer = await page.goto(server.url);
    expect(answer!.status()).toBe(431);
    const text = await page.innerText("body");
    expect(text).toContain("Clear the cookies of this host");
    expect(text).toMatch(/large_\d+, 35\d\d characters/);
  });
});
