// The same work, written down for each program. A workload is `{ run(folder) -> measurement }` in a fresh folder.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { measure } from "./measure.mjs";

const commandLine = resolve(dirname(fileURLToPath(import.meta.url)), "../dist/cli/main.js");
export const PARALLEL = 8;

const numbers = (count) => Array.from({ length: count }, (_, index) => index);

/** A workflow of `count` equal steps, side by side or one after the other. */
function workflowText(count, shape, action) {
  const lines = ["name: bench", "steps:"];
  for (const n of numbers(count)) {
    const after = shape === "chain" && n > 0 ? `, depends_on: [s${n - 1}]` : "";
    lines.push(`  s${n}: { ${action}${after} }`);
  }
  return `${lines.join("\n")}\n`;
}

/** Adds what Daruma says of itself: `engineMs` is `duration_ms` of its JSON, without start-up, loading and exit. */
export function daruma(count, shape, action = 'type: command, exec: "true"') {
  return async (folder) => {
    const file = join(folder, "bench.yaml");
    writeFileSync(file, workflowText(count, shape, action));
    const args = [commandLine, "run", file, "--json", "--output-dir", join(folder, "state")];
    const result = await measure(process.execPath, [...args, "--max-parallel", String(PARALLEL)], {
      cwd: folder,
      capture: true,
      memory: true,
    });
    const report = JSON.parse(result.stdout);
    if (report.status !== "completed") throw new Error(`daruma run ended ${report.status}`);
    return { ...result, stdout: "", engineMs: report.duration_ms };
  };
}

const quiet = () => "true";
const toFiles = (n) => `true >out/${n}.o 2>out/${n}.e`;
const commandFor = (files) => (files ? toFiles : quiet);

export function make(count, { files = false } = {}) {
  return (folder) => {
    const command = commandFor(files);
    const targets = numbers(count).map((n) => `j${n}`);
    const rules = numbers(count).map((n) => `j${n}:\n\t@${command(n)}\n`);
    prepare(
      folder,
      "Makefile",
      `.PHONY: all ${targets.join(" ")}\nall: ${targets.join(" ")}\n${rules.join("")}`,
    );
    return measure("make", [`-j${PARALLEL}`, "-s", "all"], { cwd: folder });
  };
}

export function ninja(count, { files = false, chain = false } = {}) {
  return (folder) => {
    const command = commandFor(files);
    const rule = `rule r\n  command = ${files ? command("$n") : command(0)}\n`;
    const edges = numbers(count).map((n) => {
      const after = chain && n > 0 ? ` j${n - 1}` : "";
      return `build j${n}: r${after}\n  n = ${n}\n`;
    });
    prepare(folder, "build.ninja", rule + edges.join(""));
    return measure("ninja", [`-j${PARALLEL}`, "--quiet"], { cwd: folder });
  };
}

export function xargs(count, { files = false } = {}) {
  return (folder) => {
    prepare(folder, "unused", "");
    const command = files ? ["-I{}", "sh", "-c", toFiles("{}")] : ["-n1", "true"];
    return measure("xargs", [`-P${PARALLEL}`, ...command], {
      cwd: folder,
      stdin: `${numbers(count).join("\n")}\n`,
    });
  };
}

function prepare(folder, name, text) {
  mkdirSync(join(folder, "out"), { recursive: true });
  writeFileSync(join(folder, name), text);
}
