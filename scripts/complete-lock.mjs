// npm leaves optional packages of other platforms out of package-lock.json when the registry at hand does not carry
// them, and `npm ci` then refuses the file as out of step. This enters each one that is missing: its exact version as
// its dependent asks for it, and the platform that its name tells. There is no integrity hash to give; npm verifies
// the packages that have one. Run it after every change of dependencies; it changes nothing where nothing is missing.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const file = join(root, "package-lock.json");
const SYSTEMS = [
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "win32",
  "aix",
];
const PROCESSORS = [
  "arm64",
  "arm",
  "x64",
  "ia32",
  "ppc64",
  "riscv64",
  "s390x",
  "loong64",
  "mips64el",
  "wasm32",
];
const EXACT_VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

const lock = JSON.parse(readFileSync(file, "utf8"));
const added = [];
const unclear = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (findInstalled(path, name)) continue;
    const platform = readPlatform(name);
    if (platform === null || !EXACT_VERSION.test(version)) {
      unclear.push(`${name}@${version}`);
      continue;
    }
    const marks = entry.dev === true ? { dev: true, optional: true } : { optional: true };
    lock.packages[`node_modules/${name}`] = { version, ...platform, ...marks };
    added.push(`${name}@${version}`);
  }
}

if (added.length > 0) {
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}
console.log(`${added.length} optional packages of other platforms entered`);
if (unclear.length > 0) console.log(`not entered, no exact version or platform: ${unclear.join(", ")}`);

/** Whether the lock file has the package in one of the folders where Node would look for it from `path`. */
function findInstalled(path, name) {
  const inner = path
    .split("/node_modules/")
    .map((_, depth, parts) => parts.slice(0, depth + 1).join("/node_modules/"));
  const folders = ["", ...inner.filter((folder) => folder !== "").map((folder) => `${folder}/`)];
  return folders.some((folder) => lock.packages[`${folder}node_modules/${name}`] !== undefined);
}

/** The platform that a name such as `@scope/binding-linux-x64-musl` tells, or null. */
function readPlatform(name) {
  const parts = name.split(/[/-]/);
  const os = SYSTEMS.find((system) => parts.includes(system));
  const cpu = PROCESSORS.find((processor) => parts.includes(processor));
  if (cpu === undefined) return null;
  const platform = { cpu: [cpu] };
  if (os === "linux" && parts.some((part) => part.startsWith("musl"))) platform.libc = ["musl"];
  if (os === "linux" && parts.some((part) => part.startsWith("gnu"))) platform.libc = ["glibc"];
  if (os !== undefined) platform.os = [os];
  return platform;
}
