import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { commandLine } from "../support/cli.js";
import { eventually } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-scarce-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The command line in a process that may open only so many files. */
async function withFiles(limit: number, args: readonly string[]) {
  const script = `ulimit -n ${limit}; "$@"; echo "exit $?"`;
  const all = ["-c", script, "sh", process.execPath, commandLine, ...args];
  const { stdout, stderr } = await promisify(execFile)("sh", all, { maxBuffer: 64 * 1024 * 1024 });
  const [, told, exitCode] = /^(.*)exit (\d+)\n$/s.exec(stdout)!;
  return { stdout: told!, stderr, exitCode: Number(exitCode) };
}

it("as few files as daruma needs are enough for as many steps as there are", async () => {
  const steps = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`s${index}`, { exec: "sleep 0.1; env true" }]),
  );
  const file = join(folder, "wide.yaml");
  writeFileSync(file, JSON.stringify({ name: "wide", steps }));
  const args = ["run", file, "--json", "--max-parallel", "200", "--output-dir", join(folder, "out")];
  const { stdout, exitCode } = await withFiles(256, args);
  const { status, jobs } = JSON.parse(stdout) as { status: string; jobs: { attempts: number }[] };
  expect([exitCode, status]).toEqual([0, "completed"]);
  expect(jobs.every(({ attempts }) => attempts === 1)).toBe(true);
});

it.each([24, 64, 255])("fewer are refused in one line: %i", async (limit) => {
  const { stdout, stderr, exitCode } = await withFiles(limit, ["list", "--output-dir", folder]);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 5 });
  expect(stderr).toBe(
    `error FILE_LIMIT: this process may open only ${limit} files; daruma needs 256. Raise the limit first: ulimit -n 1024\n`,
  );
});

it("and as JSON where that is asked for", async () => {
  const { stdout, stderr } = await withFiles(64, ["list", "--json"]);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "FILE_LIMIT" } });
});

it("connections of strangers take no files from the runs of a server", async () => {
  const port = await freePort();
  const serve = [commandLine, "serve", "--port", String(port), "--output-dir", join(folder, "served")];
  const server = spawn("sh", ["-c", 'ulimit -n 256; exec "$@"', "sh", process.execPath, ...serve], {
    stdio: "ignore",
  });
  const sockets: Socket[] = [];
  try {
    const url = `http://127.0.0.1:${port}`;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (path: string, body?: unknown) => answerOf(agent, `${url}${path}`, body);
    await eventually("the server to be ready", () => ask("/readyz").catch(() => null));
    for (let opened = 0; opened < 300; opened += 1) sockets.push(await strangerOf(port));
    const steps = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`s${index}`, { exec: "echo hi; env true" }]),
    );
    const source = JSON.stringify({ name: "c", steps });
    const { run_id } = (await ask("/api/v1/runs", { source })) as { run_id: number };
    const run = await eventually("the run to be over", async () => {
      const shown = (await ask(`/api/v1/runs/${run_id}`)) as RunShown;
      return shown.status === "running" || shown.status === "pending" ? null : shown;
    });
    expect(run.status).toBe("completed");
    expect(new Set(run.jobs.map(({ attempts }) => attempts))).toEqual(new Set([1]));
  } finally {
    for (const socket of sockets) socket.destroy();
    const gone = once(server, "exit");
    server.kill("SIGKILL");
    await gone;
  }
});

interface RunShown {
  readonly status: string;
  readonly jobs: readonly { readonly attempts: number }[];
}

/** It connects and says nothing. */
async function strangerOf(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  return socket;
}

/** Over a connection that stays open: others are refused while strangers have them. */
async function answerOf(agent: Agent, url: string, body?: unknown): Promise<unknown> {
  const asked = request(url, {
    agent,
    method: body === undefined ? "GET" : "POST",
    headers: body === undefined ? {} : { "content-type": "application/json" },
  });
  asked.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const text = Buffer.concat(await answer.toArray()).toString();
  if (answer.statusCode! >= 400) throw new Error(`${url} answers ${answer.statusCode}: ${text}`);
  return JSON.parse(text) as unknown;
}
