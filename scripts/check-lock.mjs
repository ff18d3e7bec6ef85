// A lock file that records download addresses installs only where those addresses can be reached. This checks that
// package-lock.json has none, is in step with package.json, and that no tracked file names a package registry,
// including the one that this machine is set up with.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const problems = [];

const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
for (const [path, entry] of Object.entries(lock.packages)) {
  if (entry.resolved !== undefined && entry.link !== true)
    problems.push(`${path} records a download address`);
}
for (const kind of ["dependencies", "devDependencies"]) {
  const wanted = JSON.stringify(sorted(manifest[kind]));
  const locked = JSON.stringify(sorted(lock.packages[""]?.[kind]));
  if (wanted !== locked) problems.push(`${kind} of package.json and package-lock.json differ`);
}

const hosts = [/registry\.[a-z0-9-]+\.(?:org|com|net|dev)/i, /npm\.pkg\.[a-z]+\.com/i];
const ownHost = configuredHost();
const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\0")
  .filter((path) => path !== "" && existsSync(join(root, path)));
for (const path of files) {
  const text = readFileSync(join(root, path), "utf8");
  if (hosts.some((host) => host.test(text)) || (ownHost !== null && text.includes(ownHost))) {
    problems.push(`${path} names a package registry`);
  }
}

if (problems.length > 0) {
  for (const problem of problems) console.error(problem);
  console.error("Keep omit-lockfile-registry-resolved=true in .npmrc and write the lock file again.");
  process.exit(1);
}
console.log(`package-lock.json is clean; ${files.length} files name no package registry`);

function sorted(record = {}) {
  return Object.fromEntries(Object.entries(record).sort());
}

/** The host that npm is set up with here, unless it is this machine, whose name tests may well mention. */
function configuredHost() {
  try {
    const address = execFileSync("npm", ["config", "get", "registry"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const { hostname, host } = new URL(address.trim());
    return ["localhost", "127.0.0.1", "[::1]"].includes(hostname) ? null : host;
  } catch {
    return null;
  }
}
