// Where and with what a benchmark was measured.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { fileURLToPath } from "node:url";
import { peerVersion } from "./postgres/run.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const GIB = 1024 ** 3;

export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / GIB),
    system: `${type()} ${release()}`,
  };
}

/** How busy the machine was in the last minute, a core. */
export const loadPerCore = () => Number((loadavg()[0] / cpus().length).toFixed(2));

/** Programs that are not installed are null. */
export function describeVersions() {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
  const commit = firstLine("git", ["-C", root, "rev-parse", "--short", "HEAD"]);
  return {
    daruma: commit === null ? version : `${version} (${commit})`,
    node: process.version,
    make: firstNumber("make"),
    ninja: firstNumber("ninja"),
    xargs: firstNumber("xargs"),
    "GNU parallel": firstNumber("parallel"),
    snakemake: firstNumber("snakemake"),
    DBOS: peerVersion("DBOS"),
    openworkflow: peerVersion("openworkflow"),
  };
}

const firstNumber = (program) => /\d[\w.]*/.exec(firstLine(program, ["--version"]) ?? "")?.[0] ?? null;

function firstLine(program, args) {
  const { status, stdout } = spawnSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 ? stdout.split("\n")[0].trim() : null;
}
