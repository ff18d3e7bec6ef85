// `node bench/launcher.mjs [rounds] [jobs]` after a build: processes a second and CPU time a process, 8 at a time, of the
// process hosts alone (no engine, no store) beside make and ninja. Rounds are interleaved; figures are medians, then
// ratios of the rate to make and ninja. CPU time counts Node, the launchers, the shells and the programs (Linux only); it
// holds on a busy machine too, where rates do not.
// `true` is a built-in: the launchers run it in a subshell of a waiting shell, ninja in a new sh, make as /bin/true. The
// rows with env(1) start a real program everywhere, so there nothing can be saved.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nativeLauncher } from "../dist/run/process/create-process-host.js";
import { LauncherHost } from "../dist/run/process/launcher-host.js";
import { SpawnHost } from "../dist/run/process/spawn-host.js";
import { median } from "./measure.mjs";

const PARALLEL = 8;
/** Of the kernel's clock in /proc. */
const TICK_MS = 10;
const rounds = Number(process.argv[2] ?? 5);
const JOBS = Number(process.argv[3] ?? 1_000);
const folder = mkdtempSync(join(tmpdir(), "daruma-bench-"));
const native = nativeLauncher();
const plain = () => new SpawnHost();
const compiled = () => {
  if (native === null) throw new Error("not compiled here");
  return new LauncherHost(native);
};

/** The host is closed at the end: only then has this process waited for it, and its CPU time counts. */
async function throughHost(open, exec) {
  const host = open();
  let left = JOBS;
  const env = { ...process.env };
  const lane = async () => {
    while (left-- > 0) {
      const token = `token-${left}`;
      const spec = {
        exec,
        env: { ...env, DARUMA_ATTEMPT_TOKEN: token },
        cwd: folder,
        onStdout() {},
        onStderr() {},
      };
      const exit = await host.start(spec).exited;
      if (exit.exitCode !== 0) throw new Error(`job failed: ${JSON.stringify(exit)}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, lane));
  await host.close();
}

/** Of this process and of all it has waited for; null where there is no /proc. */
function cpuMs() {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
  } catch {
    return null;
  }
}

function throughPeer(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: folder, stdio: "ignore" });
  if (status !== 0) throw error ?? new Error(`${program} ended with ${status}`);
}

function writePeerFiles(name, command) {
  const targets = Array.from({ length: JOBS }, (_, index) => `t${index}`);
  const rules = targets.map((target) => `${target}:\n\t@${command}\n`).join("");
  writeFileSync(join(folder, `${name}.mk`), `all: ${targets.join(" ")}\n${rules}`);
  const builds = targets.map((target) => `build ${target}: r\n`).join("");
  writeFileSync(join(folder, `${name}.ninja`), `rule r\n  command = ${command}\n${builds}`);
}

writePeerFiles("builtin", "true");
writePeerFiles("program", "env true");
writePeerFiles("shell", "env true;");
const contenders = {
  "make, true": () => throughPeer("make", ["-s", "-j8", "-f", "builtin.mk", "all"]),
  "ninja, true": () => throughPeer("ninja", ["-j8", "-f", "builtin.ninja"]),
  "compiled, true": () => throughHost(compiled, "true"),
  "plain spawn, true": () => throughHost(plain, "true"),
  "make, env true": () => throughPeer("make", ["-s", "-j8", "-f", "program.mk", "all"]),
  "ninja, env true": () => throughPeer("ninja", ["-j8", "-f", "program.ninja"]),
  "make with sh, env true": () => throughPeer("make", ["-s", "-j8", "-f", "shell.mk", "all"]),
  "compiled, env true": () => throughHost(compiled, "env true"),
  "compiled, [env, true]": () => throughHost(compiled, ["env", "true"]),
  "plain spawn, env true": () => throughHost(plain, "env true"),
};

const results = new Map();
for (let round = 0; round < rounds; round += 1) {
  for (const [name, run] of Object.entries(contenders)) {
    const [started, cpuBefore] = [performance.now(), cpuMs()];
    try {
      await run();
      const rate = (JOBS / (performance.now() - started)) * 1000;
      const cpu = cpuBefore === null ? null : (cpuMs() - cpuBefore) / JOBS;
      results.set(name, [...(results.get(name) ?? []), { rate, cpu }]);
    } catch (error) {
      console.log(`${name}: left out, ${error.message}`);
    }
  }
}
const medianOf = (name, key) => median(results.get(name).map((result) => result[key]));
for (const name of results.keys()) {
  const work = name.replace(/^[^,]*, /, "").replace(/[[\],]/g, "");
  const rate = medianOf(name, "rate");
  const ratios = ["make", "ninja"].map((peer) =>
    results.has(`${peer}, ${work}`)
      ? `${(rate / medianOf(`${peer}, ${work}`, "rate")).toFixed(2)} x ${peer}`
      : "",
  );
  const cpu = cpuMs() === null ? "" : `${medianOf(name, "cpu").toFixed(2)} ms CPU   `;
  console.log(
    `${name.padEnd(24)} ${String(Math.round(rate)).padStart(6)} jobs/s   ${cpu}${ratios.join("   ")}`,
  );
}
rmSync(folder, { recursive: true, force: true });
