import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-breakers-"));
const RUNS = 200;
const SLOTS = 4;
const FAILURES = 5;
const PROBE_EVERY_MS = 500;

let servers: DarumaProcess[] = [];
let service: Service | null = null;

afterEach(async () => {
  for (const server of servers) await server.kill();
  servers = [];
  service?.http.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Answers 503 while it is down, and counts who asks. */
class Service {
  isUp = false;
  asked = 0;
  readonly http: Server = createServer((_request, response) => {
    this.asked += 1;
    response.writeHead(this.isUp ? 200 : 503).end("{}");
  });

  async listen(): Promise<string> {
    const port = await freePort();
    await new Promise<void>((resolve) => this.http.listen(port, "127.0.0.1", resolve));
    return `http://127.0.0.1:${port}/`;
  }
}

async function serve(name: string, config: string): Promise<string> {
  const port = await freePort();
  const limits = ["--rate-limit", "0", "--runs-per-minute", "0", "--max-parallel", String(SLOTS)];
  const where = ["--port", String(port), "--output-dir", join(folder, "out"), "--config", config];
  const server = new DarumaProcess(name, ["serve", ...where, ...limits]);
  server.start();
  servers.push(server);
  await untilReady(`http://127.0.0.1:${port}`, server);
  return `http://127.0.0.1:${port}`;
}

async function ask<T>(url: string, body?: unknown): Promise<T> {
  const response = await fetch(`${url}`, {
    method: body === undefined ? "GET" : "POST",
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

interface Seen {
  readonly type: string;
  readonly because?: string;
  readonly at: string;
}

it("stops 200 runs of two servers from using a service that is down, and completes them all once it is back", {
  tags: ["B8"],
  timeout: 300_000,
}, async () => {
  service = new Service();
  const url = await service.listen();
  const config = join(folder, "daruma.config.yaml");
  writeFileSync(
    config,
    `breakers: { payments-api: { failures: ${FAILURES}, probe_every: ${PROBE_EVERY_MS}ms, release: 200/s } }\n`,
  );
  const [first, second] = [await serve("first", config), await serve("second", config)];
  const source = `
name: pay
steps:
  charge: { type: http, url: "${url}", uses: [payments-api], on_fail: { retry: { max: ${FAILURES + 1} } } }`;
  for (let n = 0; n < RUNS; n += 1)
    await ask(`${n % 2 === 0 ? first : second}/api/v1/runs`, { source, file_name: "pay.yaml" });
  type Listed = {
    items: { name: string; state: string; since: string; reason: string; openings: number }[];
  };
  const breaker = async () => (await ask<Listed>(`${first}/api/v1/breakers`)).items[0]!;
  const opened = await eventually("an open breaker", async () => {
    const found = await breaker();
    return found.state === "open" && found;
  });
  expect(opened).toMatchObject({
    name: "payments-api",
    reason: expect.stringMatching(/^503 of charge in run \d+$/),
  });
  const askedBefore = service.asked;
  await eventually("three more probes", () => service!.asked >= askedBefore + 3);
  const askedWhileDown = service.asked;
  const downMs = Date.now() - Date.parse(opened.since);
  service.isUp = true;
  await eventually("200 completed runs", async () => {
    const { items } = await ask<{ items: unknown[] }>(`${first}/api/v1/runs?status=completed&limit=500`);
    return items.length === RUNS;
  });
  // No more than one in each interval, besides what was under way when it opened.
  expect(askedWhileDown).toBeLessThanOrEqual(FAILURES + 2 * SLOTS + Math.ceil(downMs / PROBE_EVERY_MS));
  const { events } = await readAll(first);
  const probes = events.filter(({ because }) => because === "probe");
  const retries = events.filter(({ type }) => type === "retry.scheduled");
  expect(probes.length).toBeGreaterThan(0);
  expect(retries.length).toBeLessThanOrEqual(FAILURES + 2 * SLOTS);
  expect(retries.filter(({ at }) => at > probes[0]!.at)).toEqual([]);
  expect(events.filter(({ type }) => type === "run.failed" || type === "job.held")).toEqual([]);
  expect(await breaker()).toMatchObject({ state: "closed", openings: 1 });
});

async function readAll(url: string): Promise<{ events: Seen[] }> {
  const events: Seen[] = [];
  for (let run = 1; run <= RUNS; run += 1)
    events.push(...(await ask<{ items: Seen[] }>(`${url}/api/v1/runs/${run}/events?limit=500`)).items);
  return { events: events.sort((a, b) => (a.at < b.at ? -1 : 1)) };
}

it("lets daruma run wait for what a hand has opened, say so, and go on when a hand closes it", {
  tags: ["B12"],
  timeout: 300_000,
}, async () => {
  const place = ["--output-dir", join(folder, "by-hand")];
  const file = join(folder, "own.yaml");
  writeFileSync(
    file,
    "name: own\nbreakers: { api: { probe_every: 1s } }\nsteps: { first: { exec: 'true' }, second: { exec: 'true', uses: [api], depends_on: [first] } }\n",
  );
  expect((await runCli(["run", file, ...place])).exitCode).toBe(0);
  const refused = await runCli(["breakers", "open", "nothing", "--reason", "x", ...place]);
  expect([refused.exitCode, refused.stderr]).toEqual([
    2,
    expect.stringContaining("there is no breaker nothing"),
  ]);
  const opened = await runCli(["breakers", "open", "api", "--reason", "maintenance", ...place]);
  expect([opened.exitCode, opened.stdout]).toEqual([0, "own/api is open; it was closed\n"]);
  const waiting = new DarumaProcess("run", ["run", file, ...place]);
  servers.push(waiting);
  waiting.start();
  await eventually("the word", () => waiting.output.includes("own/api was opened by hand (maintenance)"));
  const explained = await runCli(["explain", "last", ...place]);
  expect(explained.stdout).toContain("Waiting for a breaker: second; own/api has been open since");
  expect((await runCli(["breakers", ...place])).stdout).toMatch(/own\/api +open .*maintenance/);
  expect((await runCli(["breakers", "close", "own/api", "--reason", "done", ...place])).exitCode).toBe(0);
  expect(await waiting.ended()).toBe(0);
  expect(waiting.output).toContain("own/api is closed (done)");
});

it("refuses a name that neither the file nor the settings have, and says where settings are named", {
  tags: ["B12"],
}, async () => {
  const file = join(folder, "unknown.yaml");
  writeFileSync(file, "breakers: { api: {} }\nsteps: { pay: { exec: 'true', uses: [apo] } }\n");
  const { exitCode, stderr } = await runCli(["validate", file]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("unknown.yaml:2:38");
  expect(stderr).toContain("neither this file nor the settings have a breaker `apo`, did you mean `api`?");
  const config = join(folder, "settings.yaml");
  writeFileSync(config, "breakers: { apo: { failures: 3 } }\n");
  expect((await runCli(["validate", file, "--config", config])).exitCode).toBe(0);
  writeFileSync(config, "breakers: { apo: { classes: [infrastructure] } }\n");
  const wrong = await runCli(["config", "check", config]);
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toContain("settings.yaml:1:");
});
