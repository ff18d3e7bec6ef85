import { mkdirSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OPERATIONS } from "../../src/operations/operations.js";
import { mayAct, ROLES, type Role } from "../../src/operations/roles.js";
import { openInFreshSchema } from "../support/embedded-postgres.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";
import { type ApiDocument, type RandomRequest, randomRequests } from "../support/random-requests.js";
import { chooseSeed } from "../support/seed.js";

const servers = new LiveServers();
const CANARY = "canary-that-nobody-may-read";
const WORKFLOW = `
name: prey
steps:
  good: { type: command, exec: "echo fine" }
  bad: { type: command, exec: "echo broken >&2; exit 3", depends_on: [good] }
`;

async function staysWell(server: LiveServer): Promise<void> {
  expect((await server.ask("GET", "/healthz")).status).toBe(200);
  expect((await server.ask("GET", "/readyz")).status).toBe(200);
  expect(server.faults).toEqual([]);
}

/** Bytes as they are, for what no client would send. */
function sendRaw(server: LiveServer, text: string): Promise<string> {
  const { port } = new URL(server.url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect({ host: "127.0.0.1", port: Number(port) }, () => socket.write(text));
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      answer += chunk;
      if (answer.includes("\r\n\r\n")) socket.end();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", () => resolve(answer));
  });
}

/** `fetch` would tidy the path up first. */
function getExactly(server: LiveServer, path: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const request = httpRequest({ hostname, port, path }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode!, text }));
    });
    request.on("error", reject).end();
  });
}

describe("a body that is too large", () => {
  const MEGABYTE = Buffer.alloc(1024 * 1024, 0x20);

  function sendBody(server: LiveServer, headers: { [name: string]: string }): Promise<number | "cut off"> {
    return new Promise((resolve) => {
      const request = httpRequest(`${server.url}/api/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
      });
      request.on("response", (response) => {
        resolve(response.statusCode!);
        request.destroy();
      });
      request.on("error", () => resolve("cut off"));
      let sent = 0;
      const more = (): void => {
        while (sent < 100 && !request.destroyed) {
          sent += 1;
          if (!request.write(MEGABYTE)) return void request.once("drain", more);
        }
        request.end();
      };
      more();
    });
  }

  it("is refused whether it says its size or not, and the server goes on", async () => {
    const server = await servers.start();
    for (const headers of [{ "content-length": String(100 * MEGABYTE.length) }, {}] as {
      [name: string]: string;
    }[]) {
      expect([413, "cut off"]).toContain(await sendBody(server, headers));
    }
    const told = await server.ask<{ code: string }>("POST", "/api/v1/workflows/validate", {
      body: { source: "x".repeat(3 * 1024 * 1024) },
    });
    expect([told.status, told.body.code]).toEqual([413, "BODY_TOO_LARGE"]);
    await staysWell(server);
  });
});

describe("a name that leads out of the folder", () => {
  it("finds nothing, however it is written", async () => {
    const server = await servers.start();
    writeFileSync(join(server.outputDir, "secret.txt"), CANARY);
    mkdirSync(join(server.outputDir, "output", "run-2"), { recursive: true });
    writeFileSync(join(server.outputDir, "output", "run-2", "other.txt"), CANARY);
    const run = await server.run(WORKFLOW);
    await server.until(run, "failed");
    const { body } = await server.ask<{ items: { name: string }[] }>("GET", `/api/v1/runs/${run}/artifacts`);
    expect(body.items.length).toBeGreaterThan(0);
    const names = [
      "../../secret.txt",
      "../run-2/other.txt",
      "..",
      ".",
      "/etc/passwd",
      join(server.outputDir, "secret.txt"),
      "..\\..\\secret.txt",
      "%2e%2e/%2e%2e/secret.txt",
      "....//....//secret.txt",
      `${body.items[0]!.name}/../../../secret.txt`,
      `${body.items[0]!.name}\0.txt`,
      "../../daruma.db",
    ];
    for (const name of names)
      for (const written of [
        encodeURIComponent(name),
        encodeURIComponent(encodeURIComponent(name)),
        encodeURI(name),
      ]) {
        const answer = await getExactly(server, `/api/v1/runs/${run}/artifacts/${written}`);
        const { text } = answer;
        expect([400, 404, 422], `${written}: ${answer.status} ${text}`).toContain(answer.status);
        expect(text).not.toContain(CANARY);
        expect(text).not.toContain("root:");
      }
    const raw = await sendRaw(
      server,
      `GET /api/v1/runs/${run}/artifacts/../../../../../../etc/passwd HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
    );
    expect(raw).toMatch(/^HTTP\/1.1 404 /);
    await staysWell(server);
  });
});

describe("requests that are no requests", () => {
  it("are refused as problems, and the next one is served", async () => {
    const server = await servers.start();
    const statusOf = async (text: string) => /^HTTP\/1\.1 (\d+)/.exec(await sendRaw(server, text))?.[1];
    expect(await statusOf("nonsense\r\n\r\n")).toBe("400");
    expect(await statusOf(`GET /healthz HTTP/1.1\r\nhost: x\r\nx-large: ${"x".repeat(20_000)}\r\n\r\n`)).toBe(
      "431",
    );
    expect(await statusOf(`GET /${"a".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`)).toBe("431");
    expect(await statusOf("GET /api/v1/runs HTTP/1.1\r\n\r\n")).toBe("400");
    expect(await statusOf("GET /api/v1/runs HTTP/1.0\r\n\r\n")).toBe("403");
    expect(await statusOf("TRACE /api/v1/runs HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")).toBe("405");
    expect(
      await statusOf(
        "POST /api/v1/runs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      ),
    ).toBe("400");
    await staysWell(server);
  });

  it("of another host or origin are refused while there are no tokens", async () => {
    const server = await servers.start();
    const statusOf = async (headers: string) =>
      /^HTTP\/1\.1 (\d+)/.exec(await sendRaw(server, `GET /api/v1/runs HTTP/1.1\r\n${headers}\r\n\r\n`))?.[1];
    expect(await statusOf("host: 127.0.0.1")).toBe("200");
    expect(await statusOf("host: rebound.example")).toBe("403");
    expect(await statusOf("host: 127.0.0.1\r\norigin: http://rebound.example")).toBe("403");
    expect(await statusOf("host: 127.0.0.1@rebound.example")).toBe("403");
    await staysWell(server);
  });
});

const AT_ONCE = 8;

const REQUESTS = Number(process.env.REQUESTS ?? 600);
const STORES = [
  { store: "SQLite", count: REQUESTS, open: async () => null },
  { store: "PostgreSQL", count: REQUESTS / 2, open: openInFreshSchema },
];

describe.each(STORES)("$count random requests from the OpenAPI document, on $store", ({ count, open }) => {
  it("never cause a fault, never do more than the role may", { timeout: 600_000 }, async () => {
    const opened = await open();
    const server = await servers.start(opened === null ? {} : { store: opened.store });
    const runs = [await server.run(WORKFLOW), await server.run(WORKFLOW)];
    for (const run of runs) await server.until(run, "failed");
    const jobs = (await Promise.all(runs.map((run) => server.running.store.readJobs(run)))).flat();
    const handles = {
      run_id: runs,
      job_id: jobs.map(({ id }) => id),
      step: ["good", "bad"],
      name: ["prey", "99999999999999999999999"],
      source: ["name: fuzz\nsteps: { a: { type: noop } }"],
      workflow: ["prey", 1, "99999999999999999999999"],
      after: ["0", 5, "1.1-1", "2.99999999999999999999-1", "99999999999999999999"],
    };
    const document = (await server.ask<ApiDocument>("GET", "/api/v1/openapi.json")).body;
    const tokens = await server.tokens();
    const seed = chooseSeed();
    console.info(`seed ${seed}: replay with SEED=${seed}`);
    const roles = fc.constantFrom<Role | null>(null, ...ROLES);
    const arbitrary = fc.tuple(randomRequests(document, handles), roles);
    const requests = fc
      .sample(arbitrary, { seed, numRuns: count })
      .filter(([request]) => isHarmless(request));
    const answers = new Map<number, number>();
    const wrong: string[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let at = next; at < requests.length; at = next) {
        next += 1;
        const [request, role] = requests[at]!;
        const status = await send(server, request, role === null ? null : tokens[role]);
        answers.set(status, (answers.get(status) ?? 0) + 1);
        const reason = judge(request, role, status);
        if (reason !== null) wrong.push(`${reason}: ${status} ${role} ${JSON.stringify(request)}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(server.faults).toEqual([]);
    for (const status of [200, 401, 403, 404, 422])
      expect(answers.get(status), `${status}`).toBeGreaterThan(count / 30);
    const after = await server.ask("GET", "/api/v1/runs", { token: tokens.viewer });
    expect(after.status).toBe(200);
    await staysWell(server);
    await server.close();
    await opened?.dispose();
  });
});

/** The tokens that the test itself uses must outlive it. */
function isHarmless({ operation, path }: RandomRequest): boolean {
  return operation !== "revoke_token" || !/\/[1-4]$/.test(path);
}

const ROLE_OF = new Map<string, Role>(OPERATIONS.map(({ name, role }) => [name, role]));
const OPEN = new Set(["healthz", "readyz", "sign_in", "sign_out"]);

function judge({ operation }: RandomRequest, role: Role | null, status: number): string | null {
  if (status >= 500) return "a fault";
  if (OPEN.has(operation)) return null;
  // It asks for a signature, and no token is as good as one.
  if (operation === "hook") return status < 400 ? "without a signature" : null;
  // An address that is broken, or matches no route, is refused before or instead.
  if (role === null) return [401, 400, 429].includes(status) ? null : "without a token";
  const needed = operation.startsWith("worker_")
    ? "worker"
    : (ROLE_OF.get(operation.replace(/_unprefixed$/, "")) ?? "viewer");
  if (mayAct(role, needed)) return status === 401 ? "refused a good token" : null;
  return [403, 400, 404, 405].includes(status) ? null : "beyond its role";
}

async function send(server: LiveServer, request: RandomRequest, token: string | null): Promise<number> {
  const controller = new AbortController();
  const response = await fetch(`${server.url}${request.path}`, {
    method: request.method,
    signal: controller.signal,
    headers: {
      ...request.headers,
      ...(request.body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(request.body === undefined ? {} : { body: request.body }),
  });
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream") || type.startsWith("text/plain")) controller.abort();
  else await response.arrayBuffer();
  return response.status;
}
