// Wall time, peak memory and output of whole processes.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const MEMORY_POLL_MS = 20;
const DEADLINE_MS = 15 * 60_000;
const NS_PER_MS = 1e6;

/** Runs one process to its end: `{ wallMs, peakRssBytes | null, stdout }`. Anything but exit code 0 is an error. */
export function measure(command, args, options = {}) {
  return new Promise((settle, reject) => {
    const started = process.hrtime.bigint();
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: plainEnvironment(),
      stdio: [options.stdin === undefined ? "ignore" : "pipe", options.capture ? "pipe" : "ignore", "pipe"],
      timeout: DEADLINE_MS,
      killSignal: "SIGKILL",
    });
    let stdout = "";
    let stderr = "";
    let peakRssBytes = null;
    // The kernel keeps the high-water mark, so a poll that is late by a few milliseconds misses next to nothing.
    const poll = options.memory
      ? setInterval(() => {
          peakRssBytes = readPeakRss(child.pid) ?? peakRssBytes;
        }, MEMORY_POLL_MS)
      : undefined;
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr = (stderr + text).slice(-2_000);
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(options.stdin);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearInterval(poll);
      const wallMs = Number(process.hrtime.bigint() - started) / 1e6;
      if (code !== 0) reject(new Error(`${command} ended with ${code ?? signal}: ${stderr.trim()}`));
      else settle({ wallMs, peakRssBytes, stdout });
    });
  });
}

/** Settings of whoever runs the benchmark, such as their store or server, must not change what is measured. */
export function plainEnvironment() {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("DARUMA_"));
  return { ...Object.fromEntries(own), NO_COLOR: "1" };
}

export function readPeakRss(pid) {
  try {
    const match = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return match === null ? null : Number(match[1]) * 1024;
  } catch {
    return null;
  }
}

/** CPU time of all threads of a living process, its children apart; null where nobody can say. */
export function readCpuMs(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const spentNs = threads.map(
      (id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0],
    );
    return spentNs.reduce((sum, ns) => sum + Number(ns), 0) / NS_PER_MS;
  } catch {
    return null;
  }
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
