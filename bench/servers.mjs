// A real server and real workers, each a process of its own, for the parts that need them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { plainEnvironment, readCpuMs, readPeakRss } from "./measure.mjs";
import { commandLine } from "./workloads.mjs";

const READY_POLL_MS = 50;
const READY_DEADLINE_MS = 60_000;

/**
 * Calls `use` with the address of a server that takes no steps itself and has these workers, then ends them all.
 * `workers` is name -> flags.
 */
export async function withServers({ folder, store, workers }, use) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const processes = new Map();
  const start = (name, ...args) =>
    processes.set(
      name,
      spawn(process.execPath, [commandLine, ...args, "--quiet"], {
        stdio: ["ignore", "ignore", "inherit"],
        env: plainEnvironment(),
      }),
    );
  try {
    const flags = [
      "--port",
      String(port),
      "--max-parallel",
      "0",
      "--rate-limit",
      "0",
      "--runs-per-minute",
      "0",
    ];
    start("server", "serve", ...flags, "--output-dir", join(folder, "server"), "--store", store);
    await untilReady(url, processes.get("server"));
    for (const [name, words] of Object.entries(workers)) {
      const own = join(folder, name);
      start(name, "worker", "--server", url, "--name", name, "--output-dir", own, ...words);
    }
    return await use({
      url,
      peakRss: (name) => readPeakRss(processes.get(name).pid),
      cpuMs: (name) => readCpuMs(processes.get(name).pid),
    });
  } finally {
    await Promise.all([...processes.values()].map(end));
  }
}

async function untilReady(url, server) {
  for (const until = Date.now() + READY_DEADLINE_MS; Date.now() < until; await delay(READY_POLL_MS)) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`);
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
  }
  throw new Error("the server did not become ready");
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** Resolves to the run's report once it is over; anything but a completed run is an error. */
export async function runOnServer(url, definition, pollMs) {
  const answer = await fetch(`${url}/api/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ source: JSON.stringify(definition) }),
  });
  const { run_id, detail } = await answer.json();
  if (!answer.ok) throw new Error(detail);
  for (;;) {
    // One row of a list: a whole run is a great deal to read, and the server has other things to do.
    const { items } = await (await fetch(`${url}/api/v1/runs?limit=1`)).json();
    const { status } = items.find((item) => item.run_id === run_id);
    if (status === "completed") return run_id;
    if (status === "failed") throw new Error(`run ${run_id} failed`);
    await delay(pollMs);
  }
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
