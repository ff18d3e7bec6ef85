// `node bench/launcher.mjs [rounds]` after a build: processes a second, 8 at a time, of the process hosts alone (no
// engine, no store) beside make and ninja. Rounds are interleaved; figures are medians, then ratios to make and ninja.
// `true` is a built-in: launchers run it in a subshell of a waiting shell, ninja in a new sh, make as /bin/true. The
// rows with env(1) start a real program everywhere, so there nothing can be saved.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcessHost } from "../dist/action/process/create-process-host.js";
import { SpawnHost } from "../dist/action/process/spawn-host.js";
import { median } from "./measure.mjs";

const JOBS = 1_000;
const PARALLEL = 8;
const rounds = Number(process.argv[2] ?? 5);
const folder = mkdtempSync(join(tmpdir(), "daruma-bench-"));
const launchers = createProcessHost();
const plain = new SpawnHost();

async function throughHost(host, exec) {
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
const contenders = {
  "make, true": () => throughPeer("make", ["-s", "-j8", "-f", "builtin.mk", "all"]),
  "ninja, true": () => throughPeer("ninja", ["-j8", "-f", "builtin.ninja"]),
  "launchers, true": () => throughHost(launchers, "true"),
  "plain spawn, true": () => throughHost(plain, "true"),
  "make, env true": () => throughPeer("make", ["-s", "-j8", "-f", "program.mk", "all"]),
  "ninja, env true": () => throughPeer("ninja", ["-j8", "-f", "program.ninja"]),
  "launchers, env true": () => throughHost(launchers, "env true"),
  "launchers, [env, true]": () => throughHost(launchers, ["env", "true"]),
  "plain spawn, env true": () => throughHost(plain, "env true"),
};

const rates = new Map();
for (let round = 0; round < rounds; round += 1) {
  for (const [name, run] of Object.entries(contenders)) {
    const started = performance.now();
    try {
      await run();
      rates.set(name, [...(rates.get(name) ?? []), (JOBS / (performance.now() - started)) * 1000]);
    } catch (error) {
      console.log(`${name}: left out, ${error.message}`);
    }
  }
}
for (const [name, values] of rates) {
  const work = name.replace(/^[^,]*, /, "").replace(/[[\],]/g, "");
  const ratios = ["make", "ninja"].map((peer) => {
    const peerRates = rates.get(`${peer}, ${work}`);
    return peerRates ? `${(median(values) / median(peerRates)).toFixed(2)} x ${peer}` : "";
  });
  console.log(
    `${name.padEnd(24)} ${String(Math.round(median(values))).padStart(6)} jobs/s   ${ratios.join("   ")}`,
  );
}
await launchers.close();
await plain.close();
rmSync(folder, { recursive: true, force: true });
