// The same work, written down for each program. A workload is `{ run(folder) -> measurement }` in a fresh folder.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { measure } from "./measure.mjs";

export const commandLine = resolve(dirname(fileURLToPath(import.meta.url)), "../dist/cli/main.js");
export const PARALLEL = 8;
/** What `duration_ms` can tell apart. */
const CLOCK_MS = 1;

const numbers = (count) => Array.from({ length: count }, (_, index) => index);

/** A workflow of `count` equal steps, side by side or one after the other. */
export function workflowText(count, shape, action) {
  const lines = ["name: bench", "steps:"];
  for (const n of numbers(count)) {
    const after = shape === "chain" && n > 0 ? `, depends_on: [s${n - 1}]` : "";
    lines.push(`  s${n}: { ${action}${after} }`);
  }
  return `${lines.join("\n")}\n`;
}

export const running = (command) => `exec: ${JSON.stringify(command)}`;

/** Adds what Daruma says of itself: `engineMs` is `duration_ms` of its JSON, without start-up, loading and exit. */
export function daruma(count, shape, action) {
  return darumaWith(workflowText(count, shape, action));
}

export function darumaWith(text) {
  return async (folder) => {
    const file = join(folder, "bench.yaml");
    writeFileSync(file, text);
    const args = [commandLine, "run", file, "--json", "--output-dir", join(folder, "state")];
    const result = await measure(process.execPath, [...args, "--max-parallel", String(PARALLEL)], {
      cwd: folder,
      capture: true,
      memory: true,
    });
    const report = JSON.parse(result.stdout);
    if (report.status !== "completed") throw new Error(`daruma run ended ${report.status}`);
    return { ...result, stdout: "", engineMs: Math.max(report.duration_ms, CLOCK_MS) };
  };
}

/** The command of job `n`: bare, or with its output in two files, as Daruma keeps it. */
const commandOf = (command, files) => (n) => (files ? `${command} >out/${n}.o 2>out/${n}.e` : command);

export function make(count, { command, files = false, chain = false }) {
  return (folder) => {
    const line = commandOf(command, files);
    const targets = numbers(count).map((n) => `j${n}`);
    const rules = numbers(count).map((n) => {
      const after = chain && n > 0 ? ` j${n - 1}` : "";
      return `j${n}:${after}\n\t@${line(n)}\n`;
    });
    prepare(
      folder,
      "Makefile",
      `.PHONY: all ${targets.join(" ")}\nall: ${targets.join(" ")}\n${rules.join("")}`,
    );
    return measure("make", [`-j${PARALLEL}`, "-s", "all"], { cwd: folder });
  };
}

export function ninja(count, { command, files = false, chain = false }) {
  return (folder) => {
    const edges = numbers(count).map((n) => {
      const after = chain && n > 0 ? ` j${n - 1}` : "";
      return `build j${n}: r${after}\n  n = ${n}\n`;
    });
    prepare(
      folder,
      "build.ninja",
      `rule r\n  command = ${commandOf(command, files)("$n")}\n${edges.join("")}`,
    );
    return measure("ninja", [`-j${PARALLEL}`, "--quiet"], { cwd: folder });
  };
}

export function xargs(count, { command, files = false }) {
  return (folder) => {
    prepare(folder, "unused", "");
    const words = files
      ? ["-I{}", "sh", "-c", commandOf(command, files)("{}")]
      : ["-n1", ...command.split(" ")];
    return measure("xargs", [`-P${PARALLEL}`, ...words], { cwd: folder, stdin: stdinOf(count) });
  };
}

/** GNU parallel, with a line in its job log for each job: the nearest it has to a record. */
export function parallel(count, { command }) {
  return (folder) => {
    const args = ["--will-cite", `-j${PARALLEL}`, "--joblog", "jobs.log", "-N0", ...command.split(" ")];
    return measure("parallel", args, { cwd: folder, stdin: stdinOf(count) });
  };
}

export function snakemake(count, { command }) {
  return (folder) => {
    const lines = [
      "rule all:",
      `    input: expand("out/{n}", n=range(${count}))`,
      "rule job:",
      '    output: touch("out/{n}")',
      `    shell: "${command}"`,
    ];
    prepare(folder, "Snakefile", `${lines.join("\n")}\n`);
    return measure("snakemake", ["--cores", String(PARALLEL), "--quiet", "all"], { cwd: folder });
  };
}

const stdinOf = (count) => `${numbers(count).join("\n")}\n`;

function prepare(folder, name, text) {
  mkdirSync(join(folder, "out"), { recursive: true });
  writeFileSync(join(folder, name), text);
}
